import { ApiError } from '../../../errors.ts';
import type { Query } from '../driver.ts';
import { ask, type Connection } from './connections.ts';

/*
 * MySQL refuses a statement longer than `max_allowed_packet`. It closes the connection while the statement is being
 * sent, which would look like an outage, and the sender would repeat the request in vain.
 */

/** Characters of a statement that certainly fit: three bytes for each, within the smallest default of 1 MB. */
const CERTAINLY_SHORT = 2 ** 18;

/** Matches the characters that are quoted in a text, which adds a byte. */
const QUOTED = /[\0\b\t\n\r\u001a"'\\]/g;

/** Whether a statement may be too long for a server. */
export const hasLongTexts = ({ sql, bindings }: Query): boolean =>
  bindings.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), sql.length) > CERTAINLY_SHORT;

/** Number of bytes of a value within a statement: a text is sent between quotes. */
const sentBytes = (value: unknown): number =>
  typeof value === 'string' ? Buffer.byteLength(value) + (value.match(QUOTED)?.length ?? 0) + 2 : String(value).length;

/**
 * Asks the server for its limit, on the connection that the statement is for.
 *
 * @throws text-too-long if the server would refuse the statement; the driver's error
 */
export async function refuseTooLong(connection: Connection, query: Query): Promise<void> {
  // Each value takes the place of a question mark, and the command precedes the statement.
  const bytes = query.bindings.reduce<number>((sum, value) => sum + sentBytes(value) - 1, Buffer.byteLength(query.sql) + 1);
  const [row] = await ask<{ bytes: number | string }>(connection, 'SELECT @@max_allowed_packet AS bytes');
  if (bytes >= Number(row?.bytes ?? Number.POSITIVE_INFINITY)) throw new ApiError('text-too-long');
}

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
export const hasLongTexts = (query: Query): boolean => textsOf(query).reduce((sum, text) => sum + text.length, 0) > CERTAINLY_SHORT;

const textsOf = ({ sql, bindings }: Query): string[] => [sql, ...bindings.filter((value) => typeof value === 'string')];

/**
 * Asks the server for its limit, on the connection that the statement is for.
 *
 * @throws text-too-long if the server would refuse the statement; the driver's error
 */
export async function refuseTooLong(connection: Connection, query: Query): Promise<void> {
  const texts = textsOf(query);
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + (text.match(QUOTED)?.length ?? 0), 0);
  const [row] = await ask<{ bytes: number | string }>(connection, 'SELECT @@max_allowed_packet AS bytes');
  if (bytes >= Number(row?.bytes ?? Number.POSITIVE_INFINITY)) throw new ApiError('text-too-long');
}

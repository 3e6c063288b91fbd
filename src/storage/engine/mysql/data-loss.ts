import { ApiError } from '../../../errors.ts';
import { isWrite, type Query, withoutStatement } from '../driver.ts';
import { ask, type Connection } from './connections.ts';

/*
 * Silent data loss in MySQL and MariaDB in the mode that WordPress uses: a value that does not fit a column is
 * truncated, clipped to the column's range, or loses the letters that the column's character set lacks. The server only
 * counts warnings. Here such a write fails instead, and is undone.
 */

/** 1264 out of range, 1265 and 1406 truncated, 1366 a letter that the character set of the column lacks. */
const DATA_LOSS = new Set([1264, 1265, 1366, 1406]);

/** 1267, 1270, 1271: texts of two character sets in one comparison, or one with letters that a column cannot hold. */
const MIXED_CHARACTER_SETS = new Set([1267, 1270, 1271]);

/** A letter outside the Basic Multilingual Plane (most emoji), which columns of the old `utf8` cannot hold. */
const WIDE_LETTER = /[\u{10000}-\u{10ffff}]/u;

interface Warning {
  readonly Code: number;
  readonly Message: string;
}

/** Whether the server reported warnings in its response to a write. */
export const hasWarnings = (result: unknown): boolean => ((result as { warningStatus?: number }).warningStatus ?? 0) > 0;

/**
 * Checks the warnings of a statement, on the same connection and right after it.
 *
 * @throws text-not-storable for letters that the tables cannot hold; Error for any other value that was not stored as
 * given
 */
export async function refuseDataLoss(connection: Connection, query: Query): Promise<void> {
  if (!isWrite(query)) return;
  const warnings = await ask<Warning>(connection, 'SHOW WARNINGS');
  const loss = warnings.find(({ Code: code }) => DATA_LOSS.has(code));
  if (!loss) return;
  // The message of the server contains the value, so it is not passed on.
  const column = /for column (\S+)/.exec(loss.Message)?.[1] ?? '';
  const cause = new Error(`a value would not be stored as it is (warning ${loss.Code}, column ${column})`);
  throw loss.Code === 1366 && hasWideLetters(query) ? new ApiError('text-not-storable', { cause }) : cause;
}

/** 1153: the statement is longer than the server accepts. */
const TOO_LONG = 1153;

/**
 * Returns text-not-storable for a statement that compares such letters with columns that cannot hold them,
 * text-too-long for one that the server does not accept; any other error unchanged.
 */
export function asTextNotStorable(error: unknown, query: Query): unknown {
  const number = (error as { errno?: number }).errno ?? 0;
  if (number === TOO_LONG) return new ApiError('text-too-long', { cause: withoutStatement(error) });
  if (!MIXED_CHARACTER_SETS.has(number) || !hasWideLetters(query)) return error;
  return new ApiError('text-not-storable', { cause: withoutStatement(error) });
}

const hasWideLetters = ({ bindings }: Query): boolean => bindings.some((value) => typeof value === 'string' && WIDE_LETTER.test(value));

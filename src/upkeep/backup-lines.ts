import { z } from 'zod';
import { isObject } from '../objects.ts';
import type { Row } from '../storage/audit/snapshot.ts';

/*
 * Format of backups of MySQL: compressed lines of JSON. A head, then for each table its name and its rows, and at the
 * end the number of rows.
 */

export const HEAD = z.object({ format: z.literal('fasti-backup'), version: z.literal(1), prefix: z.string().regex(/^\w*$/) });
/** `last`: the highest auto-increment value that the table has assigned, whose row may be deleted. */
export const TABLE = z.strictObject({ table: z.string(), last: z.int().nonnegative().optional() });
/** Binary values, which plugins may store in columns of their own. */
const BYTES = z.strictObject({ base64: z.base64() });
export const ROW = z.record(z.string(), z.union([z.string(), z.number(), z.null(), BYTES]));
export const END = z.strictObject({ end: z.literal(true), rows: z.int() });

/** Further members of a head, for people who look into the file. */
interface HeadDetails {
  readonly engine: string;
  readonly made_at: string;
}

/** Returns the first line of a backup. `prefix`: that of its tables. */
export const headLine = (prefix: string, details: HeadDetails): string =>
  toLine({ format: 'fasti-backup', version: 1, prefix, ...details } satisfies z.input<typeof HEAD> & HeadDetails);
/** Returns the line before the rows of a table. `lastId`: the last id that the table has given. */
export const tableLine = (table: string, lastId: number): string => toLine({ table, last: lastId } satisfies z.input<typeof TABLE>);
/** Returns the line of a row. */
export const rowLine = (row: Row): string => toLine(mapValues(row, encodeValue) satisfies z.input<typeof ROW>);
/** Returns the row of a validated line. */
export const parseRow = (value: z.output<typeof ROW>): Row => mapValues(value, decodeValue);
/** Returns the last line of a backup, by which a truncated one is recognised. */
export const endLine = (rows: number): string => toLine({ end: true, rows } satisfies z.input<typeof END>);

/**
 * Converts a value for a line. Geometries, the only other objects that the driver returns, are kept for people who read
 * the file.
 */
function encodeValue(value: Row[string]): z.input<typeof ROW>[string] {
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') };
  return isObject(value) ? JSON.stringify(value) : value;
}

const decodeValue = (value: z.output<typeof ROW>[string]) => (isObject(value) ? Buffer.from(value.base64, 'base64') : value);

/** Maps the values of a row; nearly all of them stay the same. */
function mapValues<From, To>(row: Readonly<Record<string, From>>, convert: (value: From) => To): Record<string, To> {
  const result: Record<string, To> = {};
  for (const name of Object.keys(row)) result[name] = convert(row[name]!);
  return result;
}

const toLine = (value: object): string => `${JSON.stringify(value)}\n`;

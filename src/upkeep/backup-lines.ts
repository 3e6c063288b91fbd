import { z } from 'zod';

/*
 * A backup of MySQL is compressed lines of JSON: a head, then for each table its name and its rows, and at the end how
 * many rows there are.
 */

export const HEAD = z.object({ format: z.literal('fasti-backup'), version: z.literal(1), prefix: z.string().regex(/^\w*$/) });
/** `last`: the last number that the table gave to a row, which may be gone. */
export const TABLE = z.strictObject({ table: z.string(), last: z.int().nonnegative().optional() });
export const ROW = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));
export const END = z.strictObject({ end: z.literal(true), rows: z.int() });

/** What a head says besides, for whoever looks into the file. */
interface Made {
  readonly engine: string;
  readonly made_at: string;
}

export const headLine = (prefix: string, made: Made): string =>
  line({ format: 'fasti-backup', version: 1, prefix, ...made } satisfies z.input<typeof HEAD> & Made);
export const tableLine = (table: string, last: number): string => line({ table, last } satisfies z.input<typeof TABLE>);
export const rowLine = (row: z.input<typeof ROW>): string => line(row);
export const endLine = (rows: number): string => line({ end: true, rows } satisfies z.input<typeof END>);

const line = (value: object): string => `${JSON.stringify(value)}\n`;

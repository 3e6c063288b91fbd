export interface Recording {
  readonly name: string;
  readonly group: string;
  readonly kind: 'read' | 'iso' | 'seq';
  readonly sequence?: string;
  readonly as: string | null;
  readonly at: string;
  readonly setup?: Readonly<Record<string, unknown>>;
  readonly aside?: string;
  readonly request: { readonly method: string; readonly path: string; readonly query?: string; readonly headers?: Readonly<Record<string, string>>; readonly body?: string | null; readonly latin1?: boolean };
}
export interface Difference {
  readonly path: string;
  readonly expected: unknown;
  readonly got: unknown;
  readonly note?: string;
}
export interface RowsWanted {
  readonly posts: number[];
  readonly terms: number[];
  readonly after: { readonly posts: number; readonly terms: number };
}
export interface Options {
  readonly now: Date;
  readonly headers?: boolean;
  readonly urls?: boolean;
}
export function compare(recording: Recording, actual: { status: number; headers: unknown; text: string }, options: Options): Difference[];
export function rowsWanted(recording: Recording): RowsWanted | null;
export function compareRows(recording: Recording, rows: Record<string, unknown[]>, options: Options): Difference[];

/**
 * All rows that `read` gives, a page at a time: it reads the rows after an id, in the order of their ids and `size` of
 * them at most. A row is an id, or has one. A page is read when it is asked for, not before.
 */
export async function* pagesById<Row extends number | { readonly id: number }>(
  size: number,
  read: (after: number, size: number) => PromiseLike<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  for (let after = 0; ; ) {
    const rows = await read(after, size);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    if (rows.length < size) return;
    after = typeof last === 'number' ? last : last.id;
  }
}

/** A list, `size` of it at a time. */
export function* pagesOf<Value>(list: readonly Value[], size: number): Generator<Value[]> {
  for (let at = 0; at < list.length; at += size) yield list.slice(at, at + size);
}

/** How many values a statement names that asks for rows by their ids or slugs. */
const NAMED_AT_ONCE = 1000;

/** The rows that `read` gives for these values, each of which it is asked for once, together with some others. */
export async function readInParts<Value, Row>(
  values: readonly Value[],
  read: (some: Value[]) => PromiseLike<readonly Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const some of pagesOf([...new Set(values)], NAMED_AT_ONCE)) rows.push(...(await read(some)));
  return rows;
}

/**
 * Yields all rows that `read` returns, one page at a time. `read` returns the rows after an id, in the order of their
 * ids, at most `size` of them. A row is an id or has one. A page is read only when the consumer asks for it.
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

/** Splits a list into pages of `size` items. */
export function* pagesOf<Value>(list: readonly Value[], size: number): Generator<Value[]> {
  for (let at = 0; at < list.length; at += size) yield list.slice(at, at + size);
}

/** Maximum number of ids or slugs in one statement. */
const VALUES_PER_QUERY = 1000;

/** Returns the rows that `read` gives for these values. Each distinct value is read once, together with others. */
export async function readInParts<Value, Row>(
  values: readonly Value[],
  read: (page: Value[]) => PromiseLike<readonly Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const page of pagesOf([...new Set(values)], VALUES_PER_QUERY)) {
    // A page of posts may have more metas than a function takes arguments.
    for (const row of await read(page)) rows.push(row);
  }
  return rows;
}

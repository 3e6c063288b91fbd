import { describe, expect, it } from '@jest/globals';
import { pagesById, pagesOf, readInParts } from '../../src/storage/engine/pages.ts';

describe('pages by id', () => {
  /** Walks through these ids; returns the pages, and the ids after which each page was read. */
  const walk = async (ids: readonly number[], size: number, row: (id: number) => number | { id: number } = (id) => id) => {
    const asked: number[] = [];
    const pages: unknown[] = [];
    const read = async (after: number, most: number) => {
      asked.push(after);
      return ids
        .filter((id) => id > after)
        .slice(0, most)
        .map(row);
    };
    for await (const page of pagesById(size, read)) pages.push(page);
    return { asked, pages };
  };

  it('end with the first page that is not full', async () =>
    expect(await walk([3, 4, 9, 12, 40], 2)).toEqual({ asked: [0, 4, 12], pages: [[3, 4], [9, 12], [40]] }));
  it('end after an empty read if the last page is full', async () =>
    expect(await walk([3, 4], 2)).toEqual({ asked: [0, 4], pages: [[3, 4]] }));
  it('are none if there are no rows', async () => expect(await walk([], 2)).toEqual({ asked: [0], pages: [] }));
  it('continue after the id of the last row', async () =>
    expect(await walk([3, 4, 9], 2, (id) => ({ id }))).toEqual({ asked: [0, 4], pages: [[{ id: 3 }, { id: 4 }], [{ id: 9 }]] }));
});

describe('pages of a list', () => {
  it.each([
    [
      [1, 2, 3, 4, 5],
      [[1, 2], [3, 4], [5]],
    ],
    [[1, 2], [[1, 2]]],
    [[], []],
  ])('split %j', (list, pages) => expect([...pagesOf<number>(list, 2)]).toEqual(pages));
});

describe('rows read in parts', () => {
  it('are more than a function takes arguments', async () => {
    const rowsOfOne = Array.from({ length: 300 }, (_, index) => index);
    const ids = Array.from({ length: 1001 }, (_, index) => index);
    const rows = await readInParts(ids, async (page) => page.flatMap(() => rowsOfOne));
    expect(rows.length).toBe(300_300);
  });
});

import { describe, expect, it } from '@jest/globals';
import { Piece, Rows, statements, type TemplateValue, verbatim } from '../../src/storage/engine/statement.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadSite } from '../support/site.ts';

const statementOf = statements(() => 'wp_');
const sql = (text: TemplateStringsArray, ...places: TemplateValue[]) => statementOf(text, places);

describe('statement template', () => {
  it('replaces table names with prefixed ones and joins its lines', () =>
    expect(sql`
      SELECT ID FROM {posts} p
      WHERE p.ID = 1`).toEqual({ table: 'posts', sql: 'SELECT ID FROM `wp_posts` p WHERE p.ID = 1', bindings: [] }));

  it.each<[string, TemplateValue, string, unknown[]]>([
    ['a text', "O'Hara", '?', ["O'Hara"]],
    ['a number', 0, '?', [0]],
    ['nothing', null, '?', [null]],
    ['a list', [1, 2, 3], '?, ?, ?', [1, 2, 3]],
    ['a list of one', ['a'], '?', ['a']],
    ['an empty list', [], 'NULL', []],
    ['rows', new Rows(2, [1, 'a', 2, null]), '(?, ?), (?, ?)', [1, 'a', 2, null]],
    [
      'a piece with values',
      new Piece(['?? = ? OR ?? IN (?,?)', ['p.name', 'x', 'id', 1, 2]]),
      '`p`.`name` = ? OR `id` IN (?,?)',
      ['x', 1, 2],
    ],
    ['a piece without', verbatim('FOR UPDATE'), 'FOR UPDATE', []],
  ])('inserts %s', (_, place, marks, bindings) => expect(sql`a (${place}) b`).toEqual({ sql: `a (${marks}) b`, bindings }));

  it('yields different SQL for lists of different lengths and for different pieces', () => {
    const ask = (ids: number[], order: string) => sql`IN (${ids}) ORDER BY ${verbatim(order)}`;
    const expected = (marks: string, order: string) => `IN (${marks}) ORDER BY ${order}`;
    for (const [ids, marks] of [[[1], '?'] as const, [[1, 2], '?, ?'] as const]) {
      for (const order of ['a', 'b', 'a']) expect(ask([...ids], order)).toEqual({ sql: expected(marks, order), bindings: ids });
    }
  });

  it('distinguishes values from lists in adjacent places', () => {
    const ask = (first: TemplateValue, second: TemplateValue) => sql`${first} ${second}`.sql;
    expect(ask(1, [1, 2])).toBe('? ?, ?');
    expect(ask([1, 2], 1)).toBe('?, ? ?');
    expect(ask([], 1)).toBe('NULL ?');
    expect(ask([1], [])).toBe('? NULL');
  });

  it('inlines long lists of integer ids, but binds other long lists', () => {
    const ids = Array.from({ length: 1001 }, (_, place) => place);
    for (const start of [0, 5]) {
      const some = ids.map((id) => id + start);
      expect(sql`WHERE id IN (${some}) AND name = ${'a'}`).toEqual({
        sql: `WHERE id IN (${some.join(', ')}) AND name = ?`,
        bindings: ['a'],
      });
    }
    for (const other of ['1', 1.5, Number.NaN, null]) expect(sql`IN (${[...ids, other]})`.bindings).toHaveLength(1002);
  });
});

describeDatabases('statement with a long list', (open) => {
  it('finds the rows of all ids in the list', async () => {
    const db = await loadSite(await open());
    const ids = Array.from({ length: 50_000 }, (_, place) => place);
    const found = await db.rows<{ ID: number }>`SELECT ID FROM {posts} WHERE ID IN (${ids}) ORDER BY ID`;
    expect(found.map(({ ID }) => ID)).toEqual(await db.from('posts').orderBy('ID').pluck('ID'));
    await db.close();
  });
});

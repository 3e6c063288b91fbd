import { describe, expect, it } from '@jest/globals';
import { Piece, Rows, statements, type TemplateValue, verbatim } from '../../src/storage/engine/statement.ts';

const statementOf = statements('wp_');
const sql = (text: TemplateStringsArray, ...places: TemplateValue[]) => statementOf(text, places);

describe('a statement written out as a template', () => {
  it('names tables with the prefix, and stands on one line', () =>
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
  ])('binds %s', (_, place, marks, bindings) => expect(sql`a (${place}) b`).toEqual({ sql: `a (${marks}) b`, bindings }));

  it('is another one for lists of another length, and for another piece', () => {
    const ask = (ids: number[], order: string) => sql`IN (${ids}) ORDER BY ${verbatim(order)}`;
    const expected = (marks: string, order: string) => `IN (${marks}) ORDER BY ${order}`;
    for (const [ids, marks] of [[[1], '?'] as const, [[1, 2], '?, ?'] as const]) {
      for (const order of ['a', 'b', 'a']) expect(ask([...ids], order)).toEqual({ sql: expected(marks, order), bindings: ids });
    }
  });

  it('distinguishes a value from a list of one, and lists side by side', () => {
    const ask = (first: TemplateValue, second: TemplateValue) => sql`${first} ${second}`.sql;
    expect(ask(1, [1, 2])).toBe('? ?, ?');
    expect(ask([1, 2], 1)).toBe('?, ? ?');
    expect(ask([], 1)).toBe('NULL ?');
    expect(ask([1], [])).toBe('? NULL');
  });
});

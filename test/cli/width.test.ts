import { describe, expect, it } from '@jest/globals';
import { formatList } from '../../src/cli/print.ts';
import { truncateTo, widthOf } from '../../src/cli/width.ts';

/* Tests of the width of texts on a terminal. */

describe('width of a text', () => {
  it.each([
    ['', 0],
    ['Concert', 7],
    ['Caffè – €', 9],
    ['café', 4],
    ['cafe\u0301', 4],
    ['音楽祭', 6],
    ['カラオケ', 8],
    ['ｶﾗｵｹ', 4],
    ['ﾊﾞｽ', 3],
    ['한국', 4],
    ['\u1112\u1161\u11ab', 2],
    ['ＡＢ', 4],
    ['、。', 4],
    ['𠮷野家', 6],
    ['🎉', 2],
    ['👩‍👩‍👧 🇮🇹', 5],
    ['👍🏽', 2],
    ['❤️', 2],
    ['❤', 1],
    ['1️⃣', 2],
    ['a\u200bb\ufeff', 2],
    ['שלום', 4],
    ['Москва', 6],
  ])('of %j is %i', (text, width) => expect(widthOf(text)).toBe(width));
});

describe('text that is too long', () => {
  it.each([
    ['short', 5, 'short'],
    ['longer', 5, 'long…'],
    ['音楽祭り', 8, '音楽祭り'],
    ['音楽祭り', 7, '音楽祭…'],
    ['音楽祭り', 6, '音楽…'],
    ['ab🎉c', 4, 'ab…'],
    ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
  ])('is cut: %j to %i columns', (text, columns, cut) => {
    expect(truncateTo(text, columns)).toBe(cut);
    expect(widthOf(cut)).toBeLessThanOrEqual(columns);
  });
});

it('a table has straight lines with texts of any width', () => {
  const names = ['Jazz', '音楽祭', '🎉 Festa', 'cafe\u0301', `${'長'.repeat(50)}`];
  const text = formatList(
    names.map((name, id) => ({ id, name })),
    { format: 'table', fields: undefined, field: undefined, columns: ['id', 'name'] },
    true,
  );
  const lines = text.trimEnd().split('\n');
  expect(lines).toHaveLength(names.length + 4);
  expect(new Set(lines.map(widthOf)).size).toBe(1);
});

import { describe, expect, it } from '@jest/globals';
import { formsOf, parseSearch, searchPieces } from '../../src/wordpress/search.ts';

const texts = (terms: readonly { text: string }[]) => terms.map(({ text }) => text);

describe('terms of a search for events', () => {
  it.each([
    ['summer concert', ['summer', 'concert']],
    ['"summer concert" jazz', ['summer concert', 'jazz']],
    ['the a of', ['the a of']],
    ['a,b+jazz', ['jazz']],
    ['jazz - blues 0 1', ['jazz', 'blues', '1']],
    ['-"summer concert"', ['summer concert']],
    ['“summer concert” ‘jazz’ – «\u00a0L’eau\u00a0»', ['summer concert', 'jazz', 'L’eau']],
    ['AC\\DC \\\\o/', ['AC\\DC', '\\\\o/']],
    ['\\', ['\\']],
    ['jazz \\ \\a blues', ['jazz', 'blues']],
    ['one two three four five six seven eight nine ten', ['one two three four five six seven eight nine ten']],
  ])('in %j are %j', (phrase, expected) => {
    expect(texts(parseSearch(phrase))).toEqual(expected);
  });

  it('are excluded if they begin with a hyphen', () => {
    expect(parseSearch('jazz -blues')).toEqual([
      { text: 'jazz', exclude: false },
      { text: 'blues', exclude: true },
    ]);
  });

  it.each(['‐', '‑', '−'])('are excluded if they begin with the hyphen of print %s', (hyphen) => {
    expect(parseSearch(`Bella ${hyphen}xyz`)).toEqual(parseSearch('Bella -xyz'));
  });

  it.each(['–', '—'])('are not excluded if they begin with the dash %s, as an insertion does', (dash) => {
    expect(parseSearch(`Roma ${dash}di notte${dash}`).filter(({ exclude }) => exclude)).toEqual([]);
  });

  it('with a backslash also have the form in which WordPress stores and searches them', () => {
    expect(parseSearch('C:\\temp -a\\b \\\\o/ \\').map(formsOf)).toEqual([
      ['C:\\temp', 'C:temp'],
      ['a\\b', 'ab'],
      ['\\\\o/', '\\o/'],
    ]);
    expect(parseSearch('\\').map(formsOf)).toEqual([['\\']]);
  });

  it('exclude everything if the search is only a hyphen', () => {
    expect(parseSearch('-')).toEqual([{ text: '', exclude: true }]);
  });
});

describe('terms of a search for venues and organizers', () => {
  it.each([
    ['Teatro Rossi', ['teatro', 'rossi']],
    ["Rock'n'Roll, Hall-2", ['rock', 'n', 'roll', 'hall-2']],
    ['日本 武道館', ['日本', '武道館']],
    ['hall Hall HALL', ['hall']],
    ['?!', []],
  ])('in %j are %j', (phrase, expected) => {
    expect(texts(searchPieces(phrase))).toEqual(expected);
  });

  it('are limited to the fifty longest', () => {
    const words = Array.from({ length: 200 }, (_, length) => 'x'.repeat(length + 1));
    expect(texts(searchPieces(words.join(' ')))).toEqual(words.slice(-50).reverse());
  });
});

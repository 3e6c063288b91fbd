import { describe, expect, it } from '@jest/globals';
import { trimWords } from '../../../src/wordpress/content/excerpt.ts';
import {
  firstCharacters,
  hasVisibleText,
  sanitizeTextField,
  stripAllTags,
  stripControlCharacters,
} from '../../../src/wordpress/content/plain-text.ts';

describe('stripAllTags', () => {
  it.each([
    ['<p>We <em>organize</em>.</p>\n', 'We organize.'],
    ['a<script>x</script>b<STYLE>y</style>c', 'abc'],
    ['a < b', 'a < b'],
    ['a <b', 'a'],
    ['<a title=">">x</a>', 'x'],
    ['a<!-- <b> -->c', 'ac'],
    ['a<?php if (1) { ?>b', 'ab'],
    ['1 > 0', '1 > 0'],
  ])('strips %j', (html, text) => {
    expect(stripAllTags(html)).toBe(text);
  });
});

describe('sanitizeTextField', () => {
  it.each([
    ['<b>1</b>', '1'],
    ['  a \n b\t c ', 'a b c'],
    ['a < b', 'a &lt; b'],
    ['a <b c', 'a &lt;b c'],
    ['100%', '100%'],
    ['a%20b %e2%82%ac c', 'ab c'],
    ['%%4141', ''],
    ['Città & "x"', 'Città & "x"'],
    ['+39 050 123456', '+39 050 123456'],
  ])('sanitizes %j', (raw, text) => {
    expect(sanitizeTextField(raw)).toBe(text);
  });

  it.each(['%', '<', '<script', '<style>', '%4', '< '])('handles 200 kB of %j', (seed) => {
    expect(sanitizeTextField(`x${seed.repeat(Math.ceil(200_000 / seed.length))}41`).startsWith('x')).toBe(true);
  });
});

describe('firstCharacters', () => {
  it.each([
    ['shorter', 10, 'shorter'],
    ['àè', 1, 'à'],
    ['a🎷b', 2, 'a🎷'],
    ['🎷🎷🎷', 2, '🎷🎷'],
    ['🎷', 1, '🎷'],
  ])('shortens %j to %i characters', (text, most, start) => {
    expect(firstCharacters(text, most)).toBe(start);
  });
});

describe('stripControlCharacters (D39)', () => {
  it('removes control characters but keeps tabs and line breaks', () => {
    expect(stripControlCharacters('a\0b\x07c\td\r\ne\x7ff\x9fg\u00a0é')).toBe('abc\td\r\nefg\u00a0é');
  });
});

describe('hasVisibleText (D39)', () => {
  it.each(['a', '<b>a</b>', '0', '🎉', '日本', '<3', '&amp;', '&#65;', 'a<br>', '-', 'I <3 you'])('returns true for %j', (html) => {
    expect(hasVisibleText(html)).toBe(true);
  });
  it.each([
    '',
    ' \n\t',
    '<b></b>',
    '<p> </p>',
    '&nbsp;&#160;',
    '\u200b\u200d\u2060\ufeff',
    '<img src="x">',
    '<!-- a -->',
    '<script>x</script>',
    '&#8203;',
    '\u3164',
    '<b',
  ])('returns false for %j', (html) => {
    expect(hasVisibleText(html)).toBe(false);
  });
});

describe('trimWords', () => {
  it.each([
    ['a b c', 2, 'a b&hellip;'],
    ['a b', 2, 'a b'],
    ['<p>a\n b</p>\tc', 5, 'a b c'],
    ['a\u00a0b c', 1, 'a\u00a0b&hellip;'],
  ])('shortens %j to %d words', (text, count, trimmed) => {
    expect(trimWords(text, count)).toBe(trimmed);
  });
  it('appends the given text', () => {
    expect(trimWords('a b', 1, ' [&hellip;]')).toBe('a [&hellip;]');
  });
});

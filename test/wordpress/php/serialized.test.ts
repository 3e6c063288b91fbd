import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import {
  jsonValue,
  looksSerialized,
  parseSerialized,
  storedText,
  textOfStored,
  toSerialized,
  withMembers,
} from '../../../src/wordpress/php/serialized.ts';

const hasPhp = spawnSync('php', ['-v']).status === 0;

const BYTES =
  'a:7:{s:4:"uuid";s:2:"é";s:1:"n";i:1;s:1:"f";d:0.1;s:1:"b";b:0;s:1:"x";N;s:1:"l";a:2:{i:0;s:1:"a";i:1;s:1:"b";}s:1:"s";a:2:{i:5;i:1;i:2;i:2;}}';

describe('string called __proto__', () => {
  it.each<[string, unknown]>([
    ['a:1:{s:4:"name";s:9:"__proto__";}', { name: '__proto__' }],
    ['a:2:{i:0;s:9:"__proto__";i:1;a:1:{s:1:"a";s:20:"say s:9:"__proto__";";}}', ['__proto__', { a: 'say s:9:"__proto__";' }]],
    ['s:9:"__proto__";', '__proto__'],
  ])('is read as a string: %s', (text, value) => expect(parseSerialized(text)).toEqual(value));
});

describe('looksSerialized', () => {
  it.each(['N;', 'b:1;', 'i:5;', 'd:1.0E+25;', 's:1:"a";', ' a:0:{} ', 'O:8:"stdClass":0:{}', 'E:7:"Foo:Bar";'])('accepts %s', (text) =>
    expect(looksSerialized(text)).toBe(true),
  );
  it.each(['', 'N', 'i:5', 's:1:a;', 'a:0:{', 'x:1:{}', 'hello; world;', 'i:;x;'])('rejects %s', (text) =>
    expect(looksSerialized(text)).toBe(false),
  );
  it('trims as PHP does', () => {
    for (const blank of [' ', '\t', '\n', '\r', '\v', '\0', ' \0\n']) {
      expect([blank, looksSerialized(`${blank}i:5;${blank}`)]).toEqual([blank, true]);
      expect([blank, parseSerialized(`${blank}a:1:{i:0;i:5;}${blank}`)]).toEqual([blank, [5]]);
      expect([blank, withMembers(`${blank}a:0:{}${blank}`, { x: 1 })]).toEqual([blank, 'a:1:{s:1:"x";i:1;}']);
    }
    for (const other of ['\u00a0', '\ufeff', '\f', '\u2003'])
      expect([other, looksSerialized(`${other}i:5;`), looksSerialized(`i:5;${other}`)]).toEqual([other, false, false]);
  });
});

describe('parseSerialized', () => {
  it('reads the output of PHP', () => {
    expect(parseSerialized(BYTES)).toEqual({ uuid: 'é', n: 1, f: 0.1, b: false, x: null, l: ['a', 'b'], s: { 5: 1, 2: 2 } });
  });
  it.each([
    ['b:1;', true],
    ['d:0.5;', 0.5],
    ['i:9223372036854775807;', 9223372036854775807n],
    ['a:0:{}', []],
    ['a:2:{i:0;i:1;i:2;i:2;}', { 0: 1, 2: 2 }],
    ['s:4:"a"b;";', 'a"b;'],
    ['s:16:"i:1; "__proto__"";', 'i:1; "__proto__"'],
    ['a:1:{i:0;s:8:"Casa: -8";}', ['Casa: -8']],
    ['d:1.0E+25;', 1e25],
    ['a:1:{s:9:"prototype";a:1:{s:11:"constructor";i:1;}}', { prototype: { constructor: 1 } }],
  ])('reads %s', (text, value) => expect(parseSerialized(text)).toEqual(value));
  it.each([
    ['plain text', 'just text'],
    ['an object', 'O:8:"stdClass":1:{s:1:"a";i:1;}'],
    ['an object within', 'a:1:{i:0;O:8:"DateTime":0:{}}'],
    ['a class named like a member of every object', 'a:1:{i:0;O:11:"constructor":0:{}}'],
    ['an object that unserializes itself', 'a:1:{i:0;C:3:"Foo":2:{ab}}'],
    ['a reference', 'a:2:{i:0;i:1;i:1;R:2;}'],
    ['a wrong length', 's:5:"abc";'],
    ['a cut array', 'a:2:{i:0;i:1;}'],
    ['a prototype', 'a:1:{s:9:"__proto__";a:1:{s:8:"polluted";b:1;}}'],
    ['a prototype of another spelling', 'a:1:{s:09:"__proto__";a:1:{s:8:"polluted";b:1;}}'],
    ['a prototype behind a value of its name', 'a:2:{i:0;s:9:"__proto__";s:+9:"__proto__";a:1:{s:8:"polluted";b:1;}}'],
    ['a negative length', 'a:9999999999:{s:1:"a";s:-8:"x";}'],
    ['a negative length behind a blank', 'a:9999999999:{s:1:"a";s: -8:"x";}'],
    ['more behind a string', 's:1:"a";b";'],
    ['a string without its first quote', 's:3:xabc";'],
    ['bottomless nesting', 'a:1:{i:0;'.repeat(20_000) + '}'.repeat(20_000)],
  ])('returns %s as text', (_, text) => {
    expect(parseSerialized(text)).toBe(text);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('toSerialized', () => {
  it('writes the output of PHP', () => {
    const sparse = new Map([
      [5, 1],
      [2, 2],
    ]);
    expect(toSerialized({ uuid: 'é', n: 1, f: 0.1, b: false, x: null, l: ['a', 'b'], s: sparse })).toBe(BYTES);
  });
  it.each([
    [{ 7: 'a', '07': 'b', '-3': 'c', '-0': 'd' }, 'a:4:{i:7;s:1:"a";s:2:"07";s:1:"b";i:-3;s:1:"c";s:2:"-0";s:1:"d";}'],
    [{ a: undefined, b: 1 }, 'a:1:{s:1:"b";i:1;}'],
    [[], 'a:0:{}'],
    ['日"', 's:4:"日"";'],
    [9223372036854775807n, 'i:9223372036854775807;'],
    [-1.5, 'd:-1.5;'],
    [0.30000000000000004, 'd:0.30000000000000004;'],
    [1.5e-7, 'd:1.5E-7;'],
    [0.00001, 'd:1.0E-5;'],
    [1e25, 'd:1.0E+25;'],
    [123456789012345680, 'd:1.2345678901234568E+17;'],
    [Number.NEGATIVE_INFINITY, 'd:-INF;'],
    [{ float: 5 }, 'd:5;'],
    [{ float: 0 }, 'd:0;'],
    [{ float: -0 }, 'd:-0;'],
  ])('writes %j as %s', (value, text) => expect(toSerialized(value)).toBe(text));
  it.each([[() => 1], [Symbol('x')], [new Date(0)]])('refuses %p', (value) => expect(() => toSerialized(value)).toThrow(TypeError));
});

describe('withMembers', () => {
  const text = 'a:4:{s:1:"a";d:5;s:1:"b";O:8:"stdClass":1:{s:1:"x";i:1;}i:4;C:3:"Foo":2:{ab}s:2:"é";s:3:"日";}';
  it('keeps other members byte for byte', () => {
    expect(withMembers(text, { new: 0.1 })).toBe(`${text.replace('a:4:', 'a:5:').slice(0, -1)}s:3:"new";d:0.1;}`);
  });
  it('changes members in place', () =>
    expect(withMembers('a:2:{s:1:"a";d:5;i:4;b:1;}', { a: 'x', 4: [] })).toBe('a:2:{s:1:"a";s:1:"x";i:4;a:0:{}}'));
  it('removes members', () =>
    expect(withMembers(text, { a: undefined, b: undefined, 4: undefined, none: undefined })).toBe('a:1:{s:2:"é";s:3:"日";}'));
  it('creates an array from an empty text', () => expect(withMembers('', { a: true })).toBe('a:1:{s:1:"a";b:1;}'));
  it.each([
    'text',
    'i:5;',
    'O:8:"stdClass":0:{}',
    'a:1:{i:0;i:1;',
    'a:2:{i:0;i:1;}',
    'a:1:{i:0;s:9:"short";}',
    'a:2:{i:0;i:1;i:1;R:2;}',
    'a:1:{i:0;i:1;}x',
  ])('returns undefined for %s', (other) => expect(withMembers(other, { a: 1 })).toBeUndefined());
});

/** Texts that WordPress would take for serialized values, as `update_metadata` tells them. */
const RESEMBLING = [
  ...['N;', 'b:1;', 'i:5;', 'd:0.5;', 's:1:"a";', 's:5:"a";', 'a:0:{}', 'a:1:{i:0;s:1:"x";}', ' a:0:{} ', '\0i:5;', 'E:7:"Foo:Bar";'],
  ...[
    'O:8:"stdClass":0:{}',
    'i:1; "__proto__"',
    'O:8:"stdClass":0:{} and more',
    's:1:"a"; and more',
    'i:5; and more',
    'a:1:{i:0;s:2:"é";}',
  ],
];

describe('storedText', () => {
  it.each(RESEMBLING)('serializes %j', (text) => {
    expect(storedText(text)).toBe(toSerialized(text));
    expect(textOfStored(storedText(text))).toBe(text);
  });
  it.each(['', 'a', 'Jazz; Blues', 'i:;', 'a:1', 's:1:a;', 'O:8:stdClass', 'C:3:"Foo":2:{ab}', 'x:1:{}', 'a;b}', '\ufeffi:5;'])('keeps %j', (text) => {
    expect(storedText(text)).toBe(text);
    expect(textOfStored(text)).toBe(text);
  }); // biome-ignore format: a list
  (hasPhp ? it : it.skip)('gives values of which PHP makes the texts again, and no object', () => {
    const nested = RESEMBLING.map((text) => toSerialized(text));
    const texts = [...RESEMBLING, ...nested];
    const script = 'echo json_encode(array_map(fn ($value) => unserialize(trim($value)), json_decode(stream_get_contents(STDIN))));';
    const { stdout } = spawnSync('php', ['-r', script], { input: JSON.stringify(texts.map(storedText)), encoding: 'utf8' });
    expect(JSON.parse(stdout)).toEqual(texts);
  });
});

describe('textOfStored', () => {
  it.each(['a:1:{i:0;s:1:"x";}', 'O:8:"stdClass":0:{}', 'i:5;', 's:9:"short";', 's:'])('keeps %s', (stored) =>
    expect(textOfStored(stored)).toBe(stored),
  );
});

describe('jsonValue', () => {
  it('has numbers for integers beyond 2^53, at any depth', () =>
    expect(JSON.stringify(jsonValue(parseSerialized('a:2:{i:0;i:9007199254740993;i:1;a:1:{s:1:"x";i:-9223372036854775808;}}')))).toBe(
      '[9007199254740992,{"x":-9223372036854776000}]',
    ));
});

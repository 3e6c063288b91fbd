import { describe, expect, it } from '@jest/globals';
import { parsePhpQuery } from '../../../src/wordpress/php/query.ts';

const read = (text: string, limits = {}) => parsePhpQuery(text, { variables: 1000, depth: 20, ...limits });

/** Expected values are results of `parse_str` in PHP 8.2, with arrays that have numeric keys written as lists. */
describe('parsePhpQuery', () => {
  it.each<[string, unknown]>([
    ['a=1&a[]=2', { a: ['2'] }],
    ['a[]=1&a=2', { a: '2' }],
    ['a[b]=1&a=2', { a: '2' }],
    ['a[b]=1&a[b][c]=2', { a: { b: { c: '2' } } }],
    ['a[5]=first&a[1]=second', { a: ['first', 'second'] }],
    ['a[1]=3&a[]=4', { a: ['3', '4'] }],
    ['a[0]=x&a[0]=y', { a: ['y'] }],
    ['a[][b]=1&a[][b]=2', { a: [{ b: '1' }, { b: '2' }] }],
    ['a[][b]=1&a[][c]=2', { a: [{ b: '1' }, { c: '2' }] }],
    ['a[x]=1&a[]=2', { a: { x: '1', 0: '2' } }],
    ['a[-1]=x&a[]=y', { a: ['x', 'y'] }],
    ['a[01]=x', { a: { '01': 'x' } }],
    ['a[ ]=1', { a: ['1'] }],
    ['a[', { a_: '' }],
    ['a[b=1', { a_b: '1' }],
    ['a[b][c=1', { a: { b: '1' } }],
    ['a[b]c=1', { a: { b: '1' } }],
    ['a[[b]]=1', { a: { '[b': '1' } }],
    ['a]=1', { 'a]': '1' }],
    ['[a]=1&=2&+=3', {}],
    [' a b.c[d.e]=1', { a_b_c: { 'd.e': '1' } }],
    ['a%00b=1', { a: '1' }],
    ['a%5b%5d=1&a%5B%5D=2', { a: ['1', '2'] }],
    ['title=Caffè 100%&è%=%C3%A8%zz+è', { title: 'Caffè 100%', 'è%': 'è%zz è' }],
  ])('reads %s as PHP does', (text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  it('limits the number of variables, and skips names that nest too deeply or are members of every object', () => {
    expect(read('a=1&&b=2&c=3', { variables: 2 })).toEqual({ a: '1', b: '2' });
    expect(read('a[b][c]=1&a[b]=2', { depth: 2 })).toEqual({ a: { b: '2' } });
    expect(read('__proto__[x]=1&a[constructor]=1&a[b]=2&toString=3')).toEqual({ a: { b: '2' } });
  });
});

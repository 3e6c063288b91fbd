import { describe, expect, it } from '@jest/globals';
import { ApiError } from '../../src/errors.ts';
import { overriddenMethod, parseQuery } from '../../src/http/input.ts';
import { pickFields } from '../../src/http/pick-fields.ts';
import { readWrapping } from '../../src/http/protocol.ts';

const wrapping = (query: string) => readWrapping(parseQuery(query));

describe('wrapping of a response', () => {
  it('is off by default', () => {
    expect(wrapping('page=2')).toEqual({ script: false, envelope: false, pretty: false, fields: [] });
  });

  it.each(['_envelope', '_envelope=', '_envelope=0', '_envelope=false'])('is an envelope by %s', (query) => {
    expect(wrapping(query).envelope).toBe(true);
  });

  it.each([
    ['_jsonp=cb', 'cb'],
    ['_jsonp=jQuery_1.cb', 'jQuery_1.cb'],
    ['_jsonp=', undefined],
  ])('is a JSONP call with %s', (query, name) => {
    expect(wrapping(query).jsonp).toBe(name);
    expect(wrapping(query).script).toBe(name !== undefined);
  });

  it.each(['a-b', 'alert(1)', 'a;b', '<script>', 'a b', 'é'])('refuses the JSONP function name %s', (name) => {
    expect(() => wrapping(`_jsonp=${encodeURIComponent(name)}`)).toThrow(ApiError);
  });

  it.each<[string, string[]]>([
    ['_fields=id,title', ['id', 'title']],
    ['_fields=id, title', ['id', 'title']],
    ['_fields[]=id&_fields[]=a.b', ['id', 'a.b']],
    ['_fields=', []],
    ['_fields=,', []],
    ['_fields[k]=id', []],
  ])('reads the fields of %s', (query, fields) => {
    expect(wrapping(query).fields).toEqual(fields);
  });
});

describe('overridden method', () => {
  it.each<[string, string, string | undefined, string]>([
    ['POST', '', undefined, 'POST'],
    ['POST', '_method=put', undefined, 'PUT'],
    ['POST', '', 'patch', 'PATCH'],
    ['POST', '_method=PUT', 'PATCH', 'PUT'],
    ['POST', '_method=', undefined, ''],
    ['POST', '_method[]=PUT', undefined, 'POST'],
    ['GET', '_method=DELETE', undefined, 'GET'],
    ['GET', '', 'DELETE', 'GET'],
    ['DELETE', '', 'GET', 'DELETE'],
  ])('of %s with %j and header %j is %s', (method, query, header, expected) => {
    expect(overriddenMethod(method, parseQuery(query), header)).toBe(expected);
  });
});

describe('pickFields', () => {
  const event = { id: 1, start: { year: '2030', month: '01' }, venues: [{ id: 5 }], none: null, title: 't' };

  it.each<[string[], unknown]>([
    [['id'], { id: 1 }],
    [['title', 'id'], { id: 1, title: 't' }],
    [['start'], { start: event.start }],
    [['start.year'], { start: { year: '2030' } }],
    [['start.year', 'start'], { start: event.start }],
    [['start', 'start.year', 'id'], { id: 1, start: event.start }],
    [['start.nope'], { start: [] }],
    [['venues.id'], { venues: [] }],
    [['venues'], { venues: [{ id: 5 }] }],
    [['none.x'], { none: null }],
    [['id.x'], { id: 1 }],
    [['nope'], []],
    [['__proto__', 'constructor'], []],
  ])('picks %j', (fields, expected) => {
    expect(pickFields(event, fields)).toEqual(expected);
  });

  it('picks the fields of each item of a list', () => {
    expect(pickFields([{ a: 1, b: 2 }, { b: 3 }], ['a'])).toEqual([{ a: 1 }, []]);
  });

  it('accepts thousands of repeated names', () => {
    expect(
      pickFields(
        event,
        Array.from({ length: 8000 }, () => 'id'),
      ),
    ).toEqual({ id: 1 });
    expect(pickFields(event, ['start.'.repeat(2500)])).toEqual({ start: [] });
  });
});

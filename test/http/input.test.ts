import { describe, expect, it } from '@jest/globals';
import { bodyTypeOf, mergeParams, parseBody, parseQuery } from '../../src/http/input.ts';

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';
const body = (text: string | Buffer, type: string | undefined, files = true) =>
  parseBody(Buffer.from(text), type, { fieldBytes: 1000, files });

describe('parseQuery', () => {
  it.each<[string, unknown]>([
    ['a=1&b=two', { a: '1', b: 'two' }],
    ['a=1&a=2', { a: '2' }],
    ['a[]=1&a[]=2', { a: ['1', '2'] }],
    ['a%5B%5D=1&a%5B%5D=2', { a: ['1', '2'] }],
    ['a[k]=v', { a: { k: 'v' } }],
    ['organizer[0][organizer]=Anna&organizer[1]=5', { organizer: [{ organizer: 'Anna' }, '5'] }],
    ['a=1+2&b=%C3%A9', { a: '1 2', b: 'é' }],
    ['a=1&', { a: '1' }],
    ['&&a', { a: '' }],
    ['a=b=c', { a: 'b=c' }],
    ['a=100%', { a: '100%' }],
    ['a=%zz%20x', { a: '%zz x' }],
    ['a=Caffè 100%', { a: 'Caffè 100%' }],
    ['organizer[][organizer]=Anna&organizer[][organizer]=Bob', { organizer: [{ organizer: 'Anna' }, { organizer: 'Bob' }] }],
    ['organizer[1]=25&organizer[0]=24', { organizer: ['25', '24'] }],
    ['', {}],
  ])('reads %s as PHP does', (text, expected) => {
    expect({ ...parseQuery(text) }).toEqual(expected);
  });

  it('ignores parameters named like members of Object.prototype', () => {
    expect(Object.keys(parseQuery('__proto__[polluted]=1&constructor[prototype][polluted]=1&a=1'))).toEqual(['a']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('reads a list of a thousand members as an array', () => {
    const text = Array.from({ length: 1000 }, (_, index) => `a[]=${index}`).join('&');
    expect(parseQuery(text).a).toHaveLength(1000);
  });
});

describe('request body', () => {
  it.each<[string, string]>([
    ['application/json', '{"a":[1]}'],
    ['application/json; charset=utf-8', '{"a":[1]}'],
    ['Application/JSON', '{"a":[1]}'],
    ['application/ld+json', '{"a":[1]}'],
    ['application/json, application/json', '{"a":[1]}'],
    ['application/json charset=utf-8', '{"a":[1]}'],
    ['application/json,charset=utf-8', '{"a":[1]}'],
    ['text/plain, application/json', '{"a":[1]}'],
  ])('of type %s is read as JSON', async (type, text) => {
    expect(await body(text, type)).toEqual({ json: { a: [1] } });
  });

  it.each(['null', '"text"', '5', '[1,2]'])('that is JSON but no object, %s, has no parameters', async (text) => {
    expect(await body(text, JSON_TYPE)).toEqual({ json: {} });
  });

  it.each<[string, string | Buffer, number]>([
    ['that breaks off', '{"a":', 4],
    ['with a comma too many', '{"a":1,}', 4],
    ['after a byte order mark', '\uFEFF{"a":1}', 4],
    ['nested too deeply', `{"a":${'['.repeat(512)}${']'.repeat(512)}}`, 1],
    ['with a bare control character', '{"a":"\u0001"}', 3],
    ['that is not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 5],
    ['with half a character', '{"a":"\\ud83d"}', 10],
  ])('of JSON %s is refused with the error code of PHP', async (_, text, code) => {
    expect(await body(text, JSON_TYPE)).toMatchObject({ fault: { code } });
  });

  // PHP reads them as infinity, which would be stored as a word in a text.
  it.each([
    ['a number beyond all numbers', '{"a":1e999}', 7],
    ['such a number in a list', '{"a":[1,-1e999]}', 7],
  ])('of JSON with %s is refused', async (_, text, code) => {
    expect(await body(text, JSON_TYPE)).toMatchObject({ fault: { code } });
  });

  it('of JSON may be nested 512 levels deep', async () => {
    expect(await body(`{"a":${'['.repeat(511)}${']'.repeat(511)}}`, JSON_TYPE)).toHaveProperty('json');
  });

  it('of JSON loses __proto__ members', async () => {
    const { json } = await body('{"__proto__":{"x":1},"a":{"__proto__":{"y":1},"z":1}}', JSON_TYPE);
    expect(JSON.stringify(json)).toBe('{"a":{"z":1}}');
  });

  it('of JSON loses members named like those of Object.prototype', async () => {
    const names = Object.getOwnPropertyNames(Object.prototype);
    const members = names.map((name) => `${JSON.stringify(name)}:1`).join();
    const { json } = await body(`{${members},"a":[{${members},"b":2}]}`, JSON_TYPE);
    expect(JSON.stringify(json)).toBe('{"a":[{"b":2}]}');
    expect(`${String(json)}${String(json?.a)}`).toBe('[object Object][object Object]');
  });

  it('of a form is read like a query', async () => {
    expect(await body('title=New+event&venue[venue]=Hall', FORM_TYPE)).toEqual({ form: { title: 'New event', venue: { venue: 'Hall' } } });
  });

  it.each<[string, string | undefined, string]>([
    ['PUT', undefined, 'form'],
    ['PATCH', '', 'form'],
    ['DELETE', 'nonsense; charset=utf-8', 'form'],
    ['POST', undefined, 'other'],
    ['GET', undefined, 'other'],
    ['PUT', 'text/plain', 'other'],
    ['PUT', 'application/json', 'json'],
    ['POST', 'application/x-www-form-urlencoded, application/x-www-form-urlencoded', 'form'],
    ['POST', 'application/x-www-form-urlencoded charset=utf-8', 'form'],
    ['POST', 'application/x-www-form-urlencoded,charset=utf-8', 'form'],
    ['POST', 'application/x-www-form-urlencoded2', 'other'],
    ['POST', 'application/jsonx', 'other'],
    ['POST', 'xapplication/json', 'other'],
    ['POST', 'text/plain; application/json', 'other'],
  ])('of a %s request with the type %j is in the format %s, as in WordPress', (method, type, format) => {
    expect(bodyTypeOf(type, method)).toBe(format);
  });

  it.each([
    ['bytes of Latin-1', Buffer.from('title=Caf\xe9', 'latin1')],
    ['percent escapes of Latin-1', 'title=Caf%E9&a=1'],
    ['a name of such', 'caf%E9=1'],
    ['half a character', 'title=%C3&a=%A9'],
    ['half an emoji', 'title=%ED%A0%BD'],
  ])('of a form is refused if it has %s', async (_, form) => {
    await expect(body(form, FORM_TYPE)).rejects.toThrow('form-not-utf8');
  });

  it.each([
    ['raw characters', 'title=Café', 'Café'],
    ['percent escapes', 'title=Caf%c3%A9', 'Café'],
    ['percent signs that begin no escape', 'title=100%+%zz', '100% %zz'],
    ['both', 'title=Caffè 100%', 'Caffè 100%'],
    ['the sign that replaces others', 'title=%EF%BF%BD\ufffd', '\ufffd\ufffd'],
  ])('of a form is accepted with %s', async (_, form, title) => {
    expect(await body(form, FORM_TYPE)).toEqual({ form: { title } });
  });

  it('of a multipart form is refused if a text is not UTF-8', async () => {
    const type = 'multipart/form-data; boundary=X';
    const text = (value: string) => Buffer.from(`--X\r\nContent-Disposition: form-data; name="a"\r\n\r\n${value}\r\n--X--\r\n`, 'latin1');
    await expect(body(text('Caf\xe9'), type)).rejects.toThrow('form-not-utf8');
    expect(await body(text('Caf\xc3\xa9'), type)).toEqual({ form: { a: 'Café' } });
    expect(await body(text('\xef\xbf\xbd'), type)).toEqual({ form: { a: '\ufffd' } });
    await expect(body(text('\xef\xbf\xbd Caf\xe9'), type)).rejects.toThrow('form-not-utf8');
  });

  it('of a multipart form yields its text fields and its files', async () => {
    const part = (name: string, value: string, more = '') =>
      `--X\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
    const text = `${part('title', 'New event')}${part('tags[]', 'à')}${part('tags[]', 'b')}${part('file', 'data', '; filename="a.txt"')}--X--\r\n`;
    expect(await body(text, 'multipart/form-data; boundary=X')).toEqual({
      form: { title: 'New event', tags: ['à', 'b'] },
      files: new Map([['file', { name: 'a.txt', bytes: Buffer.from('data') }]]),
    });
  });

  it('of a multipart form may have names in any script', async () => {
    const text = '--X\r\nContent-Disposition: form-data; name="custom_fields[città]"; filename="Città 日本.png"\r\n\r\ndata\r\n--X--\r\n';
    expect((await body(text, 'multipart/form-data; boundary=X')).files).toEqual(
      new Map([['custom_fields[città]', { name: 'Città 日本.png', bytes: Buffer.from('data') }]]),
    );
    const field = '--X\r\nContent-Disposition: form-data; name="città"\r\n\r\nRoma\r\n--X--\r\n';
    expect((await body(field, 'multipart/form-data; boundary=X')).form).toEqual({ città: 'Roma' });
  });

  it('of a multipart form yields no files if none are accepted', async () => {
    const text = '--X\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\ndata\r\n--X--\r\n';
    expect(await body(text, 'multipart/form-data; boundary=X', false)).toEqual({ form: {} });
  });

  it('of a multipart form is refused if its texts are too long in total', async () => {
    const text = (length: number) => `--X\r\nContent-Disposition: form-data; name="a"\r\n\r\n${'x'.repeat(length)}\r\n`;
    expect(await body(`${text(499)}${text(499)}--X--\r\n`, 'multipart/form-data; boundary=X')).toHaveProperty('form');
    await expect(body(`${text(500)}${text(499)}--X--\r\n`, 'multipart/form-data; boundary=X')).rejects.toThrow('body-too-large');
    await expect(body(`${text(1001)}--X--\r\n`, 'multipart/form-data; boundary=X')).rejects.toThrow('body-too-large');
  });

  it.each(['multipart/form-data', 'multipart/form-data; boundary=Y'])(
    'of a multipart form without a matching boundary (%s) yields no fields',
    async (type) => {
      expect(await body('--X\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--X--\r\n', type)).toEqual({ form: {} });
    },
  );

  it.each(['text/plain', undefined])('of type %s is ignored', async (type) => {
    expect(await body('{"a":1}', type)).toEqual({});
  });

  it('that is empty has no parameters and no faults', async () => {
    expect(await body('', JSON_TYPE)).toEqual({});
  });
});

describe('merged parameters', () => {
  const query = { a: 'query', b: 'query', id: '8' };
  it('come from the path first, then from JSON, the form and the query', () => {
    const merged = mergeParams({ query, body: { json: { a: 'json', id: 9 } }, path: { id: '6' }, method: 'POST' });
    expect({ ...merged }).toEqual({ a: 'json', b: 'query', id: '6' });
    expect({ ...mergeParams({ query, body: { form: { a: 'form' } }, path: {}, method: 'PUT' }) }).toEqual({ ...query, a: 'form' });
  });

  it('come from a form only for writing methods, but from JSON for any method', () => {
    expect(mergeParams({ query, body: { form: { a: 'form' } }, path: {}, method: 'GET' }).a).toBe('query');
    expect(mergeParams({ query, body: { json: { a: 'json' } }, path: {}, method: 'GET' }).a).toBe('json');
  });

  it('have no inherited names', () => {
    expect('toString' in mergeParams({ query: {}, body: {}, path: {}, method: 'GET' })).toBe(false);
  });
});

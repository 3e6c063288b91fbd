import { describe, expect, it } from '@jest/globals';
import { shownValue } from '../../src/records/explanation.ts';
import { describeRequests, expectError, type Json, type UserName } from '../support/site-client.ts';

const EVENT = { title: 'New', start_date: '2027-01-01 10:00', end_date: '2027-01-01 11:00' };

/** Parameters of our own namespaces whose unknown values are ignored, as the reference does. */
const IGNORED = /^\/(calendar|tribe)\/events\/v1\/\w+ order(by)?: {2}lacks/;

describeRequests('explanation of a refused parameter', (ask) => {
  const saidOf = async (body: object, as: UserName = 'admin') => (await ask.post('/events', { ...EVENT, ...body }, as)).body.data;

  it.each<[object, object]>([
    [
      { start_date: '31/12/2026 21:00' },
      { start_date: '"31/12/2026 21:00" is not a date and time that can be understood. For example: 2026-12-31 21:00' },
    ],
    [{ timezone: 'Roma' }, { timezone: '"Roma" is not a time zone. For example: Europe/Rome' }],
    [{ website: 'javascript:1' }, { website: '"javascript:1" is not a web address. For example: https://example.org/' }],
    [
      { venue: 999 },
      { venue: 'There is no such venue, you are not allowed to see it, or the new venue cannot be created from what was sent.' },
    ],
    [{ author: 'anna' }, { author: '"anna" is not an ID. For example: 12' }],
    [{ author: 999 }, { author: 'There is no such user.' }],
    [{ end_date: '2026-12-30 11:00' }, { end_date: 'The end must not come before the start. Received: "2026-12-30 11:00".' }],
  ])('of %j gives the reason and an example', async (body, params) =>
    expect(await saidOf(body)).toEqual({ status: 400, params, details: [] }),
  );

  it('lists the allowed statuses', async () =>
    expect((await saidOf({ status: 'published' })).params.status).toMatch(
      /^"published" is not one of publish, .*\. For example: publish$/,
    ));

  it('includes the expected type, also in details', async () => {
    const sentence = 'all_day is not of type boolean. "maybe" is neither yes nor no. For example: true';
    expect(await saidOf({ all_day: 'maybe' })).toEqual({
      status: 400,
      params: { all_day: sentence },
      details: { all_day: { code: 'rest_invalid_type', message: sentence, data: { param: 'all_day' } } },
    });
  });

  it('is in the language of the caller', async () => {
    const { body } = await ask.get('/events?per_page=abc&translation_language=it');
    expect(body.data.params).toEqual({ per_page: '"abc" non è un numero intero maggiore di zero. Per esempio: 12' });
  });

  it('is also given by wp/v2, in its format', async () => {
    const { body } = await ask.send('GET', '/wp-json/wp/v2/tribe_venue?per_page=101');
    const sentence = 'per_page must be between 1 (inclusive) and 100 (inclusive). Received: "101". For example: 10';
    expect(body.data).toMatchObject({
      params: { per_page: sentence },
      details: { per_page: { code: 'rest_out_of_bounds', message: sentence } },
    });
  });

  it('lists every value of every enum of every list', async () => {
    const { body: index } = await ask.send('GET', '/wp-json/');
    const faults: string[] = [];
    for (const [path, { endpoints }] of Object.entries<Json>(index.routes)) {
      const { args } = endpoints.find(({ methods }: Json) => methods.includes('GET')) ?? {};
      // The stream of changes ignores the language of texts, and its answer does not end.
      if (path.includes('(') || path.endsWith('/stream') || args === undefined) continue;
      for (const [name, { enum: values, items }] of Object.entries<Json>(args)) {
        const set: string[] | undefined = values ?? items?.enum;
        if (set === undefined) continue;
        const { body } = await ask.send('GET', `/wp-json${path}?${name}=zz`, { as: 'admin', headers: { 'X-TEC-EEA': 'yes' } });
        const sentence: string = body.data?.params?.[name] ?? '';
        const lacking = set.filter((value) => !sentence.includes(value));
        if (!sentence.includes('is not one of') || lacking.length > 0) faults.push(`${path} ${name}: ${sentence} lacks ${lacking}`);
      }
    }
    expect(faults.filter((fault) => !IGNORED.test(fault))).toEqual([]);
    expect(faults.some((fault) => IGNORED.test(fault))).toBe(true);
  });

  it('is the same for a missing record and for one that the caller may not see', async () => {
    const unknown = await ask.post('/events', { ...EVENT, venue: 9999 }, 'auth');
    const hidden = await ask.post('/events', { ...EVENT, venue: 18 }, 'auth');
    expectError(hidden, 400, 'rest_invalid_param', ['venue']);
    expect(hidden.body).toEqual(unknown.body);
  });

  it('does not contain the value of a secret', async () => {
    const { body, text } = await ask.get('/events?password[]=hunter2');
    expect(body.data.params.password).toMatch(/^The value that was sent is not a text\./);
    expect(text).not.toContain('hunter2');
  });
});

describe('shownValue', () => {
  it.each([
    ['x'.repeat(100), `"${'x'.repeat(100)}"`],
    ['x'.repeat(101), `"${'x'.repeat(99)}…"`],
    ['\u{1F600}'.repeat(1000), `"${'\u{1F600}'.repeat(99)}…"`],
    ['a\r\nb\u0000\u202Ec', '"a b c"'],
    ['<img src=x>', '"‹img src=x›"'],
    [12, '12'],
    [null, 'null'],
    [{ title: 'A', password: 'hunter2', deep: [{ user_pass: 'hunter2' }] }, '{"title":"A","password":"…","deep":[{"user_pass":"…"}]}'],
  ])('shows %j as %s', (value, shown) => expect(shownValue('title', value)).toBe(shown));
  it.each(['password', 'post_password', 'user_pass', '_wpnonce'])('never shows the value of %s', (name) =>
    expect(shownValue(name, 'hunter2')).toBeUndefined(),
  );
});

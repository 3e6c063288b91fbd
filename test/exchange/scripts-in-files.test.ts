import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { cleanPost } from '../../src/exchange/items/clean.ts';
import type { Item, PostItem } from '../../src/exchange/items/items.ts';
import type { Site } from '../../src/site.ts';
import { elementsOf, faultsOfElements } from '../support/active-html.ts';
import { describeDatabases } from '../support/databases.ts';
import { bareSite, importSource, metaRows, streamOf } from './sites.ts';

const SCRIPT = '<img src=x onerror=alert(1)>';

const venue = (metas: PostItem['metas']): PostItem => ({
  kind: 'venue',
  sourceId: '1',
  columns: { post_title: 'Theatre' },
  metas,
  links: [],
  terms: [],
  complete: true,
});

describeDatabases('scripts in imported files', (open) => {
  let site: Site;
  beforeAll(async () => {
    site = await bareSite(await open());
  });
  afterAll(() => site.close());

  it('are removed from names and profiles of users', async () => {
    const person: Item = {
      kind: 'author',
      sourceId: 'mallory',
      login: `mallory${SCRIPT}`,
      email: 'm@example.org',
      displayName: `Mallory ${SCRIPT}`,
      metas: [
        ['first_name', SCRIPT],
        ['description', `<b>Hi</b> ${SCRIPT}`],
      ],
    };
    await importSource(site, { name: () => 'x', entries: () => streamOf([person]) } as never);
    const user = (await site.db.from('users').where('user_email', 'm@example.org').first())!;
    expect(user.display_name).toBe('Mallory');
    const metas = await site.db
      .from('usermeta')
      .where('user_id', user.ID)
      .whereIn('meta_key', ['first_name', 'description'])
      .orderBy('meta_key');
    expect(metas.map(({ meta_value }) => meta_value)).toEqual(['<b>Hi</b> ', '']);
  });

  it('are removed from logins and email addresses', async () => {
    const person: Item = {
      kind: 'author',
      sourceId: 'eve',
      login: `"eve'${SCRIPT}`,
      email: `e@example.org${SCRIPT}`,
      displayName: 'Eve',
      metas: [],
    };
    await importSource(site, { name: () => 'x', entries: () => streamOf([person]) } as never);
    expect(await site.db.from('users').where('display_name', 'Eve').first()).toMatchObject({ user_login: 'eve', user_email: '' });
  });

  it('are removed from metas of untrusted files, including serialized metas', () => {
    const given = metaRows([
      ['_VenueCity', `Pisa ${SCRIPT}`],
      ['_VenueAddress', 'Via Roma 1 & 2'],
      ['_VenueURL', `https://example.org/"${SCRIPT}`],
      ['_VenueZip', `a:1:${SCRIPT};`],
      ['_VenuePhone', `a:1:{i:0;s:${SCRIPT.length}:"${SCRIPT}";}`],
      ['other_plugin', `a:2:{s:4:"text";s:${SCRIPT.length + 8}:"<b>x</b>${SCRIPT}";s:1:"n";i:2;}`],
    ]);
    const { metas, losses } = cleanPost(venue(given), { isTrusted: false });
    expect(metas).toEqual([
      ['_VenueCity', 'Pisa'],
      ['_VenueAddress', 'Via Roma 1 & 2'],
      ['_VenueURL', 'https://example.org/%22%3Cimg%20src=x%20onerror=alert(1)%3E'],
      ['_VenuePhone', 'a:1:{i:0;s:0:"";}'],
      ['other_plugin', 'a:2:{s:4:"text";s:21:"<b>x</b><img src="x">";s:1:"n";i:2;}'],
    ]);
    expect(losses.map(({ reason }) => reason)).toEqual([
      ...['html-filtered', 'html-filtered', 'value-refused', 'html-filtered', 'html-filtered'],
    ]);
    expect(cleanPost(venue(given), { isTrusted: true }).metas).toEqual(given);
  });

  it('are the only reason to change metas', () => {
    const given = metaRows([
      ['_VenueURL', 'https://example.org/a?b=1&c=d#e'],
      ['_VenueCity', 'Pisa & Lucca'],
      ['other_plugin', 'a:2:{s:1:"x";d:2;i:5;s:8:"<b>x</b>";}'],
    ]);
    expect(cleanPost(venue(given), { isTrusted: false })).toMatchObject({ metas: given, losses: [] });
  });

  it.each(['post_title', 'post_excerpt'] as const)('are not made by cutting a %s that is too long', (column) => {
    const text = (before: number) => `${'a'.repeat(before)}<a href="https://x.test/${'b'.repeat(40)}">x</a> & &`;
    for (let before = 65_480; before < 65_540; before += 1) {
      const { columns, losses } = cleanPost({ ...venue([]), columns: { [column]: text(before) } }, { isTrusted: false });
      const short = String(columns[column]);
      expect(Buffer.byteLength(short)).toBeLessThanOrEqual(65_535);
      expect(short.length).toBeGreaterThan(65_000);
      expect(faultsOfElements(elementsOf(short))).toEqual([]);
      expect(losses.map(({ reason }) => reason)).toContain('too-long');
    }
  });

  it.each([
    [`https://old.example.org/?p=5"${SCRIPT}`, 'https://old.example.org/?p=5%22%3Cimg%20src=x%20onerror=alert(1)%3E'],
    ['javascript:alert(1)', ''],
    ['java\tscript&#58;alert(1)', ''],
    ['https://old.example.org/?post_type=tribe_events&#038;p=5', 'https://old.example.org/?post_type=tribe_events&#038;p=5'],
    ['urn:uuid:1225c695-cfb8-4ebb-aaaa-80da344efa6a', 'urn:uuid:1225c695-cfb8-4ebb-aaaa-80da344efa6a'],
    ['old-id-5', 'old-id-5'],
  ])('are not in the GUID of a record: %j', (guid, stored) => {
    const { columns } = cleanPost({ ...venue([]), columns: { post_title: 'x', guid } }, { isTrusted: false });
    expect(columns.guid).toBe(stored);
    expect(cleanPost({ ...venue([]), columns: { guid } }, { isTrusted: true }).columns.guid).toBe(guid);
  });

  it.each([true, false])('are not in the scheme of an address, also in entities (trusted: %j)', (trusted) => {
    const addresses = [
      'javascript:alert(1)',
      'javascript&#58;alert(1)',
      'javascript&#x3Aalert(1)',
      'javascript&colon;alert(1)',
      '&#106;avascript:alert(1)',
      '&#106avascript:alert(1)',
      ' java&Tab;script:alert(1)',
      'java&NewLine;script&colon;alert(1)',
    ];
    for (const address of addresses) {
      const { metas, losses } = cleanPost(venue(metaRows([['_VenueURL', address]])), { isTrusted: trusted });
      expect([address, metas, losses.map(({ reason }) => reason)]).toEqual([address, [], ['url-refused']]);
    }
    const honest = [
      'https://example.org/?a&#58;b&copy=2',
      'www.example.org/a&b:c',
      'example.org:8080/&',
      '/a&b:c',
      '?a&b=c:d',
      '#a&b:c',
      'mailto:a&b@example.org',
    ].map((address): [string, string] => ['_VenueURL', address]);
    expect(cleanPost(venue(metaRows(honest)), { isTrusted: trusted }).metas).toEqual(honest);
  });

  it('are not in the URLs of custom fields', () => {
    const field = { meta: '_ecp_custom_1', name: 'more', label: 'More', choices: [] };
    const cleaned = (type: 'url' | 'text', value: string) =>
      cleanPost(venue(metaRows([[field.meta, value]])), { isTrusted: true }, [{ ...field, type }]).metas.map(([, stored]) => stored);
    expect(cleaned('url', 'javascript:alert(1)')).toEqual([]);
    expect(cleaned('url', 'https://example.org/')).toEqual(['https://example.org/']);
    expect(cleaned('text', 'javascript: a language')).toEqual(['javascript: a language']);
  });
});

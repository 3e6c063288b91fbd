import { describe, expect, it } from '@jest/globals';
import {
  sanitizeTitle,
  settleSlug,
  slugPathForQuery,
  suffixedSlug,
  trashedSlug,
  uniqueSlug,
  uniqueTermSlug,
} from '../../src/wordpress/slug.ts';

describe('sanitizeTitle', () => {
  it.each([
    ['New event', 'new-event'],
    ['  padded  ', 'padded'],
    ['Ünïcödé 日本 🎉', 'unicode-%e6%97%a5%e6%9c%ac-%f0%9f%8e%89'],
    ['line\nbreak', 'linebreak'],
    ['a/b', 'a-b'],
    ['a,b', 'ab'],
    ['A & B', 'a-b'],
    ['R&B;', 'r'],
    ['Quote "d" \'s\'', 'quote-d-s'],
    ['T <script>x</script> <b>b</b>', 't-x-b'],
    ['<a title="a > b">link</a>', 'link'],
    ['1 < 2', '1-2'],
    ['I <3 you', 'i'],
    ['a <!-- > --> b', 'a-b'],
    ['v1.2', 'v1-2'],
    ['a -- b', 'a-b'],
    ['-a-', 'a'],
    ['En – dash — “quoted” … done®', 'en-dash-quoted-done'],
    ['zero\u200bwidth', 'zerowidth'],
    ['thin\u2009space', 'thin-space'],
    ['no\u00a0break', 'no-break'],
    ['a&nbsp;b &ndash; c', 'a-b-c'],
    ['3×4', '3x4'],
    ['100% sure', '100-sure'],
    ['kept %20 octet', 'kept-%20-octet'],
    ['snake_case', 'snake_case'],
    ['ΟΔΟΣ', '%ce%bf%ce%b4%ce%bf%cf%83'],
    ['!!!', ''],
    ['', ''],
  ])('turns %j into the slug %j', (title, slug) => expect(sanitizeTitle(title)).toBe(slug));

  it('limits slugs to 200 bytes', () => expect(sanitizeTitle('x'.repeat(300))).toHaveLength(200));
  it('does not cut encoded characters apart', () => {
    expect(sanitizeTitle(`a${'日'.repeat(30)}`)).toBe(`a${'%e6%97%a5'.repeat(22)}`);
    expect(sanitizeTitle(`ab${'日'.repeat(22)}z`)).toBe(`ab${'%e6%97%a5'.repeat(22)}`);
  });
  it('keeps accents in queries', () => {
    expect(sanitizeTitle('Café', 'query')).toBe('caf%c3%a9');
    expect(sanitizeTitle('a–b', 'query')).toBe('a%e2%80%93b');
  });
  it('replaces unpaired surrogates', () => expect(sanitizeTitle('a\ud800b')).toBe('a%ef%bf%bdb'));
});

describe('slugPathForQuery', () => {
  it.each([
    ['new-year-concert', ['new-year-concert']],
    ['New-Year-Concert', ['new-year-concert']],
    ['%E6%97%A5%E6%9C%AC', ['%e6%97%a5%e6%9c%ac']],
    ['tokyo-%f0%9f%8e%b8', ['tokyo-%f0%9f%8e%b8']],
    ['tokyo-%25f0%259f%258e%25b8', ['tokyo-%25f0%259f%258e%25b8']],
    ['a%20b', ['a-b']],
    ['a+b', ['a-b']],
    ["o'hara", ['o%27hara']],
    ['x.json', ['x-json']],
    ['parent-event%2Fchild-event', ['parent-event', 'child-event']],
    ['%ff', ['%ff']],
    ['trashed-event__trashed', ['trashed-event__trashed']],
    ['/', []],
  ])('looks for %s as %j', (raw, path) => expect(slugPathForQuery(raw)).toEqual(path));
});

describe('uniqueSlug', () => {
  it.each([
    ['dup', [], 'dup'],
    ['dup', ['dup'], 'dup-2'],
    ['dup', ['dup', 'dup-2', 'dup-3'], 'dup-4'],
    ['dup-2', ['dup-2'], 'dup-2-2'],
    ['feed', [], 'feed-2'],
    ['embed', ['embed-2'], 'embed-3'],
  ])('of %s, with %j taken, is %s', (base, taken, slug) => expect(uniqueSlug(base, new Set(taken))).toBe(slug));

  it('leaves room for the number', () => {
    const long = 'x'.repeat(200);
    expect(uniqueSlug(long, new Set([long]))).toBe(`${'x'.repeat(198)}-2`);
  });
  it('does not cut encoded characters apart', () => {
    const long = '%e6%97%a5'.repeat(22);
    expect(uniqueSlug(`${long}ab`, (slug) => slug === `${long}ab`)).toBe(`${long}-2`);
    expect(uniqueSlug(`${long}-b`, (slug) => slug === `${long}-b`)).toBe(`${long}-2`);
  });
});

describe('uniqueTermSlug', () => {
  const slugs = (here: string[], anywhere: string[] = here) => ({ takenInTaxonomy: new Set(here), takenOnSite: new Set(anywhere) });
  it('keeps a slug that only another taxonomy uses', () =>
    expect(uniqueTermSlug('music', { parents: [], ...slugs([], ['music']) })).toBe('music'));
  it('appends a number to a slug that is taken', () => expect(uniqueTermSlug('free', { parents: [], ...slugs(['free']) })).toBe('free-2'));
  it('appends the slug of the parent to a slug that is taken', () =>
    expect(uniqueTermSlug('dup', { parents: ['music'], ...slugs(['dup', 'music']) })).toBe('dup-music'));
  it('leaves room for the number, and appends no parent if there is no room', () => {
    const long = 'x'.repeat(200);
    expect(uniqueTermSlug(long, { parents: ['music'], ...slugs([long]) })).toBe(`${'x'.repeat(198)}-2`);
    expect(uniqueTermSlug(long, { parents: [], ...slugs([long, `${'x'.repeat(198)}-2`]) })).toBe(`${'x'.repeat(198)}-3`);
  });
  it('appends all ancestors before it counts', () => {
    expect(uniqueTermSlug('a', { parents: ['b', 'c'], ...slugs(['a', 'a-b']) })).toBe('a-b-c');
    expect(uniqueTermSlug('a', { parents: ['b'], ...slugs(['a'], ['a', 'a-b']) })).toBe('a-b-2');
  });
});

describe('suffixedSlug', () => {
  it.each([
    ['music', 'music-it'],
    ['x'.repeat(200), `${'x'.repeat(197)}-it`],
    [`${'%d0%ba'.repeat(33)}ab`, `${'%d0%ba'.repeat(32)}-it`],
  ])('of %s is %s', (slug, suffixed) => expect(suffixedSlug(slug, '-it')).toBe(suffixed));
});

describe('trashedSlug', () => {
  it.each([
    ['concert', 'concert__trashed'],
    ['', '__trashed'],
    ['concert__trashed', 'concert__trashed'],
    ['x'.repeat(200), `${'x'.repeat(191)}__trashed`],
  ])('of %s is %s', (slug, trashed) => expect(trashedSlug(slug)).toBe(trashed));
});

describe('settleSlug', () => {
  const base = { title: 'A title', canPublish: true, draftsGetSlugs: false };
  const stored = (status: string, slug: string) => ({ status, slug });
  it.each([
    ['a published record: from the title', { status: 'publish' }, 'a-title', true],
    ['a draft: none', { status: 'draft' }, '', false],
    ["a venue's draft: from the title", { status: 'draft', draftsGetSlugs: true }, 'a-title', false],
    ['a draft with a slug in the request: that slug', { status: 'draft', requestedSlug: 'My Slug' }, 'my-slug', false],
    ['a record that awaits review: none', { status: 'pending', canPublish: false, requestedSlug: 'mine', draftsGetSlugs: true }, '', false],
    [
      'an update of a record that awaits review keeps it',
      { status: 'pending', canPublish: false, before: stored('pending', 'old'), requestedSlug: 'mine' },
      'old',
      false,
    ],
    [
      'a draft that is submitted for review keeps it',
      { status: 'pending', canPublish: false, before: stored('draft', 'old') },
      'old',
      false,
    ],
    ['a record that is withdrawn for review: none', { status: 'pending', canPublish: false, before: stored('publish', 'old') }, '', false],
    ['a requested slug without usable characters: from the title', { status: 'publish', requestedSlug: '!!!' }, 'a-title', true],
    [
      'an update with such a slug: from the title',
      { status: 'publish', before: stored('publish', 'old'), requestedSlug: '---' },
      'a-title',
      true,
    ],
    ['a draft with such a slug: none', { status: 'draft', requestedSlug: '!!!', draftsGetSlugs: true }, '', false],
    ['an update keeps it', { status: 'publish', before: stored('publish', 'old') }, 'old', true],
    ['an update sets it', { status: 'publish', before: stored('publish', 'old'), requestedSlug: 'new one' }, 'new-one', true],
    ['a draft that is published gets one', { status: 'publish', before: stored('draft', '') }, 'a-title', true],
    ['a draft keeps having none', { status: 'draft', before: stored('draft', ''), draftsGetSlugs: true }, '', false],
    ['trashing marks it', { status: 'trash', before: stored('publish', 'old') }, 'old__trashed', true],
    ['what is in the trash stays marked', { status: 'trash', before: stored('trash', 'old__trashed') }, 'old__trashed', true],
    ['what is made in the trash is not marked', { status: 'trash' }, 'a-title', true],
    ['leaving the trash gives it back', { status: 'publish', before: stored('trash', 'old__trashed'), desiredSlug: 'old' }, 'old', true],
    ['leaving the trash works without the note', { status: 'publish', before: stored('trash', 'old__trashed') }, 'old', true],
    ['leaving the trash removes a number of the mark', { status: 'draft', before: stored('trash', '__trashed-2') }, '', false],
    ['leaving the trash keeps another number', { status: 'draft', before: stored('trash', 'old-2__trashed') }, 'old-2', false],
    [
      'a draft that was never named leaves the trash by its title',
      { status: 'publish', before: stored('trash', '__trashed') },
      'a-title',
      true,
    ],
  ])('%s', (_, input, slug, unique) => expect(settleSlug({ ...base, ...input })).toEqual({ slug, unique }));
});

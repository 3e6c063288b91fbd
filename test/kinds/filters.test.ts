import { describe, expect, it } from '@jest/globals';
import { readSettings } from '../../src/calendar/settings.ts';
import { ApiError } from '../../src/errors.ts';
import { postsInLanguages } from '../../src/kinds/content-language.ts';
import { BLOG_FILTERS } from '../../src/kinds/core/blog-params.ts';
import { MEDIA_FILTERS } from '../../src/kinds/core/media-params.ts';
import { USER_FILTERS } from '../../src/kinds/core/people-params.ts';
import { postFilters } from '../../src/kinds/core/post-params.ts';
import { REVISION_FILTERS } from '../../src/kinds/core/revision-params.ts';
import { BLOG_CATEGORY_FILTERS, termFilters } from '../../src/kinds/core/term-params.ts';
import { kindOnSite } from '../../src/kinds/custom-fields.ts';
import { feedFilters } from '../../src/kinds/feed-list.ts';
import { narrow } from '../../src/kinds/filter.ts';
import { postKind, postKinds, termKinds } from '../../src/kinds/index.ts';
import type { Group, ListParam, ListParams, Narrowing } from '../../src/kinds/list-param.ts';
import type { Values } from '../../src/kinds/param.ts';
import { tecFilters } from '../../src/kinds/tec/params.ts';
import type { ContentLanguages } from '../../src/wordpress/content-languages.ts';

/* Tests of every declared filter of every list. Filters that are added to a list are tested automatically. */

const SETTINGS = readSettings(new Map([['timezone_string', 'Europe/Rome']]), 'wp_');
const NOW = new Date('2026-11-23T10:00:00Z');
const MOMENT = 1000;
const DAY = 86_400_000;

const SEATS = { meta: '_ecp_custom_2', name: 'seats', label: 'Seats', type: 'number', choices: [] } as const;
const WITH_FIELDS = kindOnSite(postKind('event'), { ...SETTINGS, calendar: { ...SETTINGS.calendar, customFields: [SEATS] } });

type AnyList = ListParams<unknown>;

/**
 * Lists by name; `echoes`: whether the URLs of their pages contain the values of the filters instead of the raw query.
 */
const LISTS: readonly (readonly [name: string, params: AnyList, echoes: boolean])[] = [
  ...postKinds.flatMap((kind) => [
    [kind.path, kind.filters, true] as const,
    [`wp/v2/${kind.postType}`, postFilters(kind), false] as const,
    [`tec/v1/${kind.path}`, tecFilters(kind), false] as const,
  ]),
  ['wp/v2/media', MEDIA_FILTERS, false],
  ['wp/v2/posts', BLOG_FILTERS.post, false],
  ['wp/v2/pages', BLOG_FILTERS.page, false],
  ['wp/v2/categories', BLOG_CATEGORY_FILTERS, false],
  ...termKinds.flatMap((kind) => [[kind.path, kind.filters, true] as const, [`wp/v2/${kind.restBase}`, termFilters(kind), false] as const]),
  ['wp/v2/users', USER_FILTERS, false],
  ['wp/v2 revisions', REVISION_FILTERS, false],
  ['feeds', feedFilters, false],
  ['events with custom fields', WITH_FIELDS.filters, true],
];
const FILTERS = LISTS.flatMap(([list, params, echoes]) =>
  Object.entries(params).flatMap(([name, param]) => ('controls' in param ? [] : [[list, name, params, param, echoes] as const])),
);
const CONTROLS = LISTS.flatMap(([list, params]) =>
  Object.entries(params).flatMap(([name, param]) => ('controls' in param ? [[list, name, params, param] as const] : [])),
);

/** Candidate values of a parameter. Its grammar decides which of them are valid. */
const SENT: readonly unknown[] = [
  '1 hour ago',
  'tomorrow',
  '2026-05-01T10:00:00',
  'post_title',
  'asc',
  'ASC',
  'title',
  'name',
  'view',
  'draft',
  'image',
  'image/png',
  'authors',
  'aside',
  'OR',
  { seats: 12 },
  [12],
  12,
  true,
  false,
];
const valuesOf = ({ grammar }: ListParam<unknown, unknown>): unknown[] =>
  SENT.flatMap((sent) => {
    const { value, fault, schemaFault: late } = grammar.read(sent, () => true, {});
    return fault || late || value === undefined ? [] : [value];
  });

/** Narrows a list; undefined if the values are refused, such as a longitude without a latitude. */
function outcome(params: AnyList, values: Values, later = 0): Narrowing<unknown> | undefined {
  try {
    return narrow(params, values, { settings: SETTINGS, now: new Date(NOW.getTime() + later) });
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** Returns all valid values of a parameter: alone, and together with the other parameters of its group. */
function saidWith(name: string, params: AnyList): { readonly values: Values; readonly without: Values }[] {
  const param = params[name]!;
  const group: Group<Values, unknown> | undefined = 'group' in param ? param.group : undefined;
  const others = Object.entries(params).filter(([other, one]) => group && other !== name && 'group' in one && one.group === group);
  const beside = [
    {},
    ...['last', 'first'].map((end) =>
      Object.fromEntries(others.map(([other, one]) => [other, valuesOf(one).at(end === 'first' ? 0 : -1)])),
    ),
  ];
  return beside.flatMap((without) => valuesOf(param).map((value) => ({ values: { ...without, [name]: value }, without })));
}

describe('filters of all lists', () => {
  it('include known examples', () => {
    expect(FILTERS.map(([list, name]) => `${list} ${name}`)).toEqual(
      expect.arrayContaining([
        'events start_date',
        'venues published_after',
        'wp/v2/tribe_events tags',
        'tec/v1/organizers search',
        'tags slug',
        'wp/v2/users who',
        'wp/v2 revisions include',
        'feeds until',
        'events with custom fields custom_fields',
      ]),
    );
  });

  it.each(FILTERS)('%s: %s changes the conditions of the list', (_list, name, params) => {
    const narrows = saidWith(name, params).some(({ values, without }) => {
      const [said, unsaid] = [outcome(params, values), outcome(params, without)];
      return said && JSON.stringify(said.conditions) !== JSON.stringify(unsaid?.conditions);
    });
    expect(narrows).toBe(true);
  });

  it.each(FILTERS.filter(([, , , , echoes]) => echoes))(
    '%s: %s is included in the URLs of pages whenever it changes the conditions',
    (_list, name, params) => {
      const narrowing = saidWith(name, params).flatMap(({ values, without }) => {
        const [said, unsaid] = [outcome(params, values), outcome(params, without)];
        return said && JSON.stringify(said.conditions) !== JSON.stringify(unsaid?.conditions) ? [said] : [];
      });
      expect(narrowing.length).toBeGreaterThan(0);
      for (const said of narrowing) {
        // The parameter of custom fields has a member for each of them.
        expect(said.echo.map(([echoed]) => echoed.replace(/\[.*/, ''))).toContain(name);
      }
    },
  );

  it.each(FILTERS)('%s: %s declares when the list changes with time', (_list, name, params) => {
    for (const { values } of saidWith(name, params)) {
      const now = outcome(params, values);
      const changes = (later: number) => JSON.stringify(outcome(params, values, later)?.conditions) !== JSON.stringify(now?.conditions);
      if (!now) continue;
      if (changes(MOMENT)) expect([values, now.timeliness]).toEqual([values, 'always']);
      else if (changes(DAY)) expect([values, now.timeliness]).not.toEqual([values, 'never']);
    }
  });
});

describe('filters by tickets, whose changes are not noticed beside WordPress', () => {
  it.each([
    [true, 'always'],
    [false, 'never'],
  ] as const)('age with the time if the database is shared: %s', (shared, timeliness) => {
    const dates = { start_date: '2026-01-01', end_date: '2027-01-01' };
    for (const ticketed of [true, false]) {
      const list = narrow(postKind('event').filters, { ...dates, ticketed }, { settings: { ...SETTINGS, shared }, now: NOW });
      expect(list.timeliness).toBe(timeliness);
    }
  });
});

describe('additional parameters of all lists', () => {
  /** Without their value, a list would have other records. */
  const NAMES_OF_RECORDS = ['external_id'];
  const CONTENT_LANGUAGES: ContentLanguages = {
    form: 'polylang',
    pluginRuns: false,
    sharesSlugs: false,
    languages: [],
    defaultCode: 'en',
    translated: postKinds.map(({ postType }) => postType),
    withFallback: [],
    urls: { by: 'nothing' },
  };
  const IN_LANGUAGES = postKinds.map(
    (kind) => [`${kind.path} in languages`, postsInLanguages(kind, { contentLanguages: CONTENT_LANGUAGES }).filters] as const,
  );

  it('count as absent if they are empty', () => {
    const additional = [...LISTS, ...IN_LANGUAGES].flatMap(([list, params]) =>
      Object.entries<ListParam<unknown, unknown>>(params).flatMap(([name, param]) =>
        param.isAdditional && !NAMES_OF_RECORDS.includes(name) ? [{ name: `${list} ${name}`, param }] : [],
      ),
    );
    expect(additional.map(({ name }) => name)).toEqual(expect.arrayContaining(['feeds until', 'events in languages language_fallback']));
    const refusing = additional.filter(({ param: { grammar, ignoresEmpty } }) => {
      const { fault, schemaFault } = grammar.read('', () => true, {});
      return !ignoresEmpty && (fault ?? schemaFault) !== undefined;
    });
    expect(refusing.map(({ name }) => name)).toEqual([]);
  });
});

describe('other parameters of all lists', () => {
  it.each(CONTROLS)('%s: %s does not change the conditions of the list', (_list, name, params, param) => {
    const without = outcome(params, {});
    expect(without).toBeDefined();
    const values = valuesOf(param);
    expect(values).not.toEqual([]);
    for (const value of values) expect(outcome(params, { [name]: value })?.conditions).toEqual(without?.conditions);
  });
});

import { describe, expect, it } from '@jest/globals';
import { readSettings } from '../../src/calendar/settings.ts';
import { exactBounds } from '../../src/calendar/window.ts';
import { feedFilters, narrowSpan } from '../../src/kinds/feed-list.ts';
import { narrow } from '../../src/kinds/filter.ts';
import { postKinds } from '../../src/kinds/index.ts';
import type { ListParams } from '../../src/kinds/list-param.ts';

/* A time gives the same bound in a list, in whatever form it is written. */

const NOW = new Date('2026-11-23T10:00:00Z');
const contexts = ['event', 'site'].map((mode) => ({
  settings: readSettings(
    new Map([
      ['timezone_string', 'Europe/Rome'],
      ['tribe_events_calendar_options', `a:1:{s:26:"tribe_events_timezone_mode";s:${mode.length}:"${mode}";}`],
    ]),
    'wp_',
  ),
  now: NOW,
}));

/** Groups of spellings of the same time. */
const SAME: readonly (readonly (string | number)[])[] = [
  ['1767225600', 1767225600, ' 1767225600.5', '@1767225600', '2026-01-01T00:00:00Z', '2026-01-01 01:00:00', '2026-01-01T05:00:00+05:00'],
  ['20261201', '1970-08-23T12:06:41Z'],
  ['0', '1970-01-01T00:00:00Z'],
  ['-86400', '1969-12-31T00:00:00Z'],
  ['99999999999999', '9999-12-31 23:59:59', '1e200', 1e200, '+8000 years', '@8000000000000'],
  ['-99999999999999', '0001-01-01', '-1e200', '-5000 years'],
];

const MOMENTS = ['modified_after', 'modified_before', 'published_after', 'published_before'] as const;
const LISTS: readonly (readonly [string, string, ListParams])[] = [
  ...postKinds.flatMap((kind) => MOMENTS.map((name) => [kind.path, name, kind.filters as ListParams] as const)),
  ['feeds', 'until', feedFilters],
];

describe('time that bounds a list', () => {
  it.each(LISTS)('has the same meaning as a number and as text: %s, %s', (_, name, params) => {
    for (const context of contexts)
      for (const forms of SAME) {
        const conditions = forms.map((form) => {
          const { value } = params[name]!.grammar.read(form, () => true, {});
          return narrow({ [name]: params[name]! }, { [name]: value }, context as never).conditions;
        });
        expect(conditions[0]).toHaveLength(1);
        expect(conditions).toEqual(forms.map(() => conditions[0]));
        expect(JSON.stringify(conditions[0])).toMatch(/"[1-9]\d{3}-\d\d-\d\d \d\d:\d\d:\d\d"/);
      }
  });
});

describe('hour that the clock repeats, on a site that compares UTC times', () => {
  const settings = contexts[1]!.settings;
  it.each(['2026-10-25T00:20:40Z', '2026-10-25T01:20:40Z'])('lists events that have not ended at %s', (now) => {
    const bound = `${now.slice(0, 10)} ${now.slice(11, 16)}:00`;
    for (const view of ['list', 'past'] as const)
      expect(narrowSpan({ view }, { settings, now: new Date(now) }).conditions).toMatchObject([{ column: 'end_date', value: bound }]);
  });
  it.each(['2026-10-25T00:20:40Z', '2026-10-25T01:20:40Z'])('keeps the exact bound %s', (now) => {
    const bounds = exactBounds({ ends_after: now }, { siteZone: settings.zone, now: NOW, mode: 'site' });
    expect(bounds).toEqual([{ column: 'end_date', op: '>', value: now.replace('T', ' ').replace('Z', '') }]);
  });
});

import { parsePhpDate } from '../wordpress/php-date.ts';
import { searchPieces } from '../wordpress/search.ts';
import { tableOf } from '../wordpress/table.ts';
import { nowLocal } from '../wordpress/time.ts';
import type { Condition, Narrowed, RuleContext, Values } from './kind.ts';
import { orderOf } from './post-fields.ts';
import { areAbsolute } from './timeliness.ts';

/** Orders that a list of venues or organizers can be asked for. */
const ORDERS = tableOf({ date: 'date', title: 'title', name: 'title', modified: 'modified', id: 'id', slug: 'slug' } as const);

/**
 * Conditions of a list of venues or organizers. `link`: the meta by which events name them; `metas`: those that a search looks into.
 * Upcoming means from now on by the site's wall clock (decision D22: all upcoming events).
 */
export function linkedConditions(values: Values, context: RuleContext, kind: { link: string; metas: readonly string[] }): Narrowed {
  const conditions: Condition[] = [...modifiedConditions(values, context)];
  const echo: [string, string][] = [];
  if (typeof values.search === 'string') {
    conditions.push({
      by: 'words',
      terms: searchPieces(values.search),
      columns: ['post_title', 'post_content', 'post_excerpt'],
      metas: kind.metas,
      together: true,
    });
    echo.push(['search', values.search]);
  }
  if (typeof values.event === 'number') {
    conditions.push({ by: 'linkedFrom', key: kind.link, event: values.event });
    echo.push(['event', String(values.event)]);
  }
  if (values.has_events !== undefined && values.has_events !== null) {
    conditions.push({ by: 'linkedFromAny', key: kind.link, wanted: values.has_events === true });
    echo.push(['has_events', String(values.has_events)]);
  }
  if (values.only_with_upcoming === true) {
    conditions.push({ by: 'linkedFromAny', key: kind.link, wanted: true, upcomingSince: nowLocal(context.now, context.settings.zone) });
    echo.push(['only_with_upcoming', 'true']);
  }
  const timeliness = values.only_with_upcoming === true || !areAbsolute(values, MODIFIED) ? 'always' : 'never';
  return {
    conditions,
    order: orderOf(values, ORDERS, { by: 'date', descending: true }),
    echo: [...echo, ...additionsEcho(values)],
    timeliness,
  };
}

/** Parameters that bound a list by its records' last change. */
export const MODIFIED = ['modified_after', 'modified_before'] as const;

/** `modified_after` and `modified_before`, wall clock of the site. */
export function modifiedConditions(values: Values, { settings, now }: RuleContext): Condition[] {
  const moment = (value: unknown) => parsePhpDate(String(value), now, settings.zone)?.local;
  const conditions: Condition[] = [];
  for (const [name, op] of [
    ['modified_after', '>'],
    ['modified_before', '<'],
  ] as const) {
    const value = values[name] === undefined ? undefined : moment(values[name]);
    if (value !== undefined) conditions.push({ by: 'modified', op, value });
  }
  return conditions;
}

/** What the URLs of a list carry of the additions of ours. */
export const additionsEcho = (values: Values): [string, string][] =>
  [...MODIFIED, 'order', 'orderby'].filter((name) => typeof values[name] === 'string').map((name) => [name, String(values[name])]);

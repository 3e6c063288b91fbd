import { boundLocal, boundUtc } from '../calendar/window.ts';
import type { PostColumn } from '../wordpress/rows.ts';
import { parseSearch } from '../wordpress/search.ts';
import type { Condition } from './condition.ts';
import type { Filter } from './list-param.ts';
import type { RuleContext } from './rendering.ts';

/*
 * Conditions of filters that several lists share, as functions from an accepted value to conditions. `guarded` is
 * explained with `Condition`.
 */

type ToConditions<T> = (value: T, context: RuleContext) => Condition[];

/** Records published or changed after a moment (`>`) or before it (`<`), in the site's local time. */
export const byMoment =
  (by: 'modified' | 'published', op: '<' | '>'): ToConditions<string | number> =>
  (value, { settings, now }) => [{ by, op, value: boundLocal(value, now, settings.zone) }];

/**
 * Records published or changed after or before a moment, compared in UTC if possible: when clocks are set back, local
 * times occur twice.
 */
export const byInstant =
  (by: 'modified' | 'published', op: '<' | '>'): ToConditions<string | number> =>
  (value, { settings: { zone }, now }) => [{ by, op, value: boundLocal(value, now, zone), utc: boundUtc(value, now, zone) }];

/** Filters by ids; an empty list does not filter. */
export const byIds =
  (by: 'id' | 'notId' | 'author' | 'notAuthor' | 'parents' | 'notParents'): ToConditions<readonly number[]> =>
  (ids) =>
    ids.length === 0 ? [] : [{ by, ids }];

/**
 * A search like WordPress's (`WP_Query::parse_search`): each term must occur in the title, the excerpt, the content or
 * one of `metas`.
 */
export const bySearch =
  (metas: readonly string[] = [], columns: readonly PostColumn[] = SEARCHED): ToConditions<string> =>
  (search) => [{ by: 'words', terms: parseSearch(search), columns, metas, together: false }];

const SEARCHED = ['post_title', 'post_excerpt', 'post_content'] as const;

/** Posts with one of these terms, or one of their descendants. */
export const byTerms =
  (taxonomy: string, { guarded }: { readonly guarded: boolean }): ToConditions<readonly number[]> =>
  (ids) => [{ by: 'terms', taxonomy, ids, withDescendants: true, guarded }];

/** Events that link to one of these venues or organizers by the meta `key`. */
export const byLinks =
  (key: string, { guarded }: { readonly guarded: boolean }): ToConditions<readonly number[]> =>
  (ids) => [{ by: 'links', key, ids, guarded }];

/** Filters by whether there is a row of the meta `key`, with any value. */
export const byMeta =
  (key: string, { guarded }: { readonly guarded: boolean }): ToConditions<boolean> =>
  (isPresent) => [{ by: 'meta', key, isPresent, guarded }];

/** Children of a post. */
export const byParent: ToConditions<number> = (id) => [{ by: 'parent', id }];

/**
 * Filters by whether there are published tickets for an event. Tickets are posts of other plugins: no change of them is
 * noticed where WordPress shares the database, and nobody changes them elsewhere.
 */
export const byTickets: Pick<Filter<boolean>, 'narrows' | 'ages'> = {
  narrows: (hasTickets) => [{ by: 'ticketed', hasTickets }],
  ages: (_, { settings: { shared } }) => (shared ? 'always' : 'never'),
};

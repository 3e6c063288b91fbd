import { boundLocal, boundUtc } from '../calendar/window.ts';
import type { PostColumn } from '../wordpress/rows.ts';
import { parseSearch } from '../wordpress/search.ts';
import type { Condition } from './condition.ts';
import type { RuleContext } from './rendering.ts';

/*
 * The conditions of filters that several lists share: functions from an accepted value to conditions. `guarded` is
 * explained with `Condition`.
 */

type Narrows<T> = (value: T, context: RuleContext) => Condition[];

/** Records that were published or changed after a moment (`>`), or before it (`<`), by the wall clock of the site. */
export const byMoment =
  (by: 'modified' | 'published', op: '<' | '>'): Narrows<string | number> =>
  (value, { settings, now }) => [{ by, op, value: boundLocal(value, now, settings.zone) }];

/** The same by the moment itself: a clock that shows an hour twice does not tell what came before what. */
export const byInstant =
  (by: 'modified' | 'published', op: '<' | '>'): Narrows<string | number> =>
  (value, { settings: { zone }, now }) => [{ by, op, value: boundLocal(value, now, zone), utc: boundUtc(value, now, zone) }];

/** Ids of some sort; an empty list asks for nothing. */
export const byIds =
  (by: 'id' | 'notId' | 'author' | 'notAuthor' | 'parents' | 'notParents'): Narrows<readonly number[]> =>
  (ids) =>
    ids.length === 0 ? [] : [{ by, ids }];

/**
 * A search of WordPress's (`WP_Query::parse_search`): each term in the title, the excerpt or the content, or in one of
 * `metas`.
 */
export const bySearch =
  (metas: readonly string[] = [], columns: readonly PostColumn[] = SEARCHED): Narrows<string> =>
  (search) => [{ by: 'words', terms: parseSearch(search), columns, metas, together: false }];

const SEARCHED = ['post_title', 'post_excerpt', 'post_content'] as const;

export const byTerms =
  (taxonomy: string, { guarded }: { readonly guarded: boolean }): Narrows<readonly number[]> =>
  (ids) => [{ by: 'terms', taxonomy, ids, guarded }];

/** Events that name one of these venues or organizers in the meta `key`. */
export const byLinks =
  (key: string, { guarded }: { readonly guarded: boolean }): Narrows<readonly number[]> =>
  (ids) => [{ by: 'links', key, ids, guarded }];

/** Whether there is a row of the meta `key`, of any value. */
export const byMeta =
  (key: string, { guarded }: { readonly guarded: boolean }): Narrows<boolean> =>
  (present) => [{ by: 'meta', key, present, guarded }];

export const byParent: Narrows<number> = (id) => [{ by: 'parent', id }];

export const byTickets: Narrows<boolean> = (wanted) => [{ by: 'ticketed', wanted }];

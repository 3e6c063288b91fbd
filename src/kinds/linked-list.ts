import { searchPieces } from '../wordpress/search.ts';
import { tableOf } from '../wordpress/table.ts';
import { localFromDate } from '../wordpress/zones.ts';
import type { Condition } from './condition.ts';
import { byExternalId, EXTERNAL_ID_PARAM } from './external-id.ts';
import { control, filter } from './filter.ts';
import { truthyFlag } from './grammars/flags.ts';
import type { Grammar } from './grammars/grammar.ts';
import { idOf, search } from './grammars/grammars.ts';
import { listStatus } from './grammars/lists.ts';
import type { LinkedFromEvents } from './kind.ts';
import type { Filter, Orders } from './list-param.ts';
import { additions, paging } from './post-fields.ts';

/** Orders of a list of venues or organizers. */
export const linkedOrders: Orders = {
  names: tableOf({ date: 'date', title: 'title', name: 'title', modified: 'modified', id: 'id', slug: 'slug' } as const),
  defaultOrder: () => ({ by: 'date', descending: true }),
};

/** Parameters of a list of venues or organizers. */
export function linkedFilters(capabilities: string, { link, searchedMetas }: LinkedFromEvents) {
  const { has_events, only_with_upcoming } = linkFilters(link);
  return {
    ...paging,
    search: filter({ grammar: search, narrows: (phrase) => [pluginSearch(phrase, searchedMetas)] }),
    event: fromEvent(link, idOf('event')),
    has_events,
    only_with_upcoming: { ...only_with_upcoming, fallback: false },
    status: control(listStatus(capabilities)),
    external_id: filter({ ...EXTERNAL_ID_PARAM, narrows: byExternalId, isLast: true }),
    ...additions(linkedOrders),
  };
}

/** Filters by an event: only records that it links to. */
export const fromEvent = (key: string, grammar: Grammar<unknown, number>): Filter<number> =>
  filter({ grammar, narrows: (event) => [{ by: 'linkedFrom', key, event }] });

/**
 * Filters records by whether any event links to them. Upcoming events start now or later in the site's local time
 * (decision D22: all upcoming events).
 */
export const linkFilters = (key: string) => ({
  has_events: filter({ grammar: truthyFlag, narrows: (isLinked) => [{ by: 'linkedFromAny', key, isLinked }] }),
  only_with_upcoming: filter({
    grammar: truthyFlag,
    narrows: (isLinked, { settings, now }) =>
      isLinked ? [{ by: 'linkedFromAny', key, isLinked, upcomingSince: localFromDate(now, settings.zone) }] : [],
    echo: (isSet) => (isSet ? 'true' : undefined),
    ages: (isSet) => (isSet ? 'always' : 'never'),
  }),
});

/** Returns the condition of a search as the plugin does it: all pieces of the phrase in the same text. */
const pluginSearch = (phrase: string, metas: readonly string[]): Condition => ({
  by: 'words',
  terms: searchPieces(phrase),
  columns: ['post_title', 'post_content', 'post_excerpt'],
  metas,
  together: true,
});

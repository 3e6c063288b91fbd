import { trimOf } from '../../wordpress/trim.ts';
import type { PersonCondition } from '../condition.ts';
import { filterOf } from '../filter.ts';
import { booleanOrValues, choice, searchPhrase, strings } from '../grammars/schema.ts';
import { postTypes } from '../index.ts';
import type { ListParams } from '../list-param.ts';
import type { ValuesOf } from '../param.ts';
import { ITEM_LIST_PARAMS, OFFSET, orderParams, unlessEmpty } from './params.ts';

/*
 * Parameters of the routes of people.
 */

const personFilter = filterOf<PersonCondition>();

/**
 * Filters of a list of people (`WP_REST_Users_Controller::get_collection_params`). Asterisks around the search text are
 * wildcards in WordPress; they are removed, since the search matches any part of a text (`WP_User_Query`).
 */
export const USER_FILTERS = {
  ...ITEM_LIST_PARAMS,
  search: personFilter({
    grammar: searchPhrase,
    narrows: (text) => {
      const search = trimOf(text, '*');
      return unlessEmpty(search, { search });
    },
  }),
  ...OFFSET,
  ...orderParams(['id', 'include', 'name', 'registered_date', 'slug', 'include_slugs', 'email', 'url'], 'name', 'asc'),
  slug: personFilter({ grammar: strings, narrows: (slugs) => unlessEmpty(slugs, { slugs }) }),
  roles: personFilter({ grammar: strings, narrows: (roles) => unlessEmpty(roles, { roles }) }),
  capabilities: personFilter({ grammar: strings, narrows: (capabilities) => unlessEmpty(capabilities, { capabilities }) }),
  who: personFilter({ grammar: choice(['authors']), narrows: () => [{ writers: true }] }),
  has_published_posts: personFilter({
    grammar: booleanOrValues(['post', 'page', 'attachment', ...postTypes]),
    narrows: (types) => (types === false || (types !== true && types.length === 0) ? [] : [{ publishedIn: types }]),
  }),
} satisfies ListParams<PersonCondition>;

export type PeopleListValues = ValuesOf<typeof USER_FILTERS>;

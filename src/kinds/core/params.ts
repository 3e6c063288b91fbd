import type { PersonCondition, TermCondition } from '../condition.ts';
import { control, filterOf, groupOf } from '../filter.ts';
import { MAX_BYTES } from '../grammars/grammar.ts';
import { anything } from '../grammars/grammars.ts';
import { booleanParam, choice, integer, integers, searchPhrase } from '../grammars/schema.ts';
import type { Params, ValuesOf } from '../param.ts';

/*
 * Parameters of WordPress's own routes (`wp/v2`), as its controllers declare them.
 */

export const MAX_PAGE_SIZE = 100;
/** Default number of records on a page. */
export const DEFAULT_PAGE_SIZE = 10;

export const CONTEXT = { context: control(choice(['view', 'embed', 'edit']), { fallback: 'view' }) };
/** The context parameter of records that cannot be edited here. */
export const READ_CONTEXT = { context: control(choice(['view', 'embed']), { fallback: 'view' }) };
export const ID = { id: { grammar: integer(), required: true } } satisfies Params;
export const FORCE_PARAM = { force: { grammar: booleanParam, fallback: false } } satisfies Params;
/** The record to delete, and whether permanently (`force`) or by moving it to the trash. */
export interface Removal {
  readonly id: number;
  readonly force?: boolean | undefined;
}
/** A parameter that every reading route takes but does not describe. */
export const EMBED = { _embed: { grammar: anything(MAX_BYTES.word) } } satisfies Params;

export const PAGING = {
  page: control(integer({ minimum: 1 }), { fallback: 1 }),
  per_page: control(integer({ minimum: 1, maximum: MAX_PAGE_SIZE }), { fallback: DEFAULT_PAGE_SIZE }),
};
/** Number of records to skip. */
export const OFFSET = { offset: control(integer()) };

/** Start and length of a page. */
export type PageValues = ValuesOf<typeof PAGING & typeof OFFSET>;
/** The context in which records are shown. */
export type ContextValues = ValuesOf<typeof CONTEXT>;

/** Returns the parameters of an order (`WP_REST_Controller::get_collection_params`). */
export const orderParams = <const T extends string>(orders: readonly T[], defaultOrder: T, direction: 'asc' | 'desc') => ({
  order: control(choice(['asc', 'desc']), { fallback: direction }),
  orderby: control(choice(orders), { fallback: defaultOrder }),
});

/** Returns the condition as a list, or no condition if the value is empty. */
export const unlessEmpty = <T extends string | readonly unknown[], C>(value: T, condition: C): C[] =>
  value.length === 0 ? [] : [condition];

const itemFilter = filterOf<TermCondition & PersonCondition>();
/** Parameters by which both terms and people are searched and picked. */
export const ITEM_LIST_PARAMS = {
  ...CONTEXT,
  ...PAGING,
  search: itemFilter({ grammar: searchPhrase, narrows: (search) => unlessEmpty(search, { search }) }),
  // Items in `include` are listed even if `exclude` names them (`WP_Term_Query`, `WP_User_Query`).
  ...groupOf<TermCondition & PersonCondition>()({
    params: { exclude: { grammar: integers, fallback: [] }, include: { grammar: integers, fallback: [] } },
    narrows: ({ exclude = [], include = [] }) => (include.length === 0 ? unlessEmpty(exclude, { exclude }) : [{ include }]),
  }),
};

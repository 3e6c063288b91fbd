import type { PersonCondition, TermCondition } from '../condition.ts';
import { control, filterOf, groupOf } from '../filter.ts';
import { LENGTHS } from '../grammars/grammar.ts';
import { anything } from '../grammars/grammars.ts';
import { choice, integer, integers, phrase, truth } from '../grammars/schema.ts';
import type { Params, ValuesOf } from '../param.ts';

/*
 * What WordPress's own routes (`wp/v2`) take, as its controllers declare it.
 */

export const LONGEST_PAGE = 100;
/** How many records a page holds unless it is said. */
export const USUAL_PAGE = 10;

export const CONTEXT = { context: control(choice(['view', 'embed', 'edit']), { fallback: 'view' }) };
/** The same for what nobody edits here. */
export const READ_CONTEXT = { context: control(choice(['view', 'embed']), { fallback: 'view' }) };
export const ID = { id: { grammar: integer(), required: true } } satisfies Params;
export const FORCE = { force: { grammar: truth, fallback: false } } satisfies Params;
/** Which record to remove, and whether for good (`force`) rather than into the trash. */
export interface Removal {
  readonly id: number;
  readonly force?: boolean | undefined;
}
/** What every reading route takes without describing it. */
export const EMBED = { _embed: { grammar: anything(LENGTHS.word) } } satisfies Params;

export const PAGING = {
  page: control(integer({ minimum: 1 }), { fallback: 1 }),
  per_page: control(integer({ minimum: 1, maximum: LONGEST_PAGE }), { fallback: USUAL_PAGE }),
};
/** How many records to pass over. */
export const OFFSET = { offset: control(integer()) };

/** Where a page begins and how long it is. */
export type PageValues = ValuesOf<typeof PAGING & typeof OFFSET>;
/** In which form records are shown. */
export type ContextValues = ValuesOf<typeof CONTEXT>;

export const orderParams = <const T extends string>(orders: readonly T[], standard: T, direction: 'asc' | 'desc') => ({
  order: control(choice(['asc', 'desc']), { fallback: direction }),
  orderby: control(choice(orders), { fallback: standard }),
});

/** What a list that names nothing, or a search for nothing, asks for. */
export const some = <T extends string | readonly unknown[], C>(value: T, condition: C): C[] => (value.length === 0 ? [] : [condition]);

const picking = filterOf<TermCondition & PersonCondition>();
/** Terms and people are searched and picked in the same way. */
export const PICKED_LIST = {
  ...CONTEXT,
  ...PAGING,
  search: picking({ grammar: phrase, narrows: (search) => some(search, { search }) }),
  // What is named is listed, whatever else leaves it out (`WP_Term_Query`, `WP_User_Query`).
  ...groupOf<TermCondition & PersonCondition>()({
    params: { exclude: { grammar: integers, fallback: [] }, include: { grammar: integers, fallback: [] } },
    narrows: ({ exclude = [], include = [] }) => (include.length === 0 ? some(exclude, { exclude }) : [{ include }]),
  }),
};

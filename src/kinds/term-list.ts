import { sanitizeTitle } from '../wordpress/slug.ts';
import { tableOf } from '../wordpress/table.ts';
import type { TermCondition, TermOrder } from './condition.ts';
import { control, filterOf, groupOf } from './filter.ts';
import { flag } from './grammars/flags.ts';
import { type Grammar, MAX_BYTES } from './grammars/grammar.ts';
import { idOf, parentTerm, search, text } from './grammars/grammars.ts';
import { termsById } from './grammars/lists.ts';
import type { TermFilters } from './kind.ts';
import type { TermKindName } from './kind-names.ts';
import type { Filter } from './list-param.ts';
import { paging } from './post-fields.ts';

const filter = filterOf<TermCondition>();
const group = groupOf<TermCondition>();

/** Orders of a list of terms, in any case. Any other name means the default order, `name`. */
const ORDERS = tableOf({
  name: 'name', id: 'id', term_id: 'id', slug: 'slug', count: 'count', description: 'description', parent: 'parent', term_group: 'term_group', include: 'include', include_slugs: 'include_slugs',
} as const satisfies Record<string, TermOrder>); // biome-ignore format: pairs

/** Returns the requested order. */
export const termOrder = ({
  order = 'asc',
  orderby = 'name',
}: {
  readonly order?: string | undefined;
  readonly orderby?: string | undefined;
}) => ({
  order: ORDERS.get(orderby.toLowerCase()) ?? ('name' as const),
  descending: order.toLowerCase() !== 'asc',
});

/** A word, described as one of these; others are accepted too. */
const anyWord = (words: Iterable<string>): Grammar<string> => {
  const word = text(MAX_BYTES.word);
  return { ...word, json: { ...word.json, enum: [...words] } };
};
const ordering = (words: Iterable<string>) => control(anyWord(words), { echo: (value) => value });

const postParams = { post: { grammar: idOf('event') }, event: { grammar: idOf('event') } };
const postGroup = group({
  params: postParams,
  narrows: ({ event, post }) => {
    const id = event ?? post;
    return id === undefined ? [] : [{ post: id }];
  },
});

/** With an event, all of its terms are listed, even if no other posts use them. */
const hideEmpty = group({
  params: { hide_empty: { grammar: flag, fallback: true } },
  alsoReads: postParams,
  narrows: ({ hide_empty: hidesEmpty, event, post }) =>
    hidesEmpty === false || event !== undefined || post !== undefined ? [] : [{ hideEmpty: true }],
});

const parent: Filter<number, TermCondition> = filter({ grammar: parentTerm, narrows: (id) => [{ parent: id }] });

const isId = (token: string | number): token is number => typeof token === 'number';

/** Parameters of a list of categories or tags. */
export const termFilters = (kind: TermKindName): TermFilters => ({
  ...paging,
  search: filter({ grammar: search, narrows: (phrase) => [{ search: phrase }] }),
  // Terms in `include` are listed even if `exclude` names them (`WP_Term_Query`).
  ...group({
    params: { exclude: { grammar: termsById(kind) }, include: { grammar: termsById(kind) } },
    narrows: ({ exclude, include }) => {
      if (include) return [{ include: include.filter(isId) }];
      return exclude ? [{ exclude: exclude.filter(isId) }] : [];
    },
  }),
  order: ordering(['asc', 'desc']),
  orderby: ordering(ORDERS.keys()),
  ...hideEmpty,
  ...(kind === 'category' ? { parent } : {}),
  ...postGroup,
  slug: filter({ grammar: text(MAX_BYTES.word), narrows: (slug) => [{ slugs: [sanitizeTitle(slug, 'query')] }] }),
});

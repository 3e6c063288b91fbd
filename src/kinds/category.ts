import { anyText, existingTerms, flag, idOf, LENGTHS, parentTerm, search, text } from './grammar.ts';
import type { TermFields, TermFilters, TermKind } from './kind.ts';
import { paging } from './post-fields.ts';
import { term } from './shapes.ts';

/** Fields that both kinds of terms have. */
export const termFields = {
  name: { grammar: text(LENGTHS.name), required: true, empty: 'refused' },
  description: { grammar: anyText(LENGTHS.content), empty: 'clears' },
  slug: { grammar: text(LENGTHS.slug), empty: 'refused' },
} satisfies TermFields;

/** Filters that both kinds of terms have. */
export const termFilters = (kind: 'category' | 'tag'): TermFilters => ({
  ...paging,
  search: { grammar: search },
  exclude: { grammar: existingTerms(kind, 'numbers') },
  include: { grammar: existingTerms(kind, 'numbers') },
  order: { grammar: text(LENGTHS.word) },
  orderby: { grammar: text(LENGTHS.word) },
  hide_empty: { grammar: flag, fallback: true },
  ...(kind === 'category' ? { parent: { grammar: parentTerm } } : {}),
  post: { grammar: idOf('event') },
  event: { grammar: idOf('event') },
  slug: { grammar: text(LENGTHS.word) },
});

export const category: TermKind = {
  is: 'term',
  name: 'category',
  path: 'categories',
  taxonomy: 'tribe_events_cat',
  hierarchical: true,
  restBase: 'tribe_events_cat',
  manage: ['edit_tribe_events', 'publish_tribe_events'],
  fields: { ...termFields, parent: { grammar: parentTerm, empty: 'clears' } },
  filters: termFilters('category'),
  record: term,
};

import { MAX_BYTES } from './grammars/grammar.ts';
import { anyText, parentTerm, text } from './grammars/grammars.ts';
import type { TermFields, TermKind } from './kind.ts';
import { term } from './shapes.ts';
import { termFilters } from './term-list.ts';

/** Fields that both kinds of terms have. */
export const termFields = {
  name: { grammar: text(MAX_BYTES.name), required: true, empty: 'refused' },
  description: { grammar: anyText(MAX_BYTES.content), empty: 'clears' },
  slug: { grammar: text(MAX_BYTES.slug), empty: 'refused' },
} satisfies TermFields;

export const category: TermKind = {
  is: 'term',
  name: 'category',
  path: 'categories',
  taxonomy: 'tribe_events_cat',
  hierarchical: true,
  restBase: 'tribe_events_cat',
  manage: ['edit_tribe_events', 'publish_tribe_events'],
  coreCapabilities: { create: 'publish_tribe_events', assign: 'edit_tribe_events' },
  fields: { ...termFields, parent: { grammar: parentTerm, empty: 'clears' } },
  filters: termFilters('category'),
  record: term,
};

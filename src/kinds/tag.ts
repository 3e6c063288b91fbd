import { termFields } from './category.ts';
import type { TermKind } from './kind.ts';
import { term } from './shapes.ts';
import { termFilters } from './term-list.ts';

export const tag: TermKind = {
  is: 'term',
  name: 'tag',
  path: 'tags',
  taxonomy: 'post_tag',
  hierarchical: false,
  restBase: 'tags',
  manage: ['edit_tribe_events', 'manage_categories'],
  coreCapabilities: { create: 'edit_posts', assign: 'edit_posts' },
  fields: termFields,
  filters: termFilters('tag'),
  record: term,
};

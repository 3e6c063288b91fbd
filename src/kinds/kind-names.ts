/** The kinds to which events link, by name. */
export const LINKED_KIND_NAMES = ['venue', 'organizer'] as const;
export type LinkedKindName = (typeof LINKED_KIND_NAMES)[number];

/** The kinds of records, by name. */
export type PostKindName = 'event' | LinkedKindName;
export type TermKindName = 'category' | 'tag';
export type KindName = PostKindName | TermKindName;

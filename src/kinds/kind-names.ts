/** The kinds of records, by name. */
export type PostKindName = 'event' | 'venue' | 'organizer';
export type TermKindName = 'category' | 'tag';
export type KindName = PostKindName | TermKindName;

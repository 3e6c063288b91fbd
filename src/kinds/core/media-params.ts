import type { Condition } from '../condition.ts';
import { control, group } from '../filter.ts';
import { LENGTHS } from '../grammars/grammar.ts';
import { anyString, choice, choices, dateTime, integer, rawString, statuses, strings } from '../grammars/schema.ts';
import type { ListParams } from '../list-param.ts';
import type { Params, ValuesOf } from '../param.ts';
import { ANY_POSTS, AUTHOR, PARENTS } from './post-params.ts';

/*
 * What the routes of the library take.
 */

export const MEDIA_STATUSES = ['inherit', 'private', 'trash'] as const;

const MEDIA_TYPES = ['image', 'video', 'text', 'application', 'audio'] as const;
/** What no file can be is passed over, as WordPress does: the name of a kind alone, or letters that no type has. */
const isMimeType = (text: string): boolean => /^[a-z]+\/[-\da-z.+]+$/.test(text) && MEDIA_TYPES.some((kind) => text.startsWith(`${kind}/`));
const { media_type, mime_type } = group({
  params: { media_type: { grammar: choices(MEDIA_TYPES) }, mime_type: { grammar: strings } },
  narrows: ({ media_type: kinds = [], mime_type: named = [] }): Condition[] => {
    const types = [...kinds.map((kind) => `${kind}/`), ...named.filter(isMimeType)];
    return types.length === 0 ? [] : [{ by: 'mime', types }];
  },
});

/** Filters of the library (`WP_REST_Attachments_Controller::get_collection_params`). */
export const MEDIA_FILTERS = {
  ...ANY_POSTS,
  ...PARENTS,
  status: control(statuses(MEDIA_STATUSES), { fallback: 'inherit' }),
  media_type,
  mime_type,
} satisfies ListParams;
export type MediaListValues = ValuesOf<typeof MEDIA_FILTERS>;

/** What is written of a file in the library besides the file itself. */
export const MEDIA_FIELDS = {
  date: { grammar: dateTime },
  date_gmt: { grammar: dateTime },
  title: { grammar: rawString(LENGTHS.text) },
  author: AUTHOR,
  slug: { grammar: anyString(LENGTHS.slug) },
  alt_text: { grammar: anyString(LENGTHS.text) },
  caption: { grammar: rawString(LENGTHS.text) },
  description: { grammar: rawString(LENGTHS.content) },
  post: { grammar: integer({ minimum: 0 }) },
  // Private, or else that of what the file is attached to (`wp_insert_post`).
  status: { grammar: choice(['publish', 'future', 'draft', 'pending', 'private', 'inherit']) },
  comment_status: { grammar: choice(['open', 'closed']) },
  ping_status: { grammar: choice(['open', 'closed']) },
} satisfies Params;
export type MediaFieldValues = ValuesOf<typeof MEDIA_FIELDS>;

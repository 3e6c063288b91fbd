import type { Condition } from '../condition.ts';
import { control, group } from '../filter.ts';
import { MAX_BYTES } from '../grammars/grammar.ts';
import { anyString, choice, choices, dateTime, integer, rawString, statuses, strings } from '../grammars/schema.ts';
import type { ListParams } from '../list-param.ts';
import type { Params, ValuesOf } from '../param.ts';
import { ANY_POST_PARAMS, AUTHOR, PARENT_PARAMS } from './post-params.ts';

/*
 * Parameters of the routes of the media library.
 */

export const MEDIA_STATUSES = ['inherit', 'private', 'trash'] as const;

const MEDIA_TYPES = ['image', 'video', 'text', 'application', 'audio'] as const;
/**
 * Returns whether a text can be the MIME type of a file. Others (a bare `image`, invalid characters) are ignored, as in
 * WordPress.
 */
const isMimeType = (text: string): boolean => /^[a-z]+\/[-\da-z.+]+$/.test(text) && MEDIA_TYPES.some((kind) => text.startsWith(`${kind}/`));
const { media_type, mime_type } = group({
  params: { media_type: { grammar: choices(MEDIA_TYPES) }, mime_type: { grammar: strings } },
  narrows: ({ media_type: kinds = [], mime_type: types = [] }): Condition[] => {
    const prefixes = [...kinds.map((kind) => `${kind}/`), ...types.filter(isMimeType)];
    return prefixes.length === 0 ? [] : [{ by: 'mime', types: prefixes }];
  },
});

/** Filters of the media library (`WP_REST_Attachments_Controller::get_collection_params`). */
export const MEDIA_FILTERS = {
  ...ANY_POST_PARAMS,
  ...PARENT_PARAMS,
  status: control(statuses(MEDIA_STATUSES), { fallback: 'inherit' }),
  media_type,
  mime_type,
} satisfies ListParams;
export type MediaListValues = ValuesOf<typeof MEDIA_FILTERS>;

/** Fields of a file in the media library that can be written, apart from the file itself. */
export const MEDIA_FIELDS = {
  date: { grammar: dateTime },
  date_gmt: { grammar: dateTime },
  title: { grammar: rawString(MAX_BYTES.text) },
  author: AUTHOR,
  slug: { grammar: anyString(MAX_BYTES.slug) },
  alt_text: { grammar: anyString(MAX_BYTES.text) },
  caption: { grammar: rawString(MAX_BYTES.text) },
  description: { grammar: rawString(MAX_BYTES.content) },
  post: { grammar: integer({ minimum: 0 }) },
  // Either private, or the status of the post that the file is attached to (`wp_insert_post`).
  status: { grammar: choice(['publish', 'future', 'draft', 'pending', 'private', 'inherit']) },
  comment_status: { grammar: choice(['open', 'closed']) },
  ping_status: { grammar: choice(['open', 'closed']) },
} satisfies Params;
export type MediaFieldValues = ValuesOf<typeof MEDIA_FIELDS>;

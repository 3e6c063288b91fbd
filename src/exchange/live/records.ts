import { z } from 'zod';
import { eventTexts } from '../../kinds/events/fields.ts';
import { organizerTexts } from '../../kinds/organizer.ts';
import { venueTexts } from '../../kinds/venue.ts';

/*
 * Schemas of a site's responses. Sites differ in their versions and in what other plugins add: unneeded members are
 * ignored, needed ones have a default if there is a reasonable one.
 */

/** Absent, null and other values that are not texts count as empty. */
const text = z.union([z.string(), z.number().transform(String)]).catch('');
const flag = z.boolean().nullable().catch(null);
const id = z.coerce.number().int().positive();

const size = z.looseObject({
  width: z.coerce.number().catch(0),
  height: z.coerce.number().catch(0),
  url: text,
  'mime-type': text.optional(),
  filesize: z.coerce.number().optional().catch(undefined),
});
const image = z
  .union([
    z.looseObject({
      id,
      url: text,
      width: z.coerce.number().catch(0),
      height: z.coerce.number().catch(0),
      filesize: z.coerce.number().optional().catch(undefined),
      sizes: z.record(z.string(), size).catch({}),
    }),
    z.literal(false),
  ])
  .catch(false);

/** Members that multilingual sites add: Fasti, and Polylang Pro. */
const languageMembers = {
  language: z.string().min(1).optional().catch(undefined),
  translations: z.record(z.string(), z.looseObject({ id })).catch({}),
};

const post = {
  id,
  ...languageMembers,
  author: text,
  status: text,
  date: text,
  date_utc: text,
  modified: text,
  modified_utc: text,
  url: text,
  slug: text,
  description: text,
  excerpt: text,
  image,
  global_id_lineage: z.array(text).catch([]),
};

/** Returns a text member for each of these names. */
const eachText = <Texts extends object>(texts: Texts) =>
  // The names are those of `texts`, which the compiler cannot infer from entries.
  Object.fromEntries(Object.keys(texts).map((name) => [name, text])) as { readonly [Name in keyof Texts]: typeof text };

const venue = z.looseObject({
  ...post,
  venue: text,
  ...eachText(venueTexts),
  geo_lat: text,
  geo_lng: text,
  show_map: flag,
  show_map_link: flag,
});
const organizer = z.looseObject({ ...post, organizer: text, ...eachText(organizerTexts) });
const listOrOne = (list: z.ZodType<{ id: number }>) => z.union([z.array(list), list.transform((one) => [one])]).catch([]);
const term = z.looseObject({ id, name: text, slug: text });
const event = z.looseObject({
  ...post,
  title: text,
  all_day: flag,
  start_date: z.string().min(1),
  end_date: z.string().min(1),
  utc_start_date: z.string().min(1),
  utc_end_date: z.string().min(1),
  timezone: text,
  timezone_abbr: text,
  cost: text,
  cost_details: z
    .looseObject({ currency_symbol: text, currency_code: text, currency_position: text, values: z.array(text).catch([]) })
    .catch({ currency_symbol: '', currency_code: '', currency_position: '', values: [] }),
  website: text,
  ...eachText(eventTexts),
  show_map: flag,
  show_map_link: flag,
  hide_from_listings: flag,
  sticky: flag,
  featured: flag,
  categories: z.array(term).catch([]),
  tags: z.array(term).catch([]),
  venue: listOrOne(z.looseObject({ id })),
  organizer: listOrOne(z.looseObject({ id })),
  custom_fields: z.record(z.string(), z.looseObject({ label: text.catch(''), value: text })).catch({}),
  json_ld: z.looseObject({ eventStatus: text }).optional().catch(undefined),
});

/** Texts of WordPress's own routes; `raw` is only sent to users who may edit. */
const texts = z.looseObject({ raw: z.string().optional(), rendered: text }).optional().catch(undefined);
const openness = z.enum(['open', 'closed']).optional().catch(undefined);
/** Whether comments and pings are open, if the site says so. */
const discussion = { comment_status: openness, ping_status: openness };
export const coreRecord = z.looseObject({
  id,
  ...discussion,
  guid: texts,
  title: texts,
  content: texts,
  excerpt: texts,
  password: z.string().optional().catch(undefined),
  meta: z.record(z.string(), z.unknown()).catch({}),
});
export type CoreRecord = z.output<typeof coreRecord>;

/** An attachment. */
export const coreMedia = z.looseObject({
  id,
  ...discussion,
  slug: text,
  guid: texts,
  title: texts,
  caption: texts,
  description: texts,
  alt_text: z.string().optional().catch(undefined),
  mime_type: text,
  source_url: text,
  date: text,
  date_gmt: text,
  modified: text,
  modified_gmt: text,
  author: z.coerce.number().catch(0),
  /** The record that the file is attached to. */
  post: z.coerce.number().catch(0),
  media_details: z.looseObject({}).catch({}),
});
export type CoreMedia = z.output<typeof coreMedia>;

/** A user. */
export const corePerson = z.looseObject({
  id,
  name: text,
  slug: text,
  username: z.string().optional().catch(undefined),
  email: z.string().optional().catch(undefined),
});

/** A category or tag in a list. */
export const liveTerm = z.looseObject({
  id,
  ...languageMembers,
  name: text,
  slug: text,
  description: text,
  parent: z.coerce.number().catch(0),
});
export type LiveTerm = z.output<typeof liveTerm>;

/** Schemas of the records in each list. */
export const RECORDS = { events: event, venues: venue, organizers: organizer } as const;
export type LiveEvent = z.output<typeof event>;
export type LiveVenue = z.output<typeof venue>;
export type LiveOrganizer = z.output<typeof organizer>;
export type LivePost = LiveEvent | LiveVenue | LiveOrganizer;
export type LiveImage = Exclude<z.output<typeof image>, false>;

/**
 * Whether a record has been blanked because it has a password: its flags are null; venues and organizers have empty
 * members, which they would otherwise lack.
 */
export const isHiddenByPassword = (record: Readonly<Record<string, unknown>>): boolean =>
  record.all_day === null ||
  record.show_map === null ||
  (!('start_date' in record) && ['description', 'phone', 'email', 'website', 'excerpt'].some((name) => record[name] === ''));

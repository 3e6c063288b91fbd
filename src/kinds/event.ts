import { z } from 'zod';
import { costChange } from './event-cost.ts';
import { datesChange } from './event-dates.ts';
import { eventFilters, eventOrders } from './event-list.ts';
import { FEATURED_META, HIDDEN_META, ORGANIZER_LINK, VENUE_LINK } from './event-metas.ts';
import { renderEvent } from './event-record.ts';
import { column, featuredImage, flagMeta, links, meta, rule, terms, whenEmpty } from './fields.ts';
import { anything, flag, LENGTHS, text, timeText, timezone, url } from './grammar.ts';
import type { PostKind } from './kind.ts';
import { organizer } from './organizer.ts';
import { authorField, dateField, statusField, textColumn, titleField } from './post-fields.ts';
import { costDetails, dateDetails, embeddedTerm, image, jsonLd, postShape, stamp } from './shapes.ts';
import { venue } from './venue.ts';

const fields = {
  author: authorField,
  status: statusField,
  date: dateField,
  date_utc: dateField,
  title: titleField(),
  description: textColumn('post_content'),
  slug: whenEmpty('refused', rule(text(LENGTHS.slug))),
  excerpt: textColumn('post_excerpt'),
  timezone: rule(timezone),
  all_day: whenEmpty('false', rule(flag, { fallback: false })),
  start_date: whenEmpty('refused', rule(timeText, { required: true })),
  end_date: whenEmpty('refused', rule(timeText, { required: true })),
  image: featuredImage(),
  cost: rule(anything(LENGTHS.text)),
  website: meta('_EventURL', url, { fallback: null, store: (value) => [value] }),
  show_map: flagMeta('_EventShowMap', { on: '1', off: '' }),
  show_map_link: flagMeta('_EventShowMapLink', { on: '1', off: '' }),
  hide_from_listings: flagMeta(HIDDEN_META, { on: 'yes', off: undefined }),
  sticky: whenEmpty('false', column('menu_order', flag, { promotes: true, store: (value) => [value === true ? '-1' : '0'] })),
  featured: flagMeta(FEATURED_META, { on: '1', off: undefined }, { promotes: true }),
  categories: terms('category'),
  tags: terms('tag'),
  venue: links(VENUE_LINK, 'venue'),
  organizer: links(ORGANIZER_LINK, 'organizer'),
};

export const event: PostKind<typeof fields> = {
  is: 'post',
  name: 'event',
  path: 'events',
  postType: 'tribe_events',
  capabilities: 'tribe_events',
  titleField: 'title',
  fields,
  filters: eventFilters,
  orders: eventOrders,
  strays: {},
  links: { [VENUE_LINK]: 'venue', [ORGANIZER_LINK]: 'organizer' },
  terms: ['category', 'tag'],
  dated: true,
  problems: {
    notAccessible: 'event-not-accessible',
    isInTrash: 'event-is-in-trash',
    noSuchPage: 'event-archive-page-not-found',
    noTitle: 'empty_content',
    byId: { missing: 'rest-event-not-found', otherType: 'rest-invalid-event-id', trashed: 'event-no-longer-available' },
    locked: 'event-password-protected',
  },
  reusesTitles: false,
  draftsGetSlugs: false,
  shownWholeAfterWrite: true,
  writesNamePassword: true,
  trashedStatusMeta: '_tribe_ignored_event_previous_status',

  follows: (values, before, context) => {
    const metas: Record<string, readonly string[]> = { ...datesChange(values, before, context), ...costChange(values, before) };
    if (!before) {
      metas._EventOrigin = ['events-calendar'];
      for (const [field, key] of [
        ['show_map', '_EventShowMap'],
        ['show_map_link', '_EventShowMapLink'],
      ] as const)
        if (!(field in values)) metas[key] = [''];
    }
    return { columns: {}, metas };
  },

  record: z
    .object({
      ...postShape,
      rest_url: z.url(),
      title: z.string(),
      description: z.string(),
      excerpt: z.string(),
      slug: z.string(),
      image: z.union([image, z.literal(false)]),
      all_day: z.boolean().nullable(),
      start_date: stamp,
      start_date_details: dateDetails,
      end_date: stamp,
      end_date_details: dateDetails,
      utc_start_date: stamp,
      utc_start_date_details: dateDetails,
      utc_end_date: stamp,
      utc_end_date_details: dateDetails,
      timezone: z.string(),
      timezone_abbr: z.string(),
      cost: z.string(),
      cost_details: costDetails,
      website: z.string(),
      show_map: z.boolean().nullable(),
      show_map_link: z.boolean().nullable(),
      hide_from_listings: z.boolean().nullable(),
      sticky: z.boolean().nullable(),
      featured: z.boolean().nullable(),
      categories: z.array(embeddedTerm),
      tags: z.array(embeddedTerm),
      venue: z.union([venue.record, z.array(venue.record)]),
      organizer: z.array(organizer.record),
      custom_fields: z.union([z.array(z.unknown()).max(0), z.record(z.string(), z.object({ label: z.string(), value: z.string() }))]),
      json_ld: jsonLd.optional(),
    })
    .meta({ id: 'Event' }),

  render: renderEvent,
};

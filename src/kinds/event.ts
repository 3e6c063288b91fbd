import { z } from 'zod';
import { costChange } from './event-cost.ts';
import { datesChange } from './event-dates.ts';
import { eventConditions } from './event-list.ts';
import { FEATURED_META, HIDDEN_META, ORGANIZER_LINK, VENUE_LINK } from './event-metas.ts';
import { renderEvent } from './event-record.ts';
import { column, featuredImage, flagMeta, links, meta, rule, terms } from './fields.ts';
import {
  anyText,
  anything,
  decimal,
  droppedSearch,
  existingTerms,
  flag,
  idOf,
  ids,
  LENGTHS,
  listStatus,
  strictness,
  text,
  time,
  timeText,
  timezone,
  url,
} from './grammar.ts';
import type { PostKind } from './kind.ts';
import { organizer } from './organizer.ts';
import { additions, authorField, dateField, paging, statusField, textColumn, titleField } from './post-fields.ts';
import { costDetails, dateDetails, embeddedTerm, image, jsonLd, postShape, stamp } from './shapes.ts';
import { venue } from './venue.ts';

export const event: PostKind = {
  is: 'post',
  name: 'event',
  path: 'events',
  postType: 'tribe_events',
  capabilities: 'tribe_events',
  titleField: 'title',
  fields: {
    author: authorField,
    status: statusField,
    date: dateField,
    date_utc: dateField,
    title: titleField(),
    description: textColumn('post_content'),
    slug: rule(text(LENGTHS.slug), { empty: 'refused' }),
    excerpt: textColumn('post_excerpt'),
    timezone: rule(timezone),
    all_day: rule(flag, { empty: 'false', fallback: false }),
    start_date: rule(timeText, { required: true, empty: 'refused' }),
    end_date: rule(timeText, { required: true, empty: 'refused' }),
    image: featuredImage(),
    cost: rule(anything(LENGTHS.text)),
    website: meta('_EventURL', url, { fallback: null, store: (value) => [value === null ? '' : String(value)] }),
    show_map: flagMeta('_EventShowMap', { on: '1', off: '' }),
    show_map_link: flagMeta('_EventShowMapLink', { on: '1', off: '' }),
    hide_from_listings: flagMeta(HIDDEN_META, { on: 'yes', off: undefined }),
    sticky: column('menu_order', flag, { empty: 'false', promotes: true, store: (value) => [value === true ? '-1' : '0'] }),
    featured: flagMeta(FEATURED_META, { on: '1', off: undefined }, { promotes: true }),
    categories: terms('category'),
    tags: terms('tag'),
    venue: links(VENUE_LINK, 'venue'),
    organizer: links(ORGANIZER_LINK, 'organizer'),
  },
  filters: {
    ...paging,
    start_date: { grammar: time },
    end_date: { grammar: time },
    starts_before: { grammar: time },
    starts_after: { grammar: time },
    ends_before: { grammar: time },
    ends_after: { grammar: time },
    strict_dates: { grammar: strictness, fallback: false },
    search: { grammar: droppedSearch },
    categories: { grammar: existingTerms('category') },
    tags: { grammar: existingTerms('tag') },
    venue: { grammar: ids('venue') },
    organizer: { grammar: ids('organizer') },
    featured: { grammar: flag },
    status: { grammar: listStatus('tribe_events') },
    geoloc: { grammar: flag },
    geoloc_lat: { grammar: decimal },
    geoloc_lng: { grammar: decimal },
    geoloc_radius: { grammar: decimal },
    include: { grammar: ids() },
    post_parent: { grammar: idOf('event') },
    ticketed: { grammar: flag },
    city: { grammar: anyText(LENGTHS.word) },
    country: { grammar: anyText(LENGTHS.word) },
    state: { grammar: anyText(LENGTHS.word) },
    ...additions,
  },
  strays: {},
  links: { [VENUE_LINK]: 'venue', [ORGANIZER_LINK]: 'organizer' },
  terms: ['category', 'tag'],
  dated: true,

  narrow: eventConditions,

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

import { z } from 'zod';
import { costChange } from './event-cost.ts';
import { datesChange } from './event-dates.ts';
import { EVENT, eventFields, eventTexts } from './event-fields.ts';
import { eventFilters, eventOrders } from './event-list.ts';
import { EVENT_ORIGIN, ORGANIZER_LINK, ORIGIN, VENUE_LINK } from './event-metas.ts';
import { renderEvent } from './event-record.ts';
import type { PostKind } from './kind.ts';
import { organizer } from './organizer.ts';
import { costDetails, dateDetails, embeddedTerm, image, jsonLd, postShape, stamp, textShape } from './shapes.ts';
import { venue } from './venue.ts';

export const event: PostKind<typeof eventFields> = {
  is: 'post',
  name: 'event',
  path: 'events',
  postType: 'tribe_events',
  capabilities: 'tribe_events',
  titleField: 'title',
  fields: eventFields,
  filters: eventFilters,
  orders: eventOrders,
  strays: {},
  links: { [VENUE_LINK]: 'venue', [ORGANIZER_LINK]: 'organizer' },
  terms: ['category', 'tag'],
  dated: true,

  follows: (values, before, context) => {
    const metas: Record<string, readonly string[]> = { ...datesChange(values, before, context), ...costChange(values, before) };
    if (!before) {
      metas[EVENT_ORIGIN] = [ORIGIN];
      for (const field of ['show_map', 'show_map_link'] as const) if (!(field in values)) metas[EVENT[field]] = [''];
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
      ...textShape(eventTexts),
      custom_fields: z.union([z.array(z.unknown()).max(0), z.record(z.string(), z.object({ label: z.string(), value: z.string() }))]),
      json_ld: jsonLd.optional(),
    })
    .meta({ id: 'Event' }),

  render: renderEvent,
};

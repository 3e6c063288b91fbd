import { z } from 'zod';
import { organizerRecord } from '../organizer.ts';
import { costDetails, dateDetails, embeddedTerm, image, jsonLd, languageShape, optionalTextShape, postShape, stamp } from '../shapes.ts';
import { venueRecord } from '../venue.ts';
import { eventTexts } from './fields.ts';
import { recurrenceRecord } from './recurrence.ts';

/** The published event. */
export const eventRecord = z
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
    venue: z.union([venueRecord, z.array(venueRecord)]),
    organizer: z.array(organizerRecord),
    ...optionalTextShape(eventTexts),
    custom_fields: z.union([z.array(z.unknown()).max(0), z.record(z.string(), z.object({ label: z.string(), value: z.string() }))]),
    json_ld: jsonLd.optional(),
    recurrence: recurrenceRecord.nullable().optional(),
    ...languageShape,
  })
  .meta({ id: 'Event' });
export type EventRecord = z.output<typeof eventRecord>;

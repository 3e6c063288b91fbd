import { type StoredValue, storedText } from '../wordpress/php/serialized.ts';
import { costChange } from './events/cost.ts';
import { datesChange } from './events/dates.ts';
import { EVENT, eventFields } from './events/fields.ts';
import { eventFilters, eventOrders } from './events/list.ts';
import { EVENT_ORIGIN, ORGANIZER_LINK, ORIGIN, VENUE_LINK } from './events/metas.ts';
import { renderEvent } from './events/record.ts';
import { type EventRecord, eventRecord } from './events/shape.ts';
import { websiteChange } from './events/website.ts';
import type { PostKind } from './kind.ts';

export const event: PostKind<typeof eventFields, EventRecord> = {
  is: 'post',
  name: 'event',
  path: 'events',
  postType: 'tribe_events',
  capabilities: 'tribe_events',
  titleField: 'title',
  fields: eventFields,
  filters: eventFilters,
  orders: eventOrders,
  extraMetas: {},
  links: { [VENUE_LINK]: 'venue', [ORGANIZER_LINK]: 'organizer' },
  terms: ['category', 'tag'],
  hasDates: true,
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
  showsProtectedAfterWrite: true,
  describesWritePassword: true,
  trashedStatusMeta: '_tribe_ignored_event_previous_status',

  derivedRows: (values, before, context) => {
    const metas: Record<string, readonly StoredValue[]> = {
      ...datesChange(values, before, context),
      ...costChange(values, before, context),
    };
    Object.assign(metas, websiteChange(values.website, before, context.settings));
    if (!before) {
      metas[EVENT_ORIGIN] = [storedText(ORIGIN)];
      for (const field of ['show_map', 'show_map_link'] as const) if (!(field in values)) metas[EVENT[field]] = [storedText('')];
    }
    return { columns: {}, metas };
  },

  record: eventRecord,
  render: renderEvent,
};

/*
 * Metas of events, venues and organizers that do not belong to exactly one field: several fields use them, or none
 * does. Metas of a single field are declared with the field (`fields.ts`, `venue.ts`, `organizer.ts`).
 */

/** Metas that link to venues and organizers, one row for each. */
export const VENUE_LINK = '_EventVenueID';
export const ORGANIZER_LINK = '_EventOrganizerID';

/** A row with any value hides the event from lists. */
export const HIDDEN_META = '_EventHideFromUpcoming';
/** A row with any value marks the event as featured in lists. */
export const FEATURED_META = '_tribe_featured';

/** Metas that store the dates, the time zone and the all-day flag. */
export const DATES = {
  start: '_EventStartDate',
  end: '_EventEndDate',
  startUtc: '_EventStartDateUTC',
  endUtc: '_EventEndDateUTC',
  duration: '_EventDuration',
  timezone: '_EventTimezone',
  abbreviation: '_EventTimezoneAbbr',
  allDay: '_EventAllDay',
} as const;

/** Metas in which The Events Calendar's paid extension stores the recurrence of an event. */
export const RECURRENCE_METAS = /^_EventRecurrence$|^_EventSequence_|^_tribe_blocks_recurrence_/;

/** Metas of the cost: one row for each amount, and the currency. */
export const COST = {
  amounts: '_EventCost',
  symbol: '_EventCurrencySymbol',
  position: '_EventCurrencyPosition',
  code: '_EventCurrencyCode',
} as const;

/** Coordinates of venues, in the metas of The Events Calendar's paid extension (decision D27). */
export const COORDINATES = { lat: '_VenueLat', lng: '_VenueLng' } as const;

/** The meta with the status of an event that does not take place as planned, and its value for one that is canceled. */
export const STATE = '_tribe_events_status';
export const CANCELED = 'canceled';

/** The UID that a calendar file gives the event that was imported from it (RFC 5545, 3.8.4.7). */
export const CALENDAR_UID = '_uid';

/** Metas in which The Events Calendar notes how a record was created; `ORIGIN` is the value that it writes. */
export const EVENT_ORIGIN = '_EventOrigin';
export const VENUE_ORIGIN = '_VenueOrigin';
export const ORGANIZER_ORIGIN = '_OrganizerOrigin';
export const ORIGIN = 'events-calendar';

/** Whether an event usually has several links to records of a kind, as in The Events Calendar. */
export const ALLOWS_SEVERAL = { venue: false, organizer: true } as const;

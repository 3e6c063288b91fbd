/*
 * Metas of events, venues and organizers that are no field's own: several fields lead to them, or none does. The others
 * stand with their fields (`fields.ts`, `venue.ts`, `organizer.ts`).
 */

/** Those that link to venues and organizers, a row for each. */
export const VENUE_LINK = '_EventVenueID';
export const ORGANIZER_LINK = '_EventOrganizerID';

/** A row of any value keeps the event out of lists. */
export const HIDDEN_META = '_EventHideFromUpcoming';
/** A row of any value makes the event a featured one to lists. */
export const FEATURED_META = '_tribe_featured';

/** Metas that the dates, the zone and the all-day flag rest in. */
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

/** Metas of the cost: a row for each amount, and what is said of the currency. */
export const COST = {
  amounts: '_EventCost',
  symbol: '_EventCurrencySymbol',
  position: '_EventCurrencyPosition',
  code: '_EventCurrencyCode',
} as const;

/** Metas of venues by which they are found on a map, as the calendar's paid extension keeps them (decision D27). */
export const COORDINATES = { lat: '_VenueLat', lng: '_VenueLng' } as const;

/** The meta of the state of an event that does not take place as planned, and that of one which does not at all. */
export const STATE = '_tribe_events_status';
export const CANCELED = 'canceled';

/** What a calendar file calls the event that was imported from it (RFC 5545, 3.8.4.7). */
export const CALENDAR_UID = '_uid';

/** Where the calendar notes what made a record; `ORIGIN` is what it writes there. */
export const EVENT_ORIGIN = '_EventOrigin';
export const VENUE_ORIGIN = '_VenueOrigin';
export const ORGANIZER_ORIGIN = '_OrganizerOrigin';
export const ORIGIN = 'events-calendar';

/*
 * Metas of events that several files go by: the kind's fields, its lists and their index, its records.
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

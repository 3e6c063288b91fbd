/** libical, ical.js and node-ical also read this as a whole day. */
const DAY_WITH_ZONE = 'a TZID on a day does not apply (3.2.19): a whole day, not 24 hours from a midnight elsewhere';
/**
 * An end that is not later than the start is ignored (3.6.1). The list contains days on which events have no duration.
 */
const EMPTY_DAY = 'DTEND is the day of DTSTART: a whole day, not no time at all';
const LOST_LETTERS = 'letters in Windows-1252 are read; the list has U+FFFD in their place';

/**
 * Files of the collection that we deliberately read in another way than its list: what the list's reader does and why
 * we differ. RFC 5545 takes precedence over that reader, and events that it cannot read are not omitted.
 */
export const RULINGS: Readonly<Record<string, string>> = {
  'ical4j--google_aus_holidays.ics': DAY_WITH_ZONE,
  'node-ical--yearly-recurring-unicode.ics': DAY_WITH_ZONE,
  'ical.net--TimeZone3.ics': DAY_WITH_ZONE,
  'icalendar--example.ics': EMPTY_DAY,
  'x-wr-timezone--Germany-Holidays-date-as-value-type.in.ics': EMPTY_DAY,
  'ical.net--ProdID1.ics': EMPTY_DAY,
  'ical.net--Bug2148092.ics': LOST_LETTERS,
  'ical.net--ProdID2.ics': LOST_LETTERS,
  'ical.net--YearlyByWeekNo3.ics':
    'BYWEEKNO alone: the day of the week follows from DTSTART (3.3.10), as in libical and node-ical; the reader takes all seven days',
  'icalendar--issue_165_missing_event.ics': 'BYDAY=MO, TU, WE can be read: blanks are no reason to lose the event, which the reader drops',
  'ical.net--Parameter2.ics':
    'events with an empty UID are events without one (two days here), as in ical.js and node-ical; the reader keeps one of them',
};

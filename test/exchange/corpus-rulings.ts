/** A day is a day for libical, ical.js and node-ical too. */
const DAY_WITH_ZONE = 'a TZID on a day does not apply (3.2.19): a whole day, not 24 hours from a midnight elsewhere';
/** An end that is not later than the start is none (3.6.1); the list has days on which nothing lasts. */
const EMPTY_DAY = 'DTEND is the day of DTSTART: a whole day, not no time at all';
const LOST_LETTERS = 'letters in Windows-1252 are read; the list has U+FFFD in their place';

/**
 * Files of the collection that are read otherwise than its list says, on purpose: what the list's reader does with
 * them, and why we don't. RFC 5545 goes before that reader; an event that it can't read is not left out.
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

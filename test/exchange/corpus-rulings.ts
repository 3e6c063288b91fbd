/** A day is a day for libical, ical.js and node-ical too. */
const DAY_WITH_ZONE = 'a TZID on a day does not apply (3.2.19): a whole day, not 24 hours from a midnight elsewhere';
/** An end that is not later than the start is none (3.6.1); the list has days on which nothing lasts. */
const EMPTY_DAY = 'DTEND is the day of DTSTART: a whole day, not no time at all';
const LOST_LETTERS = 'letters in Windows-1252 are read; the list has U+FFFD in their place';
const UNREADABLE_LENGTH = 'the DURATION is told as unreadable, the day taken in; the reader drops the event';

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
  'node-ical--windows-quoted-tz-rrule.ics':
    'the zone is known by the name that Windows shows, as in node-ical; the reader does not know it and moves the start to the zone of DTEND',
  'icalendar--issue_1081_invalid_rrule_freq.ics': 'the rule is told as not followed, the first time taken in; the reader drops the event',
  'icalendar--rfc_7529.ics': 'rules of other calendars are told as not followed, the first time taken in; the reader drops the events',
  'icalendar--issue_165_missing_event.ics': 'blanks in BYDAY are no reason to drop the event',
  'node-ical--test_date_duration.ics': UNREADABLE_LENGTH,
  'node-ical--bad_custom_ms_tz.ics': UNREADABLE_LENGTH,
  'node-ical--bad_custom_ms_tz2.ics': UNREADABLE_LENGTH,
  'ical.net--Parameter2.ics': 'two events with an empty UID are two events, as in ical.js and node-ical; the reader keeps one of them',
};

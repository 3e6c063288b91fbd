/**
 * Files of the collection that are read otherwise than its list says, on purpose: what the list's reader does with them, and why we don't. RFC 5545 goes
 * before that reader; an event that it can't read is not left out.
 */
export const RULINGS: Readonly<Record<string, string>> = {
  'ical4j--google_aus_holidays.ics': 'a TZID on a day does not apply (3.2.19): a whole day, not 24 hours',
  'node-ical--yearly-recurring-unicode.ics': 'a TZID on a day does not apply (3.2.19): a whole day, not 24 hours',
  'ical.net--TimeZone3.ics': 'a TZID on a day does not apply (3.2.19): a whole day, not 24 hours',
  'ical.net--YearlyByWeekNo3.ics': 'BYWEEKNO alone: the day of the week follows from DTSTART (3.3.10), not all seven days',
  'python-recurring-ical-events--issue_75_range_parameter.ics': 'UNTIL as a day includes that day (3.3.10), for a series of times too',
  'node-ical--windows-quoted-tz-rrule.ics': 'the zone is known by the name that Windows shows; the reader takes that of DTEND',
  'icalendar--issue_1081_invalid_rrule_freq.ics': 'the rule is told as not followed, the first time taken in; the reader drops the event',
  'icalendar--rfc_7529.ics': 'rules of other calendars are told as not followed, the first time taken in; the reader drops the events',
  'icalendar--issue_165_missing_event.ics': 'blanks in BYDAY are no reason to drop the event',
  'node-ical--test_date_duration.ics': 'the DURATION is told as unreadable, the day taken in; the reader drops the event',
  'node-ical--bad_custom_ms_tz.ics': 'the DURATION is told as unreadable, the day taken in; the reader drops the event',
  'node-ical--bad_custom_ms_tz2.ics': 'the DURATION is told as unreadable, the day taken in; the reader drops the event',
  'ical.net--Parameter2.ics': 'two events with an empty UID are two events',
};

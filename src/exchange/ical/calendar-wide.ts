import { stripControlCharacters } from '../../wordpress/content/plain-text.ts';
import { percentDecoded } from '../../wordpress/web-url.ts';
import type { CalendarEvent } from './event.ts';
import type { CalendarFacts } from './lasting-uids.ts';

/** Returns an event with what follows from the calendar in which it stands. */
export function inCalendar(event: CalendarEvent, calendar: number, facts: CalendarFacts): CalendarEvent {
  const withCategories = facts.isVCalendar(calendar) ? withSplitCategories(event) : event;
  const withNames = facts.isOfPlugin(calendar) ? withDecodedName(withCategories) : withCategories;
  return facts.isCancelled(calendar) ? asCancelled(withNames) : withNames;
}

/** Returns an event as cancelled, for calendars that were sent to cancel their events (RFC 5546, 3.2.5). */
const asCancelled = (event: CalendarEvent): CalendarEvent => ({
  ...event,
  status: 'CANCELLED',
  propertyNames: new Set([...event.propertyNames, 'status']),
});

/** In vCalendar, semicolons separate the values of a property. */
const withSplitCategories = (event: CalendarEvent): CalendarEvent => ({
  ...event,
  categories: event.categories.flatMap((names) => names.split(';').flatMap((name) => name.trim() || [])),
});

/**
 * The Events Calendar writes the names of organizers percent-encoded where they contain other characters than a
 * parameter may have. Earlier imports took the encoded form for the name, so that it identifies the organizer.
 */
function withDecodedName(event: CalendarEvent): CalendarEvent {
  if (!event.organizer) return event;
  const { name, email } = event.organizer;
  const decoded = stripControlCharacters(name.replace(/(?:%[\dA-F]{2})+/gi, percentDecoded)).trim();
  return { ...event, organizer: { name: decoded, email, identity: name } };
}

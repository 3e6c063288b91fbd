import type { Caller } from '../records/caller.ts';
import { appendQuery, type QueryPairs, withLanguage } from './urls.ts';

/*
 * URLs of the calendar's feeds, in the language of the caller.
 */

type Place = Pick<Caller, 'home' | 'settings' | 'content'>;

/** Returns the URL of the calendar file of the events that these parameters select, by default of all. */
export const calendarFeedUrl = (place: Place, narrowing: QueryPairs = []): string =>
  withLanguage(place, appendQuery(calendarRootUrl(place), [...narrowing, ['ical', '1']]));

/** Returns the URL of the RSS feed of all events. */
export const newsFeedUrl = (place: Place): string =>
  withLanguage(
    place,
    place.settings.permalinkStructure === '' ? appendQuery(calendarRootUrl(place), [['feed', 'rss2']]) : `${calendarRootUrl(place)}feed/`,
  );

/** Returns the URL of the whole calendar, to which the URLs of feeds are relative. */
const calendarRootUrl = ({ home, settings }: Place): string =>
  settings.permalinkStructure === ''
    ? appendQuery(`${home}/`, [['post_type', 'tribe_events']])
    : `${home}/${settings.calendar.eventsSlug}/`;

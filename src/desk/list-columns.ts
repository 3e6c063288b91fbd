import { hourCycleOf } from '../calendar/hour-cycle.ts';
import { spanInWords } from '../html/dates.ts';
import type { PostKind, PublishedRecord } from '../kinds/kind.ts';
import type { Editable } from '../records/editing.ts';
import { decodeEntities } from '../wordpress/content/entities.ts';
import type { Visit } from './visit.ts';

/*
 * What a list shows of a record besides its title and its status.
 */

/** A column of a list. `order`: what the list is sorted by when its heading is followed. */
export interface Column {
  readonly name: string;
  readonly order?: string;
  readonly show: (row: Editable, visit: Visit) => string;
}

const namesOf = (list: unknown, member: string): string =>
  [list ?? []]
    .flat()
    .map((item) => decodeEntities(String((item as PublishedRecord)[member] ?? '')))
    .filter((name) => name !== '')
    .join(', ');

const text = (name: string): Column => ({ name, show: ({ record }) => decodeEntities(String(record[name] ?? '')) });

/** From when to when, by the event's own clock, which is named where it is not the site's. */
const when: Column = {
  name: 'when',
  order: 'start_date',
  show: ({ record }, { i18n, settings }) => {
    const { start_date: start, end_date: end, all_day: allDay, timezone: zone, timezone_abbr: short } = record;
    const span = { start: String(start), end: String(end), allDay: allDay === true };
    const words = spanInWords(i18n, span, hourCycleOf(settings.calendar.formats.time));
    const isOfSite = span.allDay || ['', settings.timezone].includes(String(zone));
    return words === '' || isOfSite ? words : i18n.say('pages:local-time', { when: words, zone: String(short || zone) });
  },
};
/** Where content has languages: that of a record by its name. */
const language: Column = {
  name: 'language',
  show: ({ record }, { settings }) => settings.contentLanguages?.languages.find(({ code }) => code === record.language)?.name ?? '',
};
const modified: Column = { name: 'modified', order: 'modified', show: ({ row }) => row.post_modified.slice(0, 16) };

/** The columns besides the title. */
const COLUMNS: Readonly<Record<PostKind['name'], readonly Column[]>> = {
  event: [
    when,
    { name: 'venue', show: ({ record }) => namesOf(record.venue, 'venue') },
    { name: 'categories', show: ({ record }) => namesOf(record.categories, 'name') },
  ],
  venue: [text('address'), text('city'), modified],
  organizer: [text('phone'), text('email'), modified],
};

/** The columns of a list of a kind. */
export const columnsOf = ({ name }: PostKind, { settings }: Visit): readonly Column[] => [
  ...COLUMNS[name],
  ...(settings.contentLanguages ? [language] : []),
];

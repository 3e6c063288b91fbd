import { hourCycleOf } from '../calendar/hour-cycle.ts';
import { spanInWords } from '../html/dates.ts';
import type { PostKind, PublishedRecord } from '../kinds/kind.ts';
import type { Editable } from '../records/editing.ts';
import { decodeEntities } from '../wordpress/content/entities.ts';
import { momentInWords } from './moments.ts';
import type { Visit } from './visit.ts';

/*
 * Columns of a list in addition to title and status.
 */

/** A column of a list. `orderBy`: the order of the list that its heading links to. */
export interface Column {
  readonly name: string;
  readonly orderBy?: string;
  readonly show: (row: Editable, visit: Visit) => string;
}

const joinNames = (list: unknown, member: string): string =>
  [list ?? []]
    .flat()
    .map((item) => decodeEntities(String((item as PublishedRecord)[member] ?? '')))
    .filter((name) => name !== '')
    .join(', ');

const textColumn = (name: string): Column => ({ name, show: ({ record }) => decodeEntities(String(record[name] ?? '')) });

/** Start and end in the event's local time, with its zone if it is not the site's. */
const when: Column = {
  name: 'when',
  orderBy: 'start_date',
  show: ({ record }, { i18n, settings }) => {
    const { start_date: start, end_date: end, all_day: allDay, timezone: zone, timezone_abbr: abbreviation } = record;
    const span = { start: String(start), end: String(end), allDay: allDay === true };
    const spanText = spanInWords(i18n, span, hourCycleOf(settings.calendar.formats.time));
    const isOfSite = span.allDay || ['', settings.timezone].includes(String(zone));
    return spanText === '' || isOfSite ? spanText : i18n.say('pages:local-time', { when: spanText, zone: String(abbreviation || zone) });
  },
};
/** The language of a record by name, if content has languages. */
const language: Column = {
  name: 'language',
  show: ({ record }, { settings }) => settings.contentLanguages?.languages.find(({ code }) => code === record.language)?.name ?? '',
};
const modified: Column = { name: 'modified', orderBy: 'modified', show: ({ row }, visit) => momentInWords(visit, row.post_modified) };

/** The columns of each kind, except the title. */
const COLUMNS: Readonly<Record<PostKind['name'], readonly Column[]>> = {
  event: [
    when,
    { name: 'venue', show: ({ record }) => joinNames(record.venue, 'venue') },
    { name: 'categories', show: ({ record }) => joinNames(record.categories, 'name') },
  ],
  venue: [textColumn('address'), textColumn('city'), modified],
  organizer: [textColumn('phone'), textColumn('email'), modified],
};

/** Returns the columns of a list of a kind. */
export const columnsOf = ({ name }: PostKind, { settings }: Visit): readonly Column[] => [
  ...COLUMNS[name],
  ...(settings.contentLanguages ? [language] : []),
];

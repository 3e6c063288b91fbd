import { hourCycleOf, spanInWords } from '../html/dates.ts';
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

const when: Column = {
  name: 'when',
  order: 'start_date',
  show: ({ record: { start_date: start, end_date: end, all_day: allDay } }, { i18n, settings }) =>
    spanInWords(i18n, { start: String(start), end: String(end), allDay: allDay === true }, hourCycleOf(settings.calendar.formats.time)),
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

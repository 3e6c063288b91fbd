import { createHash } from 'node:crypto';
import { clampDateTime } from '../calendar/window.ts';
import { indentedTerm, type TermChoice } from '../forms/control.ts';
import { authorOptions, linkOptions, tagOptions } from '../forms/control-data.ts';
import { idIn, textIn } from '../forms/form-values.ts';
import { labelOf } from '../forms/labels.ts';
import type { Option } from '../html/form-fields.tsx';
import { editorList } from '../kinds/editable.ts';
import type { PostKind } from '../kinds/kind.ts';
import type { Values } from '../kinds/param.ts';
import type { Caller } from '../records/caller.ts';
import type { EditList } from '../records/editing.ts';
import { isTranslated } from '../wordpress/content-languages.ts';
import { addDays, lastDayOfMonth } from '../wordpress/time.ts';
import type { Visit } from './visit.ts';

/*
 * Filters of lists of records.
 */

/** A filter of a list with fixed options. */
interface FilterChoice {
  readonly name: string;
  readonly label: string;
  readonly options: readonly Option[];
}

/** Returns the filters of a list; those without options are left out. `categories`: all categories. */
export async function filterChoices(visit: Visit, kind: PostKind, categories: readonly TermChoice[]): Promise<FilterChoice[]> {
  const { say } = visit.i18n;
  const { query } = visit.request;
  const loadLinked = (name: 'venue' | 'organizer') => (kind.hasDates ? linkOptions(visit, name, idIn(textIn(query, name))) : []);
  const [tags, venues, organizers, authors] = await Promise.all([
    kind.terms.includes('tag') ? tagOptions(visit, idIn(textIn(query, 'tags'))) : [],
    loadLinked('venue'),
    loadLinked('organizer'),
    authorOptions(visit, kind, textIn(query, 'author')),
  ]);
  const nested = categories.map((term) => ({ value: String(term.id), text: indentedTerm(term) }));
  const { contentLanguages: languages } = visit.settings;
  const languageOptions = isTranslated(languages, kind.postType)
    ? languages.languages.map(({ code, name }) => ({ value: code, text: name }))
    : [];
  return [
    { name: 'categories', label: say('desk:list.category'), options: nested },
    { name: 'tags', label: say('desk:list.tag'), options: tags },
    { name: 'venue', label: say('desk:columns.venue'), options: venues },
    { name: 'organizer', label: say('desk:columns.organizer'), options: organizers },
    { name: 'language', label: say('desk:columns.language'), options: languageOptions },
    { name: 'author', label: labelOf(visit.i18n, kind.name, 'author'), options: authors.length > 1 ? authors : [] },
  ].filter(({ options }) => options.length > 0);
}

/** Default number of rows in a list. */
const DEFAULT_PAGE_SIZE = 20;

/** Name of the form field that selects all records matching the list's filters, on all pages. */
export const SELECT_ALL_FIELD = 'found';

/** Name of the form field with the digest of the list that the user saw. */
export const LIST_DIGEST_FIELD = 'list';

/** Maximum number of records for one bulk action. */
export const MAX_BULK_SIZE = 500;

/** Returns a digest of the records that an action on a whole list would change, in any order, and of their total. */
export const listDigest = ({ firstIds, total }: Pick<EditList, 'firstIds' | 'total'>): string =>
  createHash('sha256')
    .update([total, ...firstIds.toSorted((one, other) => one - other)].join())
    .digest('base64url');

/**
 * Returns the parameters of the kind's list from the query of a page's URL: any of its filters, `month` for the dates
 * of one month, `mine` for the caller's own records.
 */
export function listParams(query: Values, { viewer }: Pick<Caller, 'viewer'>, kind: PostKind): Values {
  const { filters } = editorList(kind);
  const filterEntries = Object.entries(query).filter(
    ([name, value]) => name in filters && name !== 'password' && value !== '' && value !== undefined,
  );
  const month = parseMonth(textIn(query, 'month'));
  return {
    per_page: DEFAULT_PAGE_SIZE,
    ...Object.fromEntries(filterEntries),
    ...(kind.hasDates && month ? monthBounds(month) : {}),
    ...(textIn(query, 'mine') === '' ? {} : { author: viewer.id }),
  };
}

/**
 * Returns a month as in URLs, `2026-12`; undefined if the text is not a month. Browsers without an input for months
 * send text such as `12/2026`.
 */
export function parseMonth(text: string): string | undefined {
  const [, month = '', year = ''] = /^(\d{1,2})[/.-](\d{4})$/.exec(text.trim()) ?? [];
  return /^[1-9]\d{3}-(0[1-9]|1[0-2])$/.exec(year === '' ? text.trim() : `${year}-${month.padStart(2, '0')}`)?.[0];
}

/**
 * Returns the bounds of events that overlap a month: they end after the day before and begin on the last day or
 * earlier. `margin`: days that are added on both sides.
 */
export function monthBounds(month: string, margin = 0): { readonly ends_after: string; readonly starts_before: string } {
  const day = (date: string, days: number) => addDays(`${date} 00:00:00`, days);
  return {
    ends_after: day(`${month}-01`, -1 - margin).slice(0, DATE_LENGTH),
    starts_before: clampDateTime(day(lastDayOfMonth(month), margin)).slice(0, DATE_LENGTH),
  };
}

const DATE_LENGTH = 'YYYY-MM-DD'.length;

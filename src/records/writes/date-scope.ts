import { isDeepStrictEqual } from 'node:util';
import { type Fault, fail } from '../../errors.ts';
import { isImage, isLinks, isTerms, valueIn } from '../../kinds/fields.ts';
import type { RequestedTerm } from '../../kinds/grammars/lists.ts';
import type { PostKind, PostValues, PublishedRecord, StoredPost } from '../../kinds/kind.ts';
import type { Field } from '../../kinds/param.ts';
import { isObject } from '../../objects.ts';
import type { Site } from '../../site.ts';
import { loadMetasOf, loadPosts } from '../../storage/rows/bundle.ts';
import { decodeEntities } from '../../wordpress/content/entities.ts';
import type { Caller } from '../caller.ts';
import { dateOfRecord, onlyDates, withoutDates } from '../occurrences.ts';
import { renderPost } from '../posts.ts';
import { languageValues } from '../record-languages.ts';
import { planPost } from './post-plan.ts';
import { requireRecurringDate } from './single-dates.ts';
import { changedMetas } from './stored-rows.ts';

/*
 * Writes that concern a single date of a recurring event. All other fields belong to the event, so that they may only
 * have their current values: a client can send back the whole record that it has read.
 */

/**
 * Returns the date fields of a change of one date. `id`: the id of the date.
 *
 * @throws rest_invalid_param for an id that is not that of a date of a recurring event, and for other fields that would
 * change the event
 */
export async function valuesOfDate(site: Site, caller: Caller, kind: PostKind, id: number, values: PostValues): Promise<PostValues> {
  const { post } = requireRecurringDate(await dateOfRecord(site.db, caller, kind, id));
  const names = Object.keys(withoutDates(values)).filter((name) => name in kind.fields);
  if (names.length === 0) return onlyDates(values);
  const [rows, metas] = [await loadPosts(site.db, [post]), await loadMetasOf(site.db, post)];
  const row = rows.get(post);
  // The write itself reports an event that has been deleted in the meantime.
  if (!row) return onlyDates(values);
  const before = { row, metas };
  const { record } = await renderPost(site, caller, kind, id);
  const isCurrent = createComparison(caller, kind, before, record);
  const changedNames = names.filter((name) => !isCurrent(name, values));
  if (changedNames.length > 0) fail('rest_invalid_param', { faults: new Map(changedNames.map((name) => [name, BELONGS_TO_EVENT])) });
  return onlyDates(values);
}

const BELONGS_TO_EVENT: Fault = { stage: 'value', reason: 'scope-only-dates' };

/**
 * Returns a function that tells whether an accepted value of a field is the current one: as it is stored, or as the
 * record shows it, which may differ (texts are shown as HTML).
 */
function createComparison(
  caller: Caller,
  kind: PostKind,
  before: StoredPost,
  record: PublishedRecord,
): (name: string, values: PostValues) => boolean {
  const isStored = createStoredComparison(caller, kind, before);
  const isShown = (name: string, field: Field, value: unknown): boolean => {
    const shown = record[name];
    if (isNothing(value)) return isNothing(shown);
    return !isNothing(shown) && isDeepStrictEqual(field.grammar.read(shown, caller.viewer.can, record).value, value);
  };
  return (name, values) => {
    const field = kind.fields[name];
    if (!field) return true;
    if (isTerms(field)) return namesTerms(valueIn(values, name, field) ?? [], membersOf(record[name]));
    const shownIds = membersOf(record[name]).map(({ id }) => Number(id));
    const value = valueIn(values, name, field);
    if (isImage(field)) return isSameList(value === null ? [] : [value], [shownIds, idsIn(before, '_thumbnail_id')]);
    if (isLinks(field)) {
      const links = (valueIn(values, name, field) ?? []).map((link) => ('id' in link ? link.id : undefined));
      return isSameList(links, [shownIds, idsIn(before, field.place.key)]);
    }
    return isShown(name, field, value) || (!(name in languageValues({})) && isStored(name, value));
  };
}

/**
 * Returns a function that tells whether a value would leave the columns, the metas and the slug of a record as they
 * are, apart from what every write changes.
 */
function createStoredComparison(caller: Caller, kind: PostKind, before: StoredPost): (name: string, value: unknown) => boolean {
  const rowsAfter = (values: PostValues) => {
    const { columns, metas, slug } = planPost(caller, kind, values, before);
    return { columns: { ...before.row, ...columns }, metas: changedMetas(before, metas), slug: slug.slug };
  };
  const unchangedRows = rowsAfter({});
  return (name, value) => isDeepStrictEqual(rowsAfter({ [name]: value }), unchangedRows);
}

/** Whether a value clears a field, or says that it is off. */
const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || value === false || value === '' || (Array.isArray(value) && value.length === 0);

const idsIn = ({ metas }: StoredPost, key: string): number[] => (metas.get(key) ?? []).map(Number);

const isSameList = (list: readonly unknown[], currentLists: readonly (readonly number[])[]): boolean =>
  currentLists.some((current) => isDeepStrictEqual(list, current));

/** Returns the records in a member of a record: a list, one record, or none. */
const membersOf = (member: unknown): Readonly<Record<string, unknown>>[] =>
  [member].flat().filter((one): one is Record<string, unknown> => isObject(one));

/** Returns whether a request names exactly these terms. */
const namesTerms = (requestedTerms: readonly RequestedTerm[], terms: readonly Readonly<Record<string, unknown>>[]): boolean => {
  const isNamed = ({ id, slug, name }: RequestedTerm, term: Readonly<Record<string, unknown>>) =>
    id === term.id || (slug ?? name) === term.slug || (name !== undefined && decodeEntities(name) === decodeEntities(String(term.name)));
  return (
    requestedTerms.every((requested) => terms.some((term) => isNamed(requested, term))) &&
    terms.every((term) => requestedTerms.some((requested) => isNamed(requested, term)))
  );
};

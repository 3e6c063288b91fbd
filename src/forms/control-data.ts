import { listPeople, loadPeople } from '../accounts/people.ts';
import { hourCycleOf } from '../calendar/hour-cycle.ts';
import { dayInWords, spanInWords } from '../html/dates.ts';
import { type Option, withCurrentValue } from '../html/form-fields.tsx';
import { textOrder } from '../html/i18n.ts';
import { sizeInWords } from '../html/size-words.ts';
import { ALLOWS_SEVERAL } from '../kinds/events/metas.ts';
import { isImage, isLinks, isTerms } from '../kinds/fields.ts';
import { MAX_BYTES } from '../kinds/grammars/grammar.ts';
import { postKind, termKind } from '../kinds/index.ts';
import type { PostKind, PostListValues, TermListValues } from '../kinds/kind.ts';
import type { LinkedKindName, TermKindName } from '../kinds/kind-names.ts';
import type { Field, Values } from '../kinds/param.ts';
import { mayUpload } from '../media/images.ts';
import { objectOf } from '../objects.ts';
import { shownImage } from '../records/core/media.ts';
import { listPosts, mayCreate, readablePosts } from '../records/posts.ts';
import { listTerms } from '../records/terms.ts';
import { mayManageTerms, mayUseByName } from '../records/visibility.ts';
import { withMaxPerPage } from '../site.ts';
import { loadPosts } from '../storage/rows/bundle.ts';
import { findByTitle, storedTitles } from '../storage/rows/posts.ts';
import { decodeEntities } from '../wordpress/content/entities.ts';
import { ksesTitle } from '../wordpress/content/kses.ts';
import { stripAllTags } from '../wordpress/content/plain-text.ts';
import { publicFirst, SETTABLE_STATUSES } from '../wordpress/status.ts';
import { ANONYMOUS } from '../wordpress/viewer.ts';
import {
  altOnOneLine,
  type ControlData,
  type FormImage,
  type FormValue,
  type LinkChoices,
  NO_CONTROL_DATA,
  type TermChoice,
} from './control.ts';
import { controlOf } from './controls.ts';
import type { FormContext } from './form-context.ts';
import { idIn } from './form-values.ts';
import { labelOf, statusText } from './labels.ts';
import { formatChoice, parseChoiceId, readLinkForm } from './link-controls.tsx';
import { languageFirst, termChoices, termsById } from './term-choices.ts';

/*
 * Data for the inputs of a form: terms, records to link to, people, the image.
 */

/** Maximum number of records offered without a script. With a script, the others are found by searching. */
const MAX_CHOICES = 200;
const MAX_AUTHORS = 100;

/**
 * Loads the data that a form needs to show these values of its fields. Terms and records in the language of the form's
 * record are offered first.
 */
export async function loadControlData(
  context: FormContext,
  kind: PostKind,
  names: readonly string[],
  values: Values,
): Promise<ControlData> {
  const { site, caller, settings, i18n } = context;
  const language = typeof values.language === 'string' ? values.language : undefined;
  const fields = names.flatMap((name): [string, Field][] => (kind.fields[name] ? [[name, kind.fields[name]]] : []));
  const [terms, links, authors, image] = await Promise.all([
    loadByFieldName(fields, async (field, name) =>
      isTerms(field) ? termsOfField(context, field.place.kind, idsIn(values[name]), language) : undefined,
    ),
    loadByFieldName(fields, async (field, name) =>
      isLinks(field) ? linkChoices(context, field.place.kind, idsIn(values[name]), language) : undefined,
    ),
    names.includes('author') ? authorOptions(context, kind, values.author) : [],
    loadImage(context, Number(values[fields.find(([, field]) => isImage(field))?.[0] ?? ''])),
  ]);
  // The input for the text of an image that the caller may not change is only for a new one.
  const initialAlt = image?.mayChangeAlt ? image.alt : '';
  return {
    say: i18n.say,
    momentInWords: (moment) => inWords(context, moment),
    terms,
    newTermFields: new Set(
      fields.flatMap(([name, field]) => (isTerms(field) && mayManageTerms(caller, termKind(field.place.kind)) ? [name] : [])),
    ),
    links,
    authors,
    image,
    alt: initialAlt,
    initialAlt,
    statuses: statusChoices(context, kind, String(values.status ?? '')),
    mayUpload: mayUpload(caller.viewer),
    maxFileSize: { bytes: site.config.uploadLimit, text: sizeInWords(i18n, site.config.uploadLimit) },
    customFields: settings.calendar.customFields,
    zones: names.includes('timezone') ? timeZones() : [],
    languages: new Map(settings.contentLanguages?.languages.map(({ code, name }) => [code, name])),
  };
}

function inWords({ i18n, settings }: FormContext, moment: string): string {
  const [day = '', time = ''] = moment.split(' ');
  const start = `${day} ${time}:00`;
  return time === ''
    ? dayInWords(i18n, day, 'long')
    : spanInWords(i18n, { start, end: start, allDay: false }, hourCycleOf(settings.calendar.formats.time));
}

async function loadByFieldName<T>(
  fields: readonly (readonly [string, Field])[],
  find: (field: Field, name: string) => Promise<T | undefined>,
): Promise<Record<string, T>> {
  const entries = await Promise.all(fields.map(async ([name, field]) => [name, await find(field, name)] as const));
  return Object.fromEntries(entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])));
}

/** Returns the terms that a form needs: categories are ticked in a list, tags typed by name. */
const termsOfField = (context: FormContext, name: TermKindName, ids: readonly number[], language?: string): Promise<TermChoice[]> =>
  termKind(name).hierarchical ? termChoices(context, name, { ids, language }) : termsById(context, name, ids);

const idsIn = (value: unknown): number[] => (Array.isArray(value) ? value.map(Number) : []);

let cachedTimeZones: readonly string[] | undefined;
function timeZones(): readonly string[] {
  cachedTimeZones ??= ['UTC', ...Intl.supportedValuesOf('timeZone')];
  return cachedTimeZones;
}

/** Fields of a venue or organizer that cannot be filled in while linking to a new one; its own form has them. */
const NOT_WHEN_LINKING: ReadonlySet<string> = new Set(['external_id', 'stateprovince']);

/**
 * Returns venues or organizers to link to: the linked ones, and the first ones by name, those of `language` before
 * others.
 */
async function linkChoices(
  context: FormContext,
  name: LinkedKindName,
  linkedIds: readonly number[],
  language?: string,
): Promise<LinkChoices> {
  const { site, caller, i18n } = context;
  const kind = postKind(name);
  const [{ records }, linkedPosts] = await Promise.all([
    listPosts(site, caller, kind, { per_page: MAX_CHOICES, orderby: 'title', order: 'asc' }, MAX_CHOICES),
    readablePosts(site, caller, kind, linkedIds),
  ]);
  const titledRecords = await withPlainTitles(context, kind, [...linkedPosts.records, ...languageFirst(records, language)]);
  return {
    path: kind.path,
    names: new Map(titledRecords.map((record) => [Number(record.id), choiceName(context, kind, record)])),
    newRecordFields: Object.entries<Field>(kind.fields).flatMap(([field, { text }]) =>
      text && !NOT_WHEN_LINKING.has(field) ? [{ name: field, label: labelOf(i18n, kind.name, field) }] : [],
    ),
    allowsSeveral: ALLOWS_SEVERAL[name],
    mayCreate: mayCreate(caller, kind),
  };
}

/** Returns venues or organizers for filtering a list: the first ones by name, and the selected one (0: none). */
export async function linkOptions(context: FormContext, name: LinkedKindName, selectedId: number): Promise<Option[]> {
  const { names } = await linkChoices(context, name, selectedId === 0 ? [] : [selectedId]);
  return [...names].map(([id, text]) => ({ value: String(id), text }));
}

/** Returns tags for filtering a list, by name: those of most records, and the selected one (0: none). */
export async function tagOptions({ site, caller, i18n }: FormContext, selectedId: number): Promise<Option[]> {
  const kind = termKind('tag');
  const listTags = (values: TermListValues) => listTerms(withMaxPerPage(site, MAX_CHOICES), caller, kind, values);
  const { records } = await listTags({ per_page: MAX_CHOICES, orderby: 'count', order: 'desc', hide_empty: true });
  const isListed = selectedId === 0 || records.some(({ id }) => id === selectedId);
  const selectedTags = isListed ? [] : (await listTags({ include: [selectedId], hide_empty: false })).records;
  const inOrder = textOrder(i18n);
  return [...selectedTags, ...records]
    .map(({ id, name }) => ({ value: String(id), text: decodeEntities(name) }))
    .sort((one, other) => inOrder(one.text, other.text));
}

/** Returns the name of a record in a list of choices: a venue with its town, and the language if it has one. */
function choiceName({ settings }: Pick<FormContext, 'settings'>, kind: PostKind, record: Values): string {
  const language = settings.contentLanguages?.languages.find(({ code }) => code === record.language)?.name;
  return placeName(kind, record) + (language === undefined ? '' : ` (${language})`);
}

function placeName(kind: PostKind, record: Values): string {
  const { city } = record;
  return typeof city === 'string' && city !== '' ? `${titleOf(kind, record)} · ${decodeEntities(city)}` : titleOf(kind, record);
}

const titleOf = (kind: PostKind, record: Values): string => decodeEntities(String(record[kind.titleField] ?? ''));

/**
 * Returns the links in a form: those that stay, and those in the boxes for more. A box contains the id at the end of a
 * choice, else the exact name of an existing record, else the name of a new record. The details of a new record belong
 * to the first new one. If an event can only have one link of the kind, the new one replaces it. `language`: language
 * of the event; records in this language take precedence.
 */
export async function resolveLinks(context: FormContext, name: LinkedKindName, formValue: FormValue, language: string): Promise<unknown[]> {
  const kind = postKind(name);
  const { keep, add, fresh } = readLinkForm(formValue);
  let details = newRecordValues(context, kind, fresh);
  const newLinks: unknown[] = [];
  for (const [index, text] of add.entries()) {
    const id = parseChoiceId(text) || (await idOfTitle(context, kind, text, { language, isSearched: index < MAX_SEARCHED_NAMES }));
    if (id) newLinks.push(id);
    else {
      newLinks.push({ [kind.titleField]: text, ...details });
      details = {};
    }
  }
  const isReplaced = !ALLOWS_SEVERAL[name] && keep.length === 1 && newLinks.length > 0;
  return isReplaced ? newLinks : [...keep, ...newLinks];
}

/** Returns the details of a new record as the API takes them. */
const newRecordValues = ({ i18n }: FormContext, { fields }: PostKind, details: Readonly<Record<string, string>>): Values =>
  Object.fromEntries(
    Object.entries(details).map(([name, text]) => {
      const field = fields[name];
      return [name, field ? controlOf(name, field).toApiValue(text, { ...NO_CONTROL_DATA, say: i18n.say }, undefined) : text];
    }),
  );

/**
 * Returns the records that match a text, as choices for the script that completes the input. Those with exactly this
 * name come first, since many others can contain it.
 */
export async function searchLinks(context: FormContext, name: LinkedKindName, search: string): Promise<string[]> {
  const kind = postKind(name);
  const params: PostListValues = {
    per_page: MAX_LINKS_FOUND,
    orderby: 'title',
    order: 'asc',
    ...(search === '' ? {} : { search }),
  } as PostListValues;
  const [{ records }, exact] = await Promise.all([
    listPosts(context.site, context.caller, kind, params, MAX_LINKS_FOUND),
    search === '' ? [] : recordsWithTitle(context, kind, search),
  ]);
  const recordsById = new Map([...exact, ...records].map((record) => [Number(record.id), record]));
  const titledRecords = await withPlainTitles(context, kind, [...recordsById.values()].slice(0, MAX_LINKS_FOUND));
  return titledRecords.map((record) => formatChoice(choiceName(context, kind, record), Number(record.id)));
}

const MAX_LINKS_FOUND = 20;

/** Maximum number of names in a form that are searched, which takes as long as a list of many records. */
const MAX_SEARCHED_NAMES = 20;

/**
 * Returns the id of the record with a name, if there are several the one in the event's language; 0: there is none, and
 * the name is refused later if it is too long. `isSearched`: whether the name may be a choice with further words.
 */
async function idOfTitle(
  context: FormContext,
  kind: PostKind,
  text: string,
  { language, isSearched }: { readonly language: string; readonly isSearched: boolean },
): Promise<number> {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BYTES.text) return 0;
  const exactMatches = await recordsWithTitle(context, kind, text);
  const mayBeChoice = isSearched && bytes <= MAX_BYTES.search && context.caller.viewer.id !== ANONYMOUS.id;
  const matches = exactMatches.length > 0 || !mayBeChoice ? exactMatches : await choicesWithText(context, kind, text);
  const usable = await usableByName(context, matches);
  return Number((usable.find((record) => record.language === language) ?? usable[0])?.id ?? 0);
}

/** Returns those of some records that may be used because of their name, published ones first. */
async function usableByName({ site, caller }: FormContext, records: readonly Values[]): Promise<readonly Values[]> {
  const rows = await loadPosts(
    site.db,
    records.map(({ id }) => Number(id)),
  );
  const rowOf = ({ id }: Values) => rows.get(Number(id));
  const usable = records.filter((record) => {
    const row = rowOf(record);
    return row && mayUseByName(caller.viewer, row);
  });
  return publicFirst(usable, (record) => rowOf(record)?.post_status ?? '');
}

/** Returns the records with exactly this title. It is stored as HTML if its author may not write unfiltered HTML. */
async function recordsWithTitle({ site, caller }: FormContext, kind: PostKind, title: string): Promise<readonly Values[]> {
  const spellings = [...new Set([title, ksesTitle(title)])];
  const rows = await Promise.all(spellings.map((one) => findByTitle(site.db, kind.postType, one, undefined)));
  const matches = rows.flat().filter(({ post_title: storedTitle }) => isSameName(decodeEntities(storedTitle), title));
  return (await readablePosts(site, caller, kind, [...new Set(matches.map(({ ID }) => ID))])).records;
}

/** Returns the records offered under this text: title and town, with or without the language. */
async function choicesWithText(context: FormContext, kind: PostKind, text: string): Promise<readonly Values[]> {
  const { site, caller } = context;
  const { records } = await listPosts(site, caller, kind, { search: text, per_page: MAX_CHOICES } as PostListValues, MAX_CHOICES);
  return (await withPlainTitles(context, kind, records)).filter((record) =>
    [placeName(kind, record), choiceName(context, kind, record)].some((name) => isSameName(name, text)),
  );
}

const isSameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Returns records with their titles as stored; those in lists have typographic quotes and dashes. */
async function withPlainTitles({ site }: FormContext, kind: PostKind, records: readonly Values[]): Promise<Values[]> {
  const titles = await storedTitles(
    site.db,
    records.map(({ id }) => Number(id)),
  );
  return records.map((record) => ({ ...record, [kind.titleField]: titles.get(Number(record.id)) ?? record[kind.titleField] }));
}

/** Returns the people who can be authors, if the caller may set the author. */
export async function authorOptions(
  { site, settings, caller, i18n }: FormContext,
  kind: PostKind,
  currentAuthor: unknown,
): Promise<Option[]> {
  const { viewer } = caller;
  if (!viewer.can(`edit_others_${kind.capabilities}`)) return [];
  const { people } = await listPeople(site, settings, viewer, { who: 'authors', per_page: MAX_AUTHORS });
  const options = people.map(({ id, displayName, nicename }) => ({ value: String(id), text: decodeEntities(displayName) || nicename }));
  const id = String(currentAuthor ?? '');
  if (id === '' || options.some(({ value }) => value === id)) return options;
  // Suggestions by visitors have no author.
  if (id === '0') return [{ value: id, text: i18n.say('desk:form.no-author') }, ...options];
  // The present author is no longer allowed to write, or is not among the first ones.
  const personId = idIn(id);
  const person = (await loadPeople(site.db, settings, [personId])).get(personId);
  return [{ value: id, text: person ? decodeEntities(person.displayName) || person.nicename : `#${id}` }, ...options];
}

/** Returns the statuses that the caller may give a record, and its present one, which another program may have set. */
export function statusChoices({ caller, i18n }: FormContext, kind: PostKind, currentStatus: string): Option[] {
  const mayPublish = caller.viewer.can(`publish_${kind.capabilities}`);
  const settable = SETTABLE_STATUSES.filter(
    (name) => name === currentStatus || (name !== 'trash' && name !== 'future' && (mayPublish || name === 'draft' || name === 'pending')),
  );
  return [
    ...withCurrentValue(
      settable.map((name) => ({ value: name, text: statusText(i18n, name) })),
      currentStatus,
    ),
  ];
}

/** Returns the image with an id; undefined if there is none that the caller may see. */
export async function loadImage({ site, caller }: FormContext, id: number): Promise<FormImage | undefined> {
  if (!(id > 0)) return undefined;
  const record = (await shownImage(site, caller, id))?.record;
  if (!record) return undefined;
  const links = record._links as
    | { readonly self?: readonly { readonly targetHints?: { readonly allow?: readonly string[] } }[] }
    | undefined;
  return {
    title: decodeEntities(stripAllTags(String(objectOf(record.title).rendered ?? ''))),
    address: String(record.source_url),
    alt: altOnOneLine(record.alt_text),
    mayChangeAlt: links?.self?.[0]?.targetHints?.allow?.includes('PATCH') ?? false,
  };
}

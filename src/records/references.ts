import { ApiError, type LogDetail } from '../errors.ts';
import { groupedBy } from '../grouped-by.ts';
import type { Grammar, Reference } from '../kinds/grammars/grammar.ts';
import { type LinkPlan, newRecord, type RequestedLink } from '../kinds/grammars/links.ts';
import { postKinds, termKind, termKinds } from '../kinds/index.ts';
import type { PostKind, PostValues } from '../kinds/kind.ts';
import type { TermKindName } from '../kinds/kind-names.ts';
import { fetchInTurn } from '../media/fetch-turns.ts';
import { fetchForLibrary, imageIdsAt, mayUpload, type PreparedImage, parseImageId, type ReportRefusal } from '../media/images.ts';
import type { Site } from '../site.ts';
import { foldText } from '../storage/engine/collation.ts';
import type { Database } from '../storage/engine/database.ts';
import { loadMetas, loadPosts } from '../storage/rows/bundle.ts';
import { findTermsLike } from '../storage/rows/terms.ts';
import { existingUserIds } from '../storage/rows/users.ts';
import { decodeEntities } from '../wordpress/content/entities.ts';
import { sanitizeTermName } from '../wordpress/content/kses.ts';
import { isTranslated } from '../wordpress/content-languages.ts';
import type { Post, Term } from '../wordpress/rows.ts';
import { isSameSlug, sanitizeTitle } from '../wordpress/slug.ts';
import { trimAscii } from '../wordpress/trim.ts';
import type { Caller } from './caller.ts';
import { postsOfRecords } from './occurrences.ts';
import { shownAmong, shownImages } from './shown-images.ts';
import { accessRow, mayRead } from './visibility.ts';
import { discardImages } from './writes/prepared-images.ts';

/** A value that refers to other records or people, as read by its grammar. */
export interface UnresolvedReference {
  readonly name: string;
  readonly value: unknown;
  readonly grammar: Grammar;
}

interface Options {
  /** Accepts the parameters of a new record within another one. Throws if they are refused. */
  readonly accept: (kind: PostKind, raw: Readonly<Record<string, unknown>>) => Promise<PostValues>;
  readonly password: string | undefined;
  /** Whether the rest of the request is valid; only then are images fetched from other sites. */
  readonly isLastStep: boolean;
}

/**
 * Looks up the references in a request, with one query for each kind. Records that the caller may not read count as
 * unknown (decision D35), and so do protected events in a filter. Returns the resolved values, and the names of
 * parameters with unknown references. `detail`: why an image could not be fetched, for the log.
 */
export async function resolveReferences(
  site: Site,
  caller: Caller,
  references: readonly UnresolvedReference[],
  options: Options,
): Promise<{ values: Record<string, unknown>; unknownNames: string[]; detail?: LogDetail }> {
  const resolution: Resolution = { values: {}, unknownNames: [] };
  if (references.length === 0) return resolution;
  const search: Search = { site, caller, references, options };
  try {
    await findPeople(search, resolution);
    const { images, rows } = await findPosts(search, resolution);
    await findTermsNamed(search, resolution);
    return await findImages(search, resolution, images, rows);
  } catch (error) {
    await discardImages(resolution.values);
    throw error;
  }
}

/** The resolved values, and the names of parameters with unknown references. */
interface Resolution {
  readonly values: Record<string, unknown>;
  readonly unknownNames: string[];
}

interface Search {
  readonly site: Site;
  readonly caller: Caller;
  readonly references: readonly UnresolvedReference[];
  readonly options: Options;
}

/** A value that refers to an image. */
interface WantedImage {
  readonly name: string;
  readonly value: number | string;
}

function noteResult({ values, unknownNames }: Resolution, name: string, value: unknown): void {
  if (value === undefined) unknownNames.push(name);
  else values[name] = value;
}

const referencesTo = ({ references }: Search, ...names: Reference[]): UnresolvedReference[] =>
  references.filter(({ grammar }) => names.includes(grammar.refersTo!));

async function findPeople(search: Search, resolution: Resolution): Promise<void> {
  const userReferences = referencesTo(search, 'user');
  const users = await existingUserIds(
    search.site.db,
    userReferences.flatMap(({ value }) => idsIn(value)),
  );
  for (const { name, value } of userReferences) noteResult(resolution, name, idsIn(value).every((id) => users.has(id)) ? value : undefined);
}

/** Finds events, venues and organizers. Returns all loaded rows, including those of images. */
async function findPosts(search: Search, resolution: Resolution): Promise<{ images: readonly WantedImage[]; rows: Map<number, Post> }> {
  const { site, caller, options } = search;
  const posts = referencesTo(search, 'event', 'venue', 'organizer');
  const images = referencesTo(search, 'image').flatMap(({ name, value }) => (isScalar(value) ? [{ name, value }] : []));
  const dates = await postsOfRecords(
    site.db,
    caller,
    referencesTo(search, 'event').flatMap(({ value }) => idsIn(value)),
  );
  const rows = await loadPosts(site.db, [
    ...posts.flatMap(({ value }) => idsIn(value)),
    ...dates.values(),
    ...images.flatMap(({ value }) => parseImageId(value) ?? []),
  ]);
  const isReadable = await readablePosts(site.db, caller, rows, options.password);
  for (const kind of postKinds) {
    for (const { name, value: sentValue, grammar } of referencesTo(search, kind.name)) {
      const value = kind.hasDates && typeof sentValue === 'number' ? (dates.get(sentValue) ?? sentValue) : sentValue;
      const isValid = idsIn(value).every((id) => isReadable(kind, id, grammar.use === 'selector'));
      noteResult(resolution, name, isValid ? await planLinks(value, kind, options.accept) : undefined);
    }
  }
  return { images, rows };
}

async function findTermsNamed(search: Search, resolution: Resolution): Promise<void> {
  for (const { name: kind } of termKinds) {
    const references = referencesTo(search, kind);
    const lookUp = await termLookUp(
      search.site.db,
      kind,
      references.flatMap(({ value }) => tokensIn(value)),
    );
    const { settings, content } = search.caller;
    const isLanguageChosen = content.code !== undefined && isTranslated(settings.contentLanguages, termKind(kind).taxonomy);
    for (const { name, value, grammar } of references) noteResult(resolution, name, termValue(value, grammar, lookUp, isLanguageChosen));
  }
}

async function findImages(
  { site, caller, options }: Search,
  resolution: Resolution,
  images: readonly WantedImage[],
  rows: Map<number, Post>,
): Promise<Resolution & { detail?: LogDetail }> {
  const imageRows = images.flatMap(({ value }) => rows.get(parseImageId(value) ?? 0) ?? []);
  const shownIds = await shownImages(site.db, caller.viewer, imageRows);
  let detail: LogDetail | undefined;
  const reportRefusal: ReportRefusal = (reason) => {
    detail = reason;
  };
  for (const { name, value } of images) {
    const fetch =
      options.isLastStep && resolution.unknownNames.length === 0
        ? (address: string) => fetchInTurn(caller.viewer.id, () => fetchWithinTime(site, caller, address, reportRefusal))
        : undefined;
    noteResult(resolution, name, await imageValue(site, caller, value, { shownIds, fetch }));
  }
  return { ...resolution, ...(detail ? { detail } : {}) };
}

/**
 * Time limits in milliseconds: for all images of a request, including those of a batch and of new linked records, and
 * for each image.
 */
const FETCH_ALL_TIMEOUT_MS = 300_000;
const FETCH_ONE_TIMEOUT_MS = 15_000;

async function fetchWithinTime(
  site: Site,
  caller: Caller,
  address: string,
  reportRefusal: ReportRefusal,
): Promise<PreparedImage | undefined> {
  const remainingMs = Math.floor(caller.receivedAt + FETCH_ALL_TIMEOUT_MS - performance.now());
  if (remainingMs > 0)
    return fetchForLibrary(address, site, caller, {
      ...site.fetching,
      reportRefusal,
      timeoutMs: Math.min(remainingMs, FETCH_ONE_TIMEOUT_MS),
    });
  reportRefusal({ image: 'no time left for further images of this request' });
  return undefined;
}

const isScalar = (value: unknown): value is number | string => typeof value === 'number' || typeof value === 'string';

/** Returns the ids in a value: a single one, a list, or those of requested links. */
const idsIn = (value: unknown): number[] =>
  (isListOfLinks(value) ? value.map((link) => ('id' in link ? link.id : undefined)) : [value].flat()).filter(
    (id) => typeof id === 'number',
  );

/** Whether a value was read as requested links, which are the only lists of objects that refer to posts. */
const isListOfLinks = (value: unknown): value is readonly RequestedLink[] => Array.isArray(value) && typeof value[0] === 'object';

/**
 * Accepts the parameters of new records in requested links (decision D5); returns other values unchanged. Undefined if
 * something is refused.
 */
async function planLinks(value: unknown, kind: PostKind, accept: Options['accept']): Promise<unknown> {
  if (!isListOfLinks(value)) return value;
  const plans: LinkPlan[] = [];
  try {
    for (const link of value) plans.push('id' in link ? link : newRecord(kind, await accept(kind, link.create)));
    return plans;
  } catch (error) {
    await discardImages({ plans });
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/**
 * Returns a function that tells whether an id is a record of a kind that the caller may read. `includesHidden` skips
 * the permission check.
 */
async function readablePosts(db: Database, { viewer }: Caller, rows: ReadonlyMap<number, Post>, password: string | undefined) {
  const trashedIds = [...rows.values()].filter((row) => row.post_status === 'trash').map((row) => row.ID);
  const metas = await loadMetas(db, trashedIds);
  return ({ problems, postType }: PostKind, id: number, includesHidden: boolean): boolean => {
    const row = rows.get(id);
    if (row?.post_type !== postType) return false;
    const locked = row.post_password !== '' && row.post_password !== password;
    return includesHidden || (mayRead(viewer, accessRow(row, metas.get(id))) && !(locked && problems.locked));
  };
}

const tokensIn = (value: unknown): (string | number)[] =>
  [value]
    .flat()
    .filter(isScalar)
    .filter((item) => item !== 0);

/**
 * Finds terms among those loaded: by id, by slug (else as a name, unless it is a number), by a name (first as a slug),
 * or by a token as WordPress resolves it, first as a slug, then as an id, then as a name.
 */
export interface TermLookUp {
  readonly byId: (id: number) => Term | undefined;
  readonly bySlug: (slug: string) => Term | undefined;
  readonly byName: (name: string) => Term | undefined;
  readonly byToken: (token: string | number) => Term | undefined;
  /** Like `byToken`, but returns all terms if several have the token as their slug. */
  readonly everyByToken: (token: string | number) => readonly Term[];
}

/**
 * Loads the terms for these tokens. `preferred`: selects terms that take precedence if they match a token in any way.
 */
export async function termLookUp(
  db: Database,
  name: TermKindName,
  tokens: readonly (string | number)[],
  preferred: (terms: Term[]) => Promise<readonly Term[]> = async () => [],
): Promise<TermLookUp> {
  const texts = tokens.map(String);
  const terms = await findTermsLike(db, termKind(name).taxonomy, {
    ids: texts.filter(isId).map(Number),
    slugs: texts.map((text) => sanitizeTitle(text)).filter(Boolean),
    names: texts.map(sanitizeTermName).filter(Boolean),
  });
  const preferredTerms = await preferred(terms);
  const rows = [...new Set([...preferredTerms, ...terms])];
  const indexes = [preferredTerms, rows].map(indexTerms);
  const ids = firstByKey(rows, ({ term_id: id }) => id);
  const rowsBySlug = groupedBy(rows, ({ slug }) => slug);
  /** Returns the term that a text matches in the first of these ways, a preferred one before all others. */
  const find = (text: string, ways: readonly (keyof TermIndex)[]): Term | undefined => {
    for (const index of indexes) for (const way of ways) if (index[way](text)) return index[way](text);
    return undefined;
  };
  const byToken = (token: string | number) => find(String(token), ['slug', 'id', 'name']);
  return {
    byId: (id) => ids.get(id),
    bySlug: (slug) => find(slug, ['slug']) ?? (isId(slug) ? undefined : find(slug, ['name'])),
    byName: (termName) => find(termName, ['slug', 'name']),
    everyByToken: (token) => rowsBySlug.get(sanitizeTitle(String(token))) ?? [byToken(token) ?? []].flat(),
    byToken,
  };
}

/** Returns the term with an id, unless its kind is another. */
export const termWithId = async (db: Database, name: TermKindName, id: number): Promise<Term | undefined> =>
  (await findTermsLike(db, termKind(name).taxonomy, { ids: [id], slugs: [], names: [] }))[0];

/**
 * Returns the terms that have exactly this slug or name, otherwise those whose slug or name differs only in what the
 * database considers equal. A text that only becomes one of them (`C%23`, `C<b>`) is none. Several can share a slug in
 * other languages and a name under other parents, and the slug of one can be the name of another.
 */
export async function termsCalled(db: Database, kind: TermKindName, text: string): Promise<readonly Term[]> {
  const terms = await findTermsLike(db, termKind(kind).taxonomy, {
    ids: [],
    slugs: [sanitizeTitle(text)].filter(Boolean),
    names: [sanitizeTermName(text)].filter(Boolean),
  });
  const name = decodeEntities(trimAscii(text));
  const exactTerms = terms.filter((term) => isSameSlug(term.slug, text) || decodeEntities(term.name) === name);
  if (exactTerms.length > 0) return exactTerms;
  const slug = text.toLowerCase();
  return terms.filter((term) => isSameSlug(term.slug, slug) || foldText(decodeEntities(term.name)) === foldText(name));
}

/** Ways in which a text finds a term. */
type TermIndex = Readonly<Record<'slug' | 'id' | 'name', (text: string) => Term | undefined>>;

function indexTerms(terms: readonly Term[]): TermIndex {
  const [slugs, ids] = [firstByKey(terms, ({ slug }) => slug), firstByKey(terms, ({ term_id: id }) => id)];
  const names = firstByKey(terms, ({ name }) => foldText(name));
  return {
    slug: (text) => slugs.get(sanitizeTitle(text)),
    id: (text) => (isId(text) ? ids.get(Number(text)) : undefined),
    name: (text) => names.get(foldText(sanitizeTermName(text))),
  };
}

/** Maps terms by a key; the first of several wins. */
const firstByKey = <Key>(rows: readonly Term[], key: (term: Term) => Key): ReadonlyMap<Key, Term> =>
  new Map(rows.toReversed().map((term) => [key(term), term]));

const isId = (text: string) => /^\d{1,15}$/.test(text);

/**
 * Returns the terms that a value names. `isLanguageChosen`: the list is requested in one language; a slug then matches
 * the terms of all languages that have it.
 */
function termValue(value: unknown, { use }: Grammar, { byId, byToken, everyByToken }: TermLookUp, isLanguageChosen: boolean): unknown {
  if (value === 0) return 0;
  if (typeof value === 'number') return byId(value)?.term_id;
  if (typeof value === 'string') return byToken(value)?.term_id;
  const tokens = tokensIn(value);
  // A number must be the id of a term, as in the reference. If a term has that number as its slug, that term is meant.
  const terms = tokens.map((token) => (isId(String(token)) && !byId(Number(token)) ? undefined : byToken(token)));
  if (terms.includes(undefined)) return undefined;
  return use === 'numbers'
    ? tokens.map((token) => (isId(String(token)) ? Number(token) : byToken(token)?.slug))
    : [
        ...new Set(
          tokens.flatMap((token) => (isLanguageChosen ? everyByToken(token) : (byToken(token) ?? []))).map((term) => term.term_id),
        ),
      ];
}

/**
 * Resolves an image: by id, if it is among `shownIds`. Callers who may upload can also give the address of an image in
 * the library, or of one to fetch from another site. An image that is hidden from the caller counts as missing.
 */
async function imageValue(
  site: Site,
  caller: Caller,
  value: number | string,
  {
    shownIds,
    fetch,
  }: { readonly shownIds: ReadonlySet<number>; readonly fetch: ((address: string) => Promise<PreparedImage | undefined>) | undefined },
): Promise<number | PreparedImage | undefined> {
  if (typeof value === 'string' && !mayUpload(caller.viewer)) return undefined;
  const id = parseImageId(value);
  if (id !== undefined) return shownIds.has(id) ? id : undefined;
  const idsAtAddress = await imageIdsAt(site.db, String(value), caller);
  const shownAtAddress = await shownAmong(site.db, caller.viewer, idsAtAddress);
  return idsAtAddress.find((found) => shownAtAddress.has(found)) ?? fetch?.(String(value));
}

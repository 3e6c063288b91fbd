import { fail } from '../errors.ts';
import type { Kind, PostKind, TermKind } from '../kinds/kind.ts';
import { upsertParam } from '../kinds/post-fields.ts';
import type { Caller } from '../records/caller.ts';
import { withExplainedErrors } from '../records/explanation.ts';
import { acceptParams } from '../records/input.ts';
import { type Listing, listPosts, mayChange, mayCreate, mayTrash, postIdsOfSlug } from '../records/posts.ts';
import { termsCalled, termWithId } from '../records/references.ts';
import { changeTerm, createTerm, deleteTerm, listTerms } from '../records/terms.ts';
import { lockPostVersion, lockTermVersion, parseTags, withPreconditions } from '../records/versions.ts';
import { mayManageTerms } from '../records/visibility.ts';
import { changePost, createPost, deletePost, trashPost } from '../records/writes/post-writes.ts';
import { withImageCleanup } from '../records/writes/prepared-images.ts';
import { upsertPost } from '../records/writes/upsert.ts';
import type { Site } from '../site.ts';
import { lookUpOnce } from '../storage/engine/look-up-once.ts';
import type { Preconditions } from '../wordpress/record-version.ts';
import { isSameSlug, slugPathForQuery, trashedSlug } from '../wordpress/slug.ts';
import { trimOf } from '../wordpress/trim.ts';
import { kindForCaller, type Options } from './content-flags.ts';
import { CliError, EXIT_CODE } from './io.ts';
import type { Item } from './print.ts';

/* Actions of the commands about records, with the checks and in the transactions of the API. */

/** Returns one page of a list. By default, terms that are not in use are included. */
export async function listPage(site: Site, caller: Caller, declaredKind: Kind, raw: Options): Promise<Listing> {
  const kind = kindForCaller(caller, declaredKind);
  if (kind.is === 'post') return listPosts(site, caller, kind, await acceptParams(site, caller, kind.filters, raw, 'read'));
  const params = 'hide_empty' in raw || !('hide_empty' in kind.filters) ? raw : { ...raw, hide_empty: false };
  return listTerms(site, caller, kind, await acceptParams(site, caller, kind.filters, params, 'read'));
}

/** Returns the requested page, or the whole list if no page is requested. */
export async function listAll(site: Site, caller: Caller, kind: Kind, raw: Options): Promise<Item[]> {
  if ('page' in raw || 'per_page' in raw) return [...(await listPage(site, caller, kind, raw)).records];
  const items: Item[] = [];
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const listing = await listPage(site, caller, kind, { ...raw, page, per_page: site.config.maxPerPage });
    items.push(...listing.records);
    pages = listing.pages;
  }
  return items;
}

/** The site, caller and kind of a write. */
export interface RecordWrite {
  readonly site: Site;
  readonly caller: Caller;
  readonly kind: Kind;
}

/**
 * Creates a record, or changes the existing one with `upsert`. Throws CliError and the errors of the API:
 * rest_forbidden, invalid values.
 */
export async function create(
  { site, caller, kind: declaredKind }: RecordWrite,
  raw: Options,
): Promise<{ id: number; isNew: boolean; record: Item }> {
  const kind = kindForCaller(caller, declaredKind);
  const { upsert: by, ...values } = await acceptParams(site, caller, { ...kind.fields, ...upsertOf(kind) }, raw, 'create');
  const work = async (trackedSite: Site): Promise<{ record: Item; isNew?: boolean }> => {
    requireAllowed(kind.is === 'post' ? mayCreate(caller, kind) : mayManageTerms(caller, kind));
    if (kind.is === 'term') return createTerm(trackedSite, caller, kind, values);
    return by === undefined ? createPost(trackedSite, caller, kind, values) : upsertPost(trackedSite, caller, kind, { by, values });
  };
  const { record, isNew = true } = await withExplainedErrors(kind.fields, raw, () => withImageCleanup(site, values, work));
  return { id: Number(record.id), isNew, record };
}

/** Returns the parameter that turns a creation into an update of an existing record. */
export const upsertOf = (kind: Kind): Partial<ReturnType<typeof upsertParam>> => (kind.is === 'post' ? upsertParam(kind) : {});

/**
 * Changes the given values of a record, and returns it as it is afterwards. Throws the errors of the API:
 * rest_forbidden, edit-conflict, invalid values.
 */
export async function change(writing: RecordWrite, id: number, raw: Options, preconditions: Preconditions | undefined): Promise<Item> {
  const { site, caller } = writing;
  const kind = kindForCaller(caller, writing.kind);
  const values = await acceptParams(site, caller, kind.fields, raw, 'change');
  const work = async (trackedSite: Site): Promise<{ readonly record: Item }> => {
    requireAllowed(kind.is === 'post' ? await mayChange(lookUpOnce(trackedSite.db), caller, kind, id) : mayManageTerms(caller, kind));
    return ifUnchanged<{ readonly record: Item }>({ ...writing, site: trackedSite }, id, preconditions, (transactionSite) =>
      kind.is === 'post' ? changePost(transactionSite, caller, kind, id, values) : changeTerm(transactionSite, caller, kind, id, values),
    );
  };
  return (await withExplainedErrors(kind.fields, raw, () => withImageCleanup(site, values, work))).record;
}

/**
 * Moves a post to the trash, or deletes it permanently with `force`; deletes a term. Throws the errors of the API:
 * rest_forbidden, edit-conflict, invalid ids.
 */
export async function remove(
  writing: RecordWrite,
  id: number,
  { preconditions, force }: { readonly preconditions: Preconditions | undefined; readonly force: boolean },
): Promise<void> {
  const { site, caller, kind } = writing;
  requireAllowed(kind.is === 'post' ? await mayTrash(lookUpOnce(site.db), caller, kind, id) : mayManageTerms(caller, kind));
  await ifUnchanged<unknown>(writing, id, preconditions, (transactionSite) =>
    kind.is === 'post'
      ? (force ? deletePost : trashPost)(transactionSite, caller, kind, id)
      : deleteTerm(transactionSite, caller, kind, id),
  );
}

/** Writes only if the record still meets the preconditions; always if there are none. */
function ifUnchanged<Result>(
  { site, caller, kind }: RecordWrite,
  id: number,
  preconditions: Preconditions | undefined,
  write: (site: Site) => Promise<Result>,
): Promise<Result> {
  const lockVersion = kind.is === 'post' ? lockPostVersion(kind) : lockTermVersion(kind);
  return preconditions ? withPreconditions(site, caller, lockVersion, { id, conditions: preconditions }, write) : write(site);
}

/** Returns the precondition in `--if-match`. Throws CliError `one-by-one`. */
export function ifMatchPreconditions({ ifMatch }: Options, references: readonly string[]): Preconditions | undefined {
  if (typeof ifMatch !== 'string') return undefined;
  if (references.length > 1) throw new CliError('one-by-one', {}, EXIT_CODE.usage);
  return { match: parseTags(ifMatch) };
}

/** Throws rest_forbidden unless allowed. */
export function requireAllowed(isAllowed: boolean): void {
  if (!isAllowed) fail('rest_forbidden');
}

/**
 * Returns the id of the record that a reference means: digits are an id, otherwise a slug; terms are also found by
 * name. A text that only becomes a slug (`C++`, `c`) is none. Throws CliError `not-found`, `several-found`.
 */
export async function resolveId(site: Site, kind: Kind, reference: string): Promise<number> {
  const id = kind.is === 'post' ? await resolvePostId(site, kind, reference) : await resolveTermId(site, kind, reference);
  if (id === undefined) throw new CliError('not-found', { reference });
  return id;
}

/** Returns the id of a post. An id is not looked up, since the action reports it if it is unknown. */
async function resolvePostId(site: Site, kind: PostKind, reference: string): Promise<number | undefined> {
  if (isId(reference)) return Number(reference);
  const path = slugsIn(reference);
  return path.length > 0 ? onlyId(reference, await postIdsOfSlug(site, kind, path.join('/'))) : undefined;
}

/** Returns the slugs in a path, outermost first; none if the text contains what no slug does. */
function slugsIn(reference: string): string[] {
  const path = slugPathForQuery(reference);
  return isSameSlug(path.join('/'), trimOf(reference, '/').toLowerCase()) ? path : [];
}

/** Whether a reference to a record is an id. */
const isId = (reference: string): boolean => /^\d{1,15}$/.test(reference);

/**
 * Returns the id of a record in the trash that a reference means: a slug is the one that it had before, or the one that
 * it has there (`trashedSlug`). Throws CliError `not-found`, `several-found`.
 */
export async function resolveIdInTrash(site: Site, kind: PostKind, reference: string): Promise<number> {
  const path = isId(reference) ? [] : slugsIn(reference);
  const slug = path.pop();
  const ids = slug ? await postIdsOfSlug(site, kind, [...path, trashedSlug(slug)].join('/')) : [];
  return onlyId(reference, ids) ?? resolveId(site, kind, reference);
}

async function resolveTermId({ db }: Site, { name }: TermKind, reference: string): Promise<number | undefined> {
  if (isId(reference)) return (await termWithId(db, name, Number(reference)))?.term_id;
  const terms = await termsCalled(db, name, reference);
  return onlyId(
    reference,
    terms.map(({ term_id: id }) => id),
  );
}

/** Returns the only one of these ids of a reference; undefined if there is none. Throws CliError `several-found`. */
function onlyId(reference: string, ids: readonly number[]): number | undefined {
  if (ids.length > 1) throw new CliError('several-found', { reference, ids: ids.join(', ') });
  return ids[0];
}

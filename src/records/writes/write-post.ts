import { fail, failParam, refuse } from '../../errors.ts';
import { hasRules } from '../../kinds/events/occurrence.ts';
import { isImage, isLinks, isTerms, valueIn } from '../../kinds/fields.ts';
import type { FetchedImage } from '../../kinds/grammars/grammars.ts';
import { isNewRecord, type LinkPlan } from '../../kinds/grammars/links.ts';
import type { RequestedTerm } from '../../kinds/grammars/lists.ts';
import { termKind } from '../../kinds/index.ts';
import type { PostKind, PostValues, StoredPost } from '../../kinds/kind.ts';
import type { TermKindName } from '../../kinds/kind-names.ts';
import { SUGGESTION_META } from '../../kinds/suggestion.ts';
import { insertPrepared } from '../../media/images.ts';
import type { Database } from '../../storage/engine/database.ts';
import { loadMetasOf } from '../../storage/rows/bundle.ts';
import { lockNames, slugLock } from '../../storage/rows/locks.ts';
import { findPost, lockFound, lockPost, updatePost, writeMetas } from '../../storage/rows/posts.ts';
import { touchDatedPosts } from '../../storage/rows/recurring-events.ts';
import { saveRevision } from '../../storage/rows/revisions.ts';
import { loadTermsOf } from '../../storage/rows/terms.ts';
import { restoreComments } from '../../storage/rows/trashed-comments.ts';
import { languageOfCode } from '../../wordpress/content-languages.ts';
import { oldAddresses } from '../../wordpress/old-addresses.ts';
import { type StoredValue, storedText, storedTexts } from '../../wordpress/php/serialized.ts';
import { type Post, textsOf } from '../../wordpress/rows.ts';
import { uniqueSlug } from '../../wordpress/slug.ts';
import { isPublic, isPublished } from '../../wordpress/status.ts';
import type { Caller } from '../caller.ts';
import { trustOf } from '../clean-text.ts';
import { updateIndex } from '../list-index.ts';
import { mayCreate } from '../posts.ts';
import {
  countForLanguage,
  currentLanguage,
  hasNoTranslations,
  languageOfNew,
  languagesOf,
  languageValues,
  membershipsOf,
} from '../record-languages.ts';
import { type BareNumber, createTermResolver, resolveRequestedTerms } from '../requested-terms.ts';
import { shownAmong } from '../shown-images.ts';
import { termsInLanguage } from '../term-languages.ts';
import { placeInLanguage } from '../translation-groups.ts';
import { accessRow, mayDelete, mayEdit, mayUseByName } from '../visibility.ts';
import { externalIdIn, findByExternalId, refuseTakenName, refuseTakenNames } from './external-ids.ts';
import { insertPosts, type PlannedPost, takenSlugs } from './insert-posts.ts';
import { isUnpublished, type LinkedDraft, linkedDrafts, notedDrafts, PUBLISHED_WITH, withNotedDrafts } from './linked-drafts.ts';
import { errorOfField } from './linked-faults.ts';
import { type MetasAndTerms, NO_METAS_OR_TERMS, writeMetasAndTerms } from './metas-and-terms.ts';
import { isNewSlug } from './name-locks.ts';
import { type PostPlan, planPost } from './post-plan.ts';
import { deriveRows, fieldRows } from './post-rows.ts';
import { isPrepared } from './prepared-images.ts';
import { findReusableRecord, languageOfFound, languageOfReused } from './reusable-records.ts';
import { isStored, slugOrId } from './stored-rows.ts';
import { copyRecurrence } from './translated-dates.ts';
import { withInherited } from './translation-source.ts';
import { commentStatuses, trashMetas } from './trash-metas.ts';
import type { KindWrite, NewPost, WriteContext } from './write-context.ts';

/*
 * Writes one record, inside a transaction, with the terms, images, venues and organizers that it brings along.
 */

/**
 * Reads and locks the record that will be changed.
 *
 * @throws the kind's error for an id that belongs to none of its records, or rest_invalid_param if it has none
 */
export async function lockExisting({ db, kind }: Pick<WriteContext, 'db' | 'kind'>, id: number): Promise<StoredPost> {
  const row = await lockPost(db, id);
  if (row?.post_type === kind.postType) return { row, metas: await loadMetasOf(db, id) };
  const { byId } = kind.problems;
  return byId ? fail(row ? byId.otherType : byId.missing) : failParam('id', 'id-unknown');
}

/**
 * Reads and locks the record like `lockExisting`, and asks again whether the caller may edit or delete it: since the
 * request was let in, an editor may have published the record, or given it to another author.
 *
 * @throws the errors of `lockExisting`; rest_forbidden
 */
export async function lockFor(
  action: 'edit' | 'delete',
  write: Pick<WriteContext, 'db' | 'caller' | 'kind'>,
  id: number,
): Promise<StoredPost> {
  const { viewer } = write.caller;
  const existingPost = await lockExisting(write, id);
  const isAllowed = (action === 'edit' ? mayEdit : mayDelete)(viewer, accessRow(existingPost.row, existingPost.metas));
  return isAllowed ? existingPost : refuse(viewer);
}

/** Returns the context for writing a new record. `createdFor`: the language of the record that it is created for. */
export function newWrite(db: Database, caller: Caller, kind: PostKind, values: PostValues, createdFor?: string): WriteContext {
  const language = languageOfNew(caller, kind, values, { createdFor });
  return { db, caller, kind, ...(language ? { language: { language, before: null, values: languageValues(values) } } : {}) };
}

/** Writes a new record whose names are locked. Returns its id, or that of an existing record that is used instead. */
export async function writeNew(
  write: WriteContext,
  { values, plan, alwaysCreates = false, hasFreeName = false, source, recurrenceOf }: Omit<NewPost, 'kind'>,
): Promise<number> {
  const ownReferences = await createReferenced(write, values);
  const existingPost = await findReusableRecord(write, plan, { alwaysCreates, hasFreeName });
  if (!existingPost) {
    const references = await withInherited(write, source, values, ownReferences);
    const [id = 0] = await insertPosts(write, [
      { plan, references: await withNotedDrafts(write, plan, references), language: write.language },
    ]);
    const series = source?.row.ID ?? recurrenceOf;
    if (series !== undefined) await copyRecurrence(write, series, id, new Map(Object.entries(plan.metas)));
    return id;
  }
  // A record that is used instead keeps what the values do not name: it takes nothing from the source.
  await updateReused(write, existingPost, values, ownReferences);
  return existingPost.row.ID;
}

/**
 * Writes a venue or organizer that a record brings along, and whose names are locked. One with the external ID is
 * changed as by an upsert. Returns its id.
 *
 * @throws rest_invalid_param about its own values, and for the external ID of a record that the caller may not change
 */
async function writeLinked(write: WriteContext, values: PostValues): Promise<number> {
  const { db, caller, kind } = write;
  const newValues = valuesOfNew(values);
  const plan = planPost(caller, kind, newValues);
  const externalId = externalIdIn(plan);
  if (externalId === undefined) return writeNew(write, { values: newValues, plan });
  const find = () => findByExternalId(db, kind, externalId);
  const id = await find();
  if (id !== undefined && (await keepFound(write, id, values))) return id;
  const row = await lockFound(db, id, find);
  if (!row) return writeNew(write, { values: newValues, plan, hasFreeName: true });
  await changeFound(write, { row, metas: await loadMetasOf(db, row.ID) }, values);
  return row.ID;
}

/**
 * Keeps a record that was found by its external ID if it is already as the values say, and returns whether it is. It is
 * not locked: imports bring the same record along with each of their events. Translations are written.
 */
async function keepFound(write: WriteContext, id: number, values: PostValues): Promise<boolean> {
  const row = Object.values(values).some(isPrepared) ? undefined : await findPost(write.db, id);
  if (!row) return false;
  const current = { row, metas: await loadMetasOf(write.db, id) };
  const found = await planFound(write, current, values);
  if (!keepsLanguage(found.write) || !isStored(current, found.plan, found.references)) return false;
  await writeLanguage(found.write, row, row);
  return true;
}

/** Changes a record that was found by its external ID, and restores it from the trash. */
async function changeFound(write: WriteContext, before: StoredPost, values: PostValues): Promise<void> {
  const found = await planFound(write, before, values);
  await writeChange(found.write, before, found.plan, await withTermsInLanguage(found.write, before, found.plan, found.references));
}

/** Plans the change of a record that was found by its external ID. */
async function planFound(write: WriteContext, before: StoredPost, values: PostValues) {
  const { caller, kind } = write;
  const access = accessRow(before.row, before.metas);
  if (!mayEdit(caller.viewer, access) || !mayUseByName(caller.viewer, access, values.author)) failParam('external_id', 'external-id-taken');
  const foundWrite = { ...write, language: await languageOfFound(write, before.row.ID, values) };
  const plan = planPost(caller, kind, withStatusOfRestored(before, values), before);
  return { write: foundWrite, plan, references: await createReferenced(foundWrite, values) };
}

/** Adds the status to the values of an upsert of a record in the trash, unless they name one: it is published. */
export const withStatusOfRestored = ({ row }: StoredPost, values: PostValues): PostValues =>
  row.post_status === 'trash' ? { status: 'publish', ...values } : values;

/** Returns the values of a new record, which has nothing that null could clear (decision D7). */
export const valuesOfNew = (values: PostValues): PostValues =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));

/**
 * Whether a new record can be written together with others: no existing record can be used instead, and it is not a
 * translation.
 */
export const isIndependent = (kind: PostKind, values: PostValues): boolean =>
  !kind.reusesTitles && hasNoTranslations(languageValues(values));

/** Writes new independent records (`isIndependent`) whose names are locked. Returns their ids in order. */
export async function writeIndependent(write: KindWrite, records: readonly NewPost[]): Promise<number[]> {
  const { db, caller, kind } = write;
  await refuseTakenNames(
    write,
    records.map(({ plan }) => plan),
  );
  const resolveTerms = createTermResolver();
  const posts: PlannedPost[] = [];
  for (const { values, plan } of records) {
    const postWrite = newWrite(db, caller, kind, values);
    const references = await withNotedDrafts(postWrite, plan, await createReferenced(postWrite, values, resolveTerms));
    posts.push({ plan, language: postWrite.language, references });
  }
  return insertPosts(write, posts);
}

/** Writes a change. `references`: its data in addition to the columns and metas of the plan. */
export async function writeChange(write: WriteContext, before: StoredPost, plan: PostPlan, references: MetasAndTerms): Promise<void> {
  const { db, caller, kind } = write;
  const { row } = before;
  const { slug, unique } = plan.slug;
  await refuseTakenName(write, plan, row.ID);
  const isNew = isNewSlug(plan, row);
  if (!isNew) await refuseTakenSlug(write, slug, row.ID);
  const newSlug = isNew ? await freeSlug(write, slug, row.ID) : slug;
  const after = { ...row, ...plan.columns, post_name: slugOrId(newSlug, unique, row.ID) };
  await updatePost(db, row.ID, { ...plan.columns, post_name: after.post_name });
  await saveRevision(db, after, caller.viewer.id, caller.settings.home);
  const drafts = isPublished(after.post_status) ? await linkedDrafts(write, before, references) : [];
  const metas = {
    ...plan.metas,
    ...oldAddresses(before.metas, row, after),
    ...trashMetas(kind, row, after),
    ...notedDrafts(before, after, drafts),
    ...references.metas,
  };
  await restoreComments(db, row.ID, commentStatuses(before, after));
  const translations = await writeLanguage(write, row, after);
  await writeMetasAndTerms(write, after, row.post_status, { ...references, metas });
  if (kind.hasDates) await updateIndex(db, caller, translations);
  if (kind.hasDates && hasRules(before.metas) && areOtherPages(row, after)) await touchDatedPosts(db, row.ID);
  if (after.post_status === 'publish') await publishDrafts(write, drafts);
}

/** Whether the URLs of the other dates of an event in the old format of recurrence change together with this one. */
const areOtherPages = (before: Post, after: Post): boolean =>
  before.post_name !== after.post_name || isPublic(before.post_status) !== isPublic(after.post_status);

/** Writes the language and the translations of a record whose row is written. Returns the ids of its translations. */
async function writeLanguage({ db, caller, kind, language: languageOfWrite }: WriteContext, before: Post, after: Post): Promise<number[]> {
  const visibility = { before: before.post_status === 'publish', after: after.post_status === 'publish' };
  if (keepsLanguage({ language: languageOfWrite }) && visibility.before !== visibility.after)
    await countForLanguage(db, caller, kind, after.ID, visibility.after ? 'shown' : 'hidden');
  if (!languageOfWrite) return [];
  const { values, ...placement } = languageOfWrite;
  return placeInLanguage(db, caller, kind, { id: after.ID, ...placement, visibility }, values);
}

const keepsLanguage = ({ language: languageOfWrite }: Pick<WriteContext, 'language'>): boolean =>
  !languageOfWrite || languageOfWrite.before === languageOfWrite.language.code;

// ------------------------------------------------------------------------------------------------- references
/**
 * Creates the records that a record brings along (new terms, a fetched image, new venues and organizers). Returns the
 * metas and terms of the record that result.
 */
export async function createReferenced(
  write: WriteContext,
  values: PostValues,
  resolveTerms: typeof resolveRequestedTerms = resolveRequestedTerms,
): Promise<MetasAndTerms> {
  const { db, caller, kind, language } = write;
  const metas: Record<string, readonly StoredValue[]> = {};
  const terms = new Map<TermKindName, readonly number[]>();
  const numbers = new Map<TermKindName, readonly BareNumber[]>();
  for (const [name, field] of Object.entries(kind.fields)) {
    if (!(name in values)) continue;
    if (isTerms(field)) {
      const { kind: taxonomy } = field.place;
      const requestedTerms = valueIn(values, name, field) ?? [];
      terms.set(taxonomy, await resolveTerms(db, caller, taxonomy, requestedTerms, language?.language));
      numbers.set(taxonomy, bareNumbers(requestedTerms));
    } else if (isImage(field)) metas._thumbnail_id = await imageRows({ db, caller }, valueIn(values, name, field));
    else if (isLinks(field)) {
      const links = valueIn(values, name, field) ?? [];
      metas[field.place.key] = await linkRows(write, links).catch((error: unknown) => {
        throw errorOfField(error, name, field);
      });
    }
  }
  return { metas, terms, numbers };
}

/** Returns the ids among requested terms that may also be slugs or names. */
const bareNumbers = (terms: readonly RequestedTerm[]): BareNumber[] =>
  terms.flatMap(({ id, name: text }) => (id === undefined || text === undefined ? [] : { id, text }));

/**
 * Adds the terms of a record in its language to a change, if its language changes, or if it was suggested by a visitor,
 * for whom no terms are created, and is published.
 */
export async function withTermsInLanguage(
  { db, caller, kind, language }: WriteContext,
  { row, metas }: StoredPost,
  { columns }: Pick<PostPlan, 'columns'>,
  references: MetasAndTerms,
): Promise<MetasAndTerms> {
  const isReleased = metas.has(SUGGESTION_META) && !isPublished(row.post_status) && isPublished(columns.post_status ?? row.post_status);
  if (!language || (language.before === language.language.code && !isReleased)) return references;
  const id = row.ID;
  const terms = new Map(references.terms);
  const currentTerms = (await loadTermsOf(db, [id])).get(id) ?? [];
  for (const name of kind.terms) {
    const taxonomy = termKind(name);
    const ids = currentTerms.filter((term) => term.taxonomy === taxonomy.taxonomy).map((term) => term.term_id);
    if (!terms.has(name) && ids.length > 0) terms.set(name, await termsInLanguage(db, caller, taxonomy, ids, language.language));
  }
  return { ...references, terms };
}

type WriteCaller = Pick<WriteContext, 'db' | 'caller'>;

async function imageRows({ db, caller }: WriteCaller, image: number | FetchedImage | null | undefined): Promise<StoredValue[]> {
  const id = isPrepared(image) ? await insertPrepared(db, image, caller, (ids) => shownAmong(db, caller.viewer, ids)) : image;
  return id ? [storedText(String(id))] : [];
}

async function linkRows({ db, caller, language }: WriteContext, links: readonly LinkPlan[]): Promise<StoredValue[]> {
  const ids: number[] = [];
  for (const link of links) {
    if (!isNewRecord(link)) ids.push(link.id);
    else {
      const { kind, values } = link;
      if (!mayCreate(caller, kind)) refuse(caller.viewer);
      const linkedWrite = newWrite(db, caller, kind, values, language?.language.code);
      ids.push(await writeLinked(linkedWrite, values));
    }
  }
  return storedTexts([...new Set(ids)].map(String));
}

// ------------------------------------------------------------------------------------------------- new records
/**
 * Updates an existing record that is used instead of a new one with the same title: it gets the metas of the new one,
 * and its row stays.
 */
async function updateReused(write: WriteContext, existingPost: StoredPost, values: PostValues, references: MetasAndTerms): Promise<void> {
  const { db, caller, kind, language } = write;
  const kindLanguages = languagesOf(caller, kind);
  const membership = kindLanguages && (await membershipsOf(db, kindLanguages, [existingPost.row.ID])).get(existingPost.row.ID);
  const before = membership?.language ?? null;
  const code = membership
    ? kindLanguages && languageOfCode(kindLanguages.languages, before ?? undefined)
    : await languageOfReused(write, existingPost.row.ID);
  const { metas } = fieldRows(kind, values, trustOf(caller.viewer));
  const derivedRows = deriveRows(kind, values, existingPost, caller);
  if (language && code)
    await writeLanguage({ ...write, language: { ...language, language: code, before } }, existingPost.row, existingPost.row);
  await writeMetasAndTerms(write, existingPost.row, existingPost.row.post_status, {
    ...references,
    metas: { ...metas, ...derivedRows.metas, ...references.metas },
  });
}

// ------------------------------------------------------------------------------------------------- changes
/** Returns a slug that no other post of the type has. Concurrent requests wait for each other. */
async function freeSlug(write: WriteContext, slug: string, id: number): Promise<string> {
  await lockNames(write.db, [slugLock(write.kind.postType, slug)]);
  return uniqueSlug(slug, (await takenSlugs(write, [slug], id))(write.language));
}

/**
 * Throws rest_invalid_param if a change moves a record into a language in which another one has its slug. A slug that
 * is not named stays, so the caller has to choose another one. Only with WPML and Polylang Pro may records in different
 * languages share a slug.
 */
async function refuseTakenSlug(write: WriteContext, slug: string, id: number): Promise<void> {
  const { db, caller, kind, language } = write;
  const isMove = language?.values.language !== undefined && language.before !== language.language.code;
  if (!isMove || slug === '' || !languagesOf(caller, kind)?.languages.sharesSlugs) return;
  await lockNames(db, [slugLock(kind.postType, slug)]);
  if ((await takenSlugs(write, [slug], id, 'present'))(language).has(slug)) failParam('language', 'slug-taken-in-language');
}

async function publishDrafts({ db, caller }: KindWrite, drafts: readonly LinkedDraft[]): Promise<void> {
  for (const { kind, row } of drafts) {
    const write = { db, caller, kind, language: await currentLanguage(db, caller, kind, row.ID) };
    const before = await lockExisting(write, row.ID);
    if (isUnpublished(before.row))
      await writeChange(write, before, planPost(caller, kind, { status: 'publish' }, before), NO_METAS_OR_TERMS);
  }
}

/** Publishes the drafts noted for a scheduled record, as far as it still links to them. */
export async function publishNotedDrafts(write: KindWrite, id: number): Promise<void> {
  const metas = await loadMetasOf(write.db, id);
  if (!metas.has(PUBLISHED_WITH)) return;
  const draftIds = textsOf(metas, PUBLISHED_WITH);
  const drafts = await linkedDrafts(write, { metas }, NO_METAS_OR_TERMS);
  await publishDrafts(
    write,
    drafts.filter(({ row }) => draftIds.includes(String(row.ID))),
  );
  await writeMetas(write.db, id, { [PUBLISHED_WITH]: [] });
}

/** Publishes the drafts that a record links to and that the caller, its author, may publish, as WordPress does. */
export async function publishDraftsOfAuthor(write: KindWrite, id: number): Promise<void> {
  const metas = await loadMetasOf(write.db, id);
  await publishDrafts(write, await linkedDrafts(write, { metas }, NO_METAS_OR_TERMS));
}

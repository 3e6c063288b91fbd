import { fail, failParam } from '../../errors.ts';
import type { PostKind, PostValues } from '../../kinds/kind.ts';
import type { Site } from '../../site.ts';
import { lockNames, slugLock } from '../../storage/rows/locks.ts';
import { findPostsBySlug, lockFound } from '../../storage/rows/posts.ts';
import { RESERVED_SLUGS, sanitizeTitle } from '../../wordpress/slug.ts';
import type { Caller } from '../caller.ts';
import { withPostIds } from '../occurrences.ts';
import { renderPost } from '../posts.ts';
import { languageOfNew, languagesOf, languageValues, membershipsOf } from '../record-languages.ts';
import { lockPostVersion, requireVersion, type VersionedRecord } from '../versions.ts';
import { accessRow, mayUseByName } from '../visibility.ts';
import { externalIdIn, findByExternalId } from './external-ids.ts';
import { locksOfNew, referencedIds } from './name-locks.ts';
import type { PostPlan } from './post-plan.ts';
import { changeLocked, type ExtraRows, type PostChange, withExtraRows, writeInTransaction } from './post-writes.ts';
import { loadTranslationSource, planOfNew } from './translation-source.ts';
import type { WriteContext } from './write-context.ts';
import { lockFor, newWrite, valuesOfNew, withStatusOfRestored, writeNew } from './write-post.ts';

/*
 * Upserts: writes that change the record with a name, or create it.
 */

/** Values of an upsert, and the field by which it finds its record. */
interface Named {
  readonly by: UpsertBy;
  readonly values: PostValues;
}

/** Fields by which an existing record is found for an upsert. */
type UpsertBy = 'external_id' | 'slug';

/** The reason why the record with that name is not changed. */
const TAKEN = { external_id: 'external-id-taken', slug: 'slug-of-draft' } as const;

/**
 * Changes the record with the same `by` as the values, or creates it. A record in the trash is published again unless
 * the values name a status; it has given up its slug. Concurrent requests wait for each other, so that only one of them
 * creates it.
 *
 * @throws rest_invalid_param if `by` is missing in the values, or cannot be a slug, or is that of another language, or
 * that of a draft of somebody else; rest_forbidden for a record that the caller may not change; edit-conflict if it
 * does not meet the caller's preconditions, or if they name a version and there is no record
 */
export async function upsertPost(
  site: Site,
  caller: Caller,
  kind: PostKind,
  { by, values: givenValues, extraRows = {} }: PostChange & { readonly by: UpsertBy },
): Promise<VersionedRecord & { readonly isNew: boolean }> {
  const values = await withPostIds(site.db, caller, kind, givenValues);
  const name = values[by];
  if (typeof name !== 'string' || name === '') failParam('upsert', 'upsert-without-name');
  const named = by === 'slug' ? sentSlug(name) : {};
  const { id, isNew } = await writeInTransaction(site, caller, async (db) => {
    const write = { db, caller, kind };
    const source = await loadTranslationSource(db, caller, kind, values);
    const planOf = (planned: PostValues) => withExtraRows(withExtraRows(planOfNew(caller, kind, planned, source), extraRows), named);
    const plan = planOf(namesIn(kind, values));
    const slugLocks = by === 'slug' ? [slugLock(kind.postType, plan.slug.slug)] : [];
    await lockNames(db, [...slugLocks, ...locksOfNew(caller, { kind, values, plan, alwaysCreates: true })]);
    const find = () => namedRecord(write, { by, values }, plan);
    const existingId = (await lockFound(db, await find(), find))?.ID;
    if (existingId === undefined) {
      if (caller.conditions?.match !== undefined) fail('edit-conflict');
      const newValues = source ? values : valuesOfNew(values);
      const newPost = { values: newValues, plan: planOf(newValues), alwaysCreates: true, source };
      return { id: await writeNew(newWrite(db, caller, kind, newValues), newPost), isNew: true };
    }
    const before = await lockFor('edit', write, existingId);
    if (!mayUseByName(caller.viewer, accessRow(before.row, before.metas), values.author)) failParam(by, TAKEN[by]);
    if (caller.conditions) await requireVersion(db, caller, lockPostVersion(kind), { id: existingId, conditions: caller.conditions });
    const extraNames = values.status === 'trash' ? {} : named;
    const change = { values: withStatusOfRestored(before, values), extraRows: extraNames, links: 'shown' } as const;
    await changeLocked(write, { before, date: undefined }, change);
    return { id: existingId, isNew: false };
  });
  return { ...(await renderPost(site, caller, kind, id, referencedIds(kind, values))), isNew };
}

/**
 * Returns the values that determine the names of a record. An existing record may have other values that a new one
 * cannot have: custom fields, or a place before other records.
 */
const namesIn = ({ titleField }: PostKind, values: PostValues): PostValues =>
  Object.fromEntries(Object.entries(values).filter(([name]) => name === titleField || NAMING.has(name)));

const NAMING: ReadonlySet<string> = new Set(['status', 'date', 'date_utc', 'slug', 'external_id'] satisfies (keyof PostValues)[]);

/**
 * Returns the slug by which an upsert finds a record. The record keeps it whatever else WordPress's rules make of it:
 * a caller who may not publish cannot choose the slug of a pending post (`wp_insert_post`), and would create another
 * record with each request.
 *
 * @throws rest_invalid_param if no character of it is allowed, or if no post can have it
 */
function sentSlug(text: string): ExtraRows {
  const slug = sanitizeTitle(text);
  if (slug === '') failParam('slug', 'slug-without-text');
  return RESERVED_SLUGS.has(slug) ? failParam('slug', 'slug-reserved') : { slug: { slug } };
}

async function namedRecord({ db, caller, kind }: WriteContext, { by, values }: Named, plan: PostPlan): Promise<number | undefined> {
  if (by === 'slug') return idForLanguage({ db, caller, kind }, values, await findPostsBySlug(db, kind.postType, plan.slug.slug));
  const externalId = externalIdIn(plan);
  return externalId === undefined ? undefined : findByExternalId(db, kind, externalId);
}

/**
 * Returns the one of some records with the same slug that is in the language of the values, or without a language. If
 * they name no language, any record will do, and keeps its own.
 *
 * @throws rest_invalid_param for a named language if another one has the slug, and only one may have it (Polylang)
 */
async function idForLanguage({ db, caller, kind }: WriteContext, values: PostValues, ids: readonly number[]): Promise<number | undefined> {
  const isNamed = languageValues(values).language !== undefined;
  const kindLanguages = languagesOf(caller, kind);
  const language = languageOfNew(caller, kind, values);
  if (!kindLanguages || !language || ids.length === 0 || (ids.length === 1 && !isNamed)) return ids[0];
  const memberships = await membershipsOf(db, kindLanguages, ids);
  const id = ids.find((one) => memberships.get(one)?.language === language.code) ?? ids.find((one) => !memberships.has(one));
  if (id !== undefined || !isNamed) return id ?? ids[0];
  return kindLanguages.languages.form === 'wpml' ? undefined : failParam('language', 'slug-of-other-language');
}

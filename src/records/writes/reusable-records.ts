import type { PostValues, StoredPost } from '../../kinds/kind.ts';
import { loadMetasOf } from '../../storage/rows/bundle.ts';
import { findByTitle, lockPost } from '../../storage/rows/posts.ts';
import type { ContentLanguage } from '../../wordpress/content-languages.ts';
import type { Post } from '../../wordpress/rows.ts';
import { DISCARDED_STATUSES, publicFirst } from '../../wordpress/status.ts';
import { languageOfChange, languagesInGroups, languagesOf, membershipsOf } from '../record-languages.ts';
import { accessRow, mayEdit, mayUseByName } from '../visibility.ts';
import { externalIdIn, refuseTakenNames } from './external-ids.ts';
import type { PostPlan } from './post-plan.ts';
import type { LanguageOfWrite, WriteContext } from './write-context.ts';

/*
 * Existing records that a write uses instead of creating new ones, and the languages that they get.
 */

/**
 * Finds an existing record to use instead of a new one. A record with an external ID is never found by its title.
 *
 * @throws rest_invalid_param if another record has the external ID
 */
export async function findReusableRecord(
  write: WriteContext,
  plan: PostPlan,
  { alwaysCreates, hasFreeName }: { alwaysCreates: boolean; hasFreeName: boolean },
): Promise<StoredPost | undefined> {
  if (externalIdIn(plan) === undefined)
    return write.kind.reusesTitles && !alwaysCreates ? findReusableByTitle(write, plan.columns) : undefined;
  return hasFreeName ? undefined : void (await refuseTakenNames(write, [plan]));
}

/**
 * Finds a record with this title that the caller may edit, to use it instead of creating a second one (decision D8): a
 * published one before others, and no draft of somebody else. The title is locked at this point, so concurrent requests
 * find each other's records.
 */
async function findReusableByTitle(
  write: WriteContext,
  { post_title: title = '', post_content: content }: Partial<Post>,
): Promise<StoredPost | undefined> {
  const { db, caller, kind } = write;
  const namesakes = await findByTitle(db, kind.postType, title, content || undefined);
  const titlesById = new Map(publicFirst(namesakes, (one) => one.post_status).map((one) => [one.ID, one.post_title]));
  for (const id of await sameLanguageFirst(write, [...titlesById.keys()])) {
    const row = await lockPost(db, id);
    // While this waited for the lock, the record may have been deleted or renamed.
    if (!row || DISCARDED_STATUSES.includes(row.post_status) || row.post_title !== titlesById.get(id)) continue;
    const metas = await loadMetasOf(db, id);
    const access = accessRow(row, metas);
    if (mayEdit(caller.viewer, access) && mayUseByName(caller.viewer, access)) return { row, metas };
  }
  return undefined;
}

/**
 * Sorts records with the same title: those in the language of the write first. If the write has values about languages,
 * records in other languages are left out, and so are those without one that a group lists under another.
 */
async function sameLanguageFirst({ db, caller, kind, language }: WriteContext, ids: readonly number[]): Promise<readonly number[]> {
  const kindLanguages = languagesOf(caller, kind);
  if (!kindLanguages || !language || ids.length === 0) return ids;
  const memberships = await membershipsOf(db, kindLanguages, ids);
  const isSame = (id: number) => memberships.get(id)?.language === language.language.code;
  const neutralIds = ids.filter((id) => !memberships.has(id));
  const strict = Object.values(language.values).some((value) => value !== undefined);
  if (!strict) return [...ids.filter(isSame), ...ids.filter((id) => !isSame(id))];
  const listed = neutralIds.length === 0 ? new Map<number, ContentLanguage>() : await languagesInGroups(db, kindLanguages, neutralIds);
  return [...ids.filter(isSame), ...neutralIds.filter((id) => (listed.get(id) ?? language.language).code === language.language.code)];
}

/** Returns the language of a record found by its external ID. One without a language gets that of the write. */
export async function languageOfFound(write: WriteContext, id: number, values: PostValues): Promise<LanguageOfWrite | undefined> {
  const change = await languageOfChange(write.db, write.caller, write.kind, id, values);
  if (!change || change.before !== null) return change;
  const language = await languageOfReused(write, id);
  return language && { ...change, language };
}

/** Returns the language that a record without one gets when it is used instead of a new one. */
export async function languageOfReused({ db, caller, kind, language }: WriteContext, id: number): Promise<ContentLanguage | undefined> {
  const kindLanguages = languagesOf(caller, kind);
  if (!kindLanguages || !language || language.values.language !== undefined) return language?.language;
  return (await languagesInGroups(db, kindLanguages, [id])).get(id) ?? language.language;
}

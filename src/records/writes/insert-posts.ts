import type { Database } from '../../storage/engine/database.ts';
import { DEFAULT_COLUMNS, insertPost, postsWithSlugsFrom, updatePost } from '../../storage/rows/posts.ts';
import { saveRevision } from '../../storage/rows/revisions.ts';
import { guidOf, postUrl } from '../../wordpress/links.ts';
import type { Post } from '../../wordpress/rows.ts';
import { uniqueSlug } from '../../wordpress/slug.ts';
import { utcFromDate } from '../../wordpress/time.ts';
import { localFromDate } from '../../wordpress/zones.ts';
import type { Caller } from '../caller.ts';
import { updateIndex } from '../list-index.ts';
import { assignLanguages, hasNoTranslations, type LanguagesOfKind, languagesOf, membershipsOf } from '../record-languages.ts';
import { placeInLanguage } from '../translation-groups.ts';
import { type InsertedRecord, insertMetasAndTerms, type MetasAndTerms } from './metas-and-terms.ts';
import type { PostPlan } from './post-plan.ts';
import type { KindWrite, LanguageOfWrite } from './write-context.ts';

/** A new record whose names are locked and whose references exist. */
export interface PlannedPost {
  readonly plan: PostPlan;
  readonly references: MetasAndTerms;
  readonly language: LanguageOfWrite | undefined;
}

/**
 * Inserts new records of a kind, in a transaction: one statement per row, which returns its id, and a few statements
 * for all other data of all records. Returns their ids in order.
 */
export async function insertPosts(write: KindWrite, posts: readonly PlannedPost[]): Promise<number[]> {
  const { db, caller, kind } = write;
  const records: InsertedRecord[] = [];
  for (const { plan, references, language, slug } of await withFreeSlugs(write, posts)) {
    const row = await insertRow(write, plan, slug);
    records.push({ ...references, row, language, metas: { ...plan.metas, ...references.metas } });
  }
  const translations = await writeLanguages(write, records);
  await insertMetasAndTerms(write, records);
  if (kind.hasDates) await updateIndex(db, caller, translations);
  return records.map(({ row }) => row.ID);
}

async function insertRow({ db, caller }: KindWrite, { columns: plannedColumns, slug: { unique } }: PostPlan, slug: string): Promise<Post> {
  const rowOf = (ID: number) => {
    // `Partial` allows undefined columns, but a plan names no column without a value.
    const row = { ...DEFAULT_COLUMNS, ...plannedColumns, ID, post_name: slug || (unique ? String(ID) : '') } as Post;
    return { ...row, guid: guidOf(postUrl(guidPlace(caller), row)) };
  };
  const { ID: _, ...columns } = rowOf(0);
  const id = await insertPost(db, columns);
  const row = rowOf(id);
  // The slug or the address may contain the id.
  if (row.guid !== columns.guid) await updatePost(db, id, { guid: row.guid, post_name: row.post_name });
  // WordPress sets the menu order of a sticky event with a second save, which creates a revision of the present time:
  // with the date of a scheduled event, it would be the last one until then.
  if (row.menu_order) await saveRevision(db, { ...row, ...modifiedNow(caller) }, caller.viewer.id, caller.settings.home);
  return row;
}

const modifiedNow = ({ settings: { zone }, now }: Caller): Pick<Post, 'post_modified' | 'post_modified_gmt'> => ({
  post_modified: localFromDate(now, zone),
  post_modified_gmt: utcFromDate(now),
});

const guidPlace = ({ settings }: Caller) => ({
  home: settings.home,
  permalinkStructure: settings.permalinkStructure,
  singleEventSlug: settings.calendar.singleEventSlug,
});

/** Writes the languages of new records. Returns the ids of their translations. */
async function writeLanguages({ db, caller, kind }: KindWrite, records: readonly InsertedRecord[]): Promise<number[]> {
  const recordsWithLanguage = records.flatMap(({ row: { ID: id, post_status: status }, language }) =>
    language ? [{ id, ...language, isVisible: status === 'publish' }] : [],
  );
  await assignLanguages(
    db,
    caller,
    kind,
    recordsWithLanguage.filter(({ values }) => hasNoTranslations(values)),
  );
  const translations: number[] = [];
  for (const { isVisible, values, ...placement } of recordsWithLanguage.filter((one) => !hasNoTranslations(one.values))) {
    const visibility = { before: false, after: isVisible };
    translations.push(...(await placeInLanguage(db, caller, kind, { ...placement, isNew: true, visibility }, values)));
  }
  return translations;
}

// ------------------------------------------------------------------------------------------------- slugs
/**
 * Replaces the requested slugs by unique ones: no other post of the type has them, and no other one of these records.
 */
async function withFreeSlugs(write: KindWrite, posts: readonly PlannedPost[]): Promise<(PlannedPost & { readonly slug: string })[]> {
  const isToBeFree = ({ plan: { slug } }: PlannedPost) => slug.unique && slug.slug !== '';
  const desiredSlugs = posts.filter(isToBeFree).map(({ plan }) => plan.slug.slug);
  const takenIn = await takenSlugs(write, desiredSlugs, 0);
  return posts.map((post) => {
    const { slug } = post.plan.slug;
    if (!isToBeFree(post)) return { ...post, slug };
    const usedSlugs = takenIn(post.language);
    const freeSlug = uniqueSlug(slug, usedSlugs);
    usedSlugs.add(freeSlug);
    return { ...post, slug: freeSlug };
  });
}

/**
 * Returns the slugs that begin with these and are taken by posts other than `id`, for a language. Records of other
 * languages may have the same slugs: with WPML also those of new records (`new`), with Polylang Pro only those that are
 * there already (`present`).
 */
export async function takenSlugs(
  { db, caller, kind }: KindWrite,
  slugs: readonly string[],
  id: number,
  are: 'new' | 'present' = 'new',
): Promise<(language: LanguageOfWrite | undefined) => Set<string>> {
  const holders = await postsWithSlugsFrom(db, kind.postType, slugs, id);
  const kindLanguages = languagesOf(caller, kind);
  const isByLanguage = are === 'new' ? kindLanguages?.languages.form === 'wpml' : kindLanguages?.languages.sharesSlugs;
  const codes = kindLanguages && isByLanguage ? await languagesOfHolders(db, kindLanguages, holders) : undefined;
  const sets = new Map<string | undefined, Set<string>>();
  return (language) => {
    const code = codes && language?.language.code;
    const isElsewhere = (holder: number) => code !== undefined && codes?.has(holder) && codes.get(holder) !== code;
    const slugSet = sets.get(code) ?? new Set(holders.flatMap((holder) => (isElsewhere(holder.id) ? [] : [holder.slug])));
    sets.set(code, slugSet);
    return slugSet;
  };
}

/**
 * Returns the languages of posts. As in `membershipsOf`, one without a language is absent, and `null` is a language
 * that the site has switched off.
 */
async function languagesOfHolders(
  db: Database,
  kindLanguages: LanguagesOfKind,
  holders: readonly { readonly id: number }[],
): Promise<ReadonlyMap<number, string | null>> {
  const memberships = await membershipsOf(
    db,
    kindLanguages,
    holders.map((holder) => holder.id),
  );
  return new Map([...memberships].map(([id, { language }]) => [id, language]));
}

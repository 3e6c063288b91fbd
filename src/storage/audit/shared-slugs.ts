import { groupedBy } from '../../grouped-by.ts';
import { postTypes } from '../../kinds/index.ts';
import type { ContentLanguages } from '../../wordpress/content-languages.ts';
import { oldAddresses } from '../../wordpress/old-addresses.ts';
import type { Post } from '../../wordpress/rows.ts';
import { uniqueSlug } from '../../wordpress/slug.ts';
import type { QueryBuilder } from '../engine/builder.ts';
import { foldText } from '../engine/collation.ts';
import type { Database } from '../engine/database.ts';
import { insertRows } from '../engine/insert.ts';
import { readInParts } from '../engine/pages.ts';
import { formOf } from '../languages/forms.ts';
import { lockNames, slugLock } from '../rows/locks.ts';
import { slugsLike, updatePost } from '../rows/posts.ts';
import { findInLockedPosts } from './find-locked.ts';

/*
 * Published records of one type that have the same slug, as raw writes and imports by other programs leave them. Its
 * address leads to one of them only.
 */

/** Published records with the same slug. The first one is the one that visitors find by it. */
export interface SharedSlug {
  readonly type: string;
  readonly slug: string;
  readonly ids: readonly number[];
}

type Sharer = Pick<Post, 'ID' | 'post_type' | 'post_name' | 'post_status'> & { readonly language?: string | null };

const WPML_ELEMENT_TYPES = postTypes.map((type) => `post_${type}`);

/**
 * Returns the slugs that several published records of one type share; `languages`: of the site. With WPML and Polylang
 * Pro, records in different languages may share a slug. The records are read only if there are any.
 */
export async function sharedSlugs(db: Database, languages: ContentLanguages | undefined): Promise<SharedSlug[]> {
  const isByLanguage = languages?.form === 'wpml';
  const slugs: { slug: string }[] = await publishedRecords(db, isByLanguage)
    .groupBy('post_type', 'post_name', ...(isByLanguage ? ['w.language_code'] : []))
    .having(db.raw('count(*) > 1'))
    .select('post_name as slug');
  const sharers = await readInParts(
    slugs.map(({ slug }) => slug),
    (page): PromiseLike<Sharer[]> =>
      publishedRecords(db, isByLanguage)
        .whereIn('post_name', page)
        .orderBy('ID')
        .select('ID', 'post_type', 'post_name', 'post_status', ...(isByLanguage ? ['w.language_code as language'] : [])),
  );
  const languageOf = await languagesAmong(db, languages, sharers);
  const groups = groupedBy(sharers, (sharer) => `${sharer.post_type} ${languageOf(sharer) ?? ''} ${foldText(sharer.post_name)}`);
  return [...groups.values()].flatMap((alike) => {
    if (alike.length < 2) return [];
    const { post_type: type, post_name: slug } = alike[0]!;
    const visitorsFirst = alike.toSorted((one, other) => Number(other.post_status === 'publish') - Number(one.post_status === 'publish'));
    return [{ type, slug, ids: visitorsFirst.map(({ ID }) => ID) }];
  });
}

/** Returns the languages of records if those in different languages may share a slug. */
async function languagesAmong(
  db: Database,
  languages: ContentLanguages | undefined,
  sharers: readonly Sharer[],
): Promise<(sharer: Sharer) => string | null | undefined> {
  if (languages?.form !== 'polylang' || !languages.sharesSlugs) return ({ language }) => language;
  const ids = sharers.map(({ ID }) => ID);
  const found = await readInParts(ids, async (posts) => {
    const memberships = await formOf(languages).memberships(db, languages, { posts, terms: [] });
    return [...memberships.posts];
  });
  const codes = new Map(found.map(([id, { language }]) => [id, language]));
  return ({ ID }) => codes.get(ID);
}

function publishedRecords(db: Database, isByLanguage: boolean): QueryBuilder {
  const query = db
    .from('posts')
    .whereIn('post_type', postTypes)
    .whereIn('post_status', ['publish', 'private'])
    .whereNot('post_name', '')
    .where('post_parent', 0);
  return isByLanguage
    ? query.leftJoin(
        { w: db.table('icl_translations') },
        (on) => void on.on('w.element_id', 'ID').onIn('w.element_type', WPML_ELEMENT_TYPES),
      )
    : query;
}

/**
 * Gives all records but the first the slug with a number, and keeps their old one as WordPress does when a slug is
 * changed. The first keeps the address, which leads to it already. Must be called in a transaction.
 */
export async function repairSharedSlugs(db: Database, languages: ContentLanguages | undefined): Promise<void> {
  // The first one is locked too: if it gets another slug, the second one keeps its own.
  const shared = await findInLockedPosts(
    db,
    () => sharedSlugs(db, languages),
    ({ ids }) => ids,
  );
  await lockNames(
    db,
    shared.map(({ type, slug }) => slugLock(type, slug)),
  );
  for (const { type, slug, ids } of shared) {
    const takenSlugs = await slugsLike(db, type, slug, 0);
    for (const id of ids.slice(1)) {
      const newSlug = uniqueSlug(slug, takenSlugs);
      takenSlugs.add(newSlug);
      await renamePost(db, id, newSlug);
    }
  }
}

async function renamePost(db: Database, id: number, slug: string): Promise<void> {
  const [before] = await db.rows<Post>`SELECT * FROM {posts} WHERE ID = ${id}`;
  if (!before) return;
  await updatePost(db, id, { post_name: slug });
  const { _wp_old_slug: oldSlugs = [] } = oldAddresses(undefined, before, { ...before, post_name: slug });
  for (const meta_value of oldSlugs) {
    const old = { post_id: id, meta_key: '_wp_old_slug', meta_value };
    if ((await db.from('postmeta').where(old).select('meta_id')).length === 0) await insertRows(db, 'postmeta', [old]);
  }
}

import type { RecurrenceSettings } from '../../calendar/settings.ts';
import { groupedBy } from '../../grouped-by.ts';
import { postKind, termKind, termKinds } from '../../kinds/index.ts';
import type { TermKindName } from '../../kinds/kind-names.ts';
import type { Database } from '../../storage/engine/database.ts';
import { loadMetas, loadPosts } from '../../storage/rows/bundle.ts';
import { loadRecurrences, loadSeries } from '../../storage/rows/recurrences.ts';
import { loadTermMetas } from '../../storage/rows/term-metas.ts';
import { loadTermsOf, termsOf, termsOfSharedSlugs } from '../../storage/rows/terms.ts';
import type { StoredUser } from '../../storage/rows/users.ts';
import { metaOf, type Post, type StoredMetas, type Term } from '../../wordpress/rows.ts';
import { type AuthorItem, type PostItem, splitMetas, type TermItem, type TermReference } from './items.ts';
import { termName } from './term-names.ts';

/* Conversion of rows of a WordPress database to items. Callers decide who may see which rows. */

/** Kinds of posts in such an order that posts only refer to earlier kinds. */
export const POST_ORDER = ['attachment', 'venue', 'organizer', 'event'] as const satisfies readonly PostItem['kind'][];

/** Returns the post type of a kind of items. */
export const typeOf = (kind: PostItem['kind']): string => (kind === 'attachment' ? 'attachment' : postKind(kind).postType);

/** Returns the name of a user in items. */
export type AuthorName = (userId: number) => string | undefined;

/**
 * Returns posts of a kind as items, in the order of their ids; ids without a post are left out. `uploads`: URL of the
 * uploads folder.
 */
export async function postItems(
  db: Database,
  kind: PostItem['kind'],
  ids: readonly number[],
  { author, uploads, places }: { readonly author: AuthorName; readonly uploads: string; readonly places: TermPlaces },
): Promise<PostItem[]> {
  const [rows, metas] = [await loadPosts(db, ids), await loadMetas(db, ids)];
  const hasTerms = kind !== 'attachment' && postKind(kind).terms.length > 0;
  const terms = hasTerms ? await loadTermsOf(db, ids) : new Map<number, Term[]>();
  const reference = (term: Term): TermReference => ({
    kind: term.taxonomy === termKind('tag').taxonomy ? 'tag' : 'category',
    sourceId: nameOf(term, places),
    name: term.name,
    slug: term.slug,
  });
  return ids.flatMap((id) => {
    const row = rows.get(id);
    const loaded = row && { row, metas: metas.get(id), terms: (terms.get(id) ?? []).map(reference), author: author(row.post_author) };
    return loaded ? [postItem(kind, loaded, uploads)] : [];
  });
}

/** Adds recurrence and series to events, if the tables of their database have them. */
export async function withRecurrence(
  db: Database,
  items: readonly PostItem[],
  { recurrence }: { readonly recurrence: RecurrenceSettings | undefined },
): Promise<PostItem[]> {
  const ids = items.flatMap(({ kind, id }) => (kind === 'event' && id !== undefined ? [id] : []));
  if (!recurrence || ids.length === 0) return [...items];
  const [recurrences, series] = [await loadRecurrences(db, ids), recurrence.series ? await loadSeries(db, ids) : new Map()];
  return items.map((item) => {
    const [ownRecurrence, member] = [recurrences.get(item.id ?? 0), series.get(item.id ?? 0)];
    return {
      ...item,
      ...(ownRecurrence ? { recurrence: { base: recurrence.base, ...ownRecurrence } } : {}),
      ...(member ? { series: member } : {}),
    };
  });
}

/** Returns a user as item. `prefix`: table prefix of the database, which the keys of roles and levels begin with. */
export function authorItem({ row, metas }: StoredUser, prefix: string): AuthorItem {
  const { ID, user_login, user_email, display_name, user_pass, user_nicename, user_url, user_registered } = row;
  return {
    kind: 'author',
    sourceId: user_login,
    id: ID,
    login: user_login,
    email: user_email,
    displayName: display_name,
    columns: { user_pass, user_nicename, user_url, user_registered },
    metas: [...metas].map(([key, value]) => [key.startsWith(prefix) ? key.slice(prefix.length) : key, value]),
  };
}

/** Returns all terms of both kinds with their metas, parents before their children. `ids`: only these, by kind. */
export async function termItems(
  db: Database,
  places: TermPlaces,
  ids?: Readonly<Record<TermKindName, ReadonlySet<number>>>,
): Promise<TermItem[]> {
  const items: TermItem[] = [];
  for (const kind of termKinds) {
    const all: Term[] = await termsOf(db, kind.taxonomy).orderBy('t.term_id');
    const byId = new Map(all.map((term) => [term.term_id, term]));
    const metas = await loadTermMetas(db, [...byId.keys()]);
    const placedIds = new Set<number>();
    const place = (term: Term) => {
      if (placedIds.has(term.term_id)) return;
      placedIds.add(term.term_id);
      const parent = byId.get(term.parent);
      if (parent) place(parent);
      const termMetas = metas.get(term.term_id);
      items.push({ ...termItem(kind.name, term, parent, places), ...(termMetas ? { metas: termMetas } : {}) });
    };
    const wantedIds = ids?.[kind.name];
    for (const term of all) if (wantedIds === undefined || wantedIds.has(term.term_id)) place(term);
  }
  return items;
}

/** The position of each term among the terms that share its slug, by id; the first one is 0. */
export type TermPlaces = ReadonlyMap<number, number>;

/** Reads the positions of all terms. They are read once for all items: the database compares every term with others. */
export async function termPlaces(db: Database): Promise<TermPlaces> {
  const groups = groupedBy(await termsOfSharedSlugs(db), ({ taxonomy, slug }) => `${taxonomy} ${slug}`);
  return new Map([...groups.values()].flatMap((group) => group.map(({ term_id: id }, index): [number, number] => [id, index])));
}

const nameOf = ({ term_id: id, slug }: Term, places: TermPlaces): string => termName(slug, places.get(id) ?? 0);

/**
 * Returns a term as item. If its parent no longer exists, it still references the parent, so that the loss is reported.
 */
function termItem(kind: TermKindName, term: Term, parent: Term | undefined, places: TermPlaces): TermItem {
  const place = places.get(term.term_id) ?? 0;
  return {
    kind,
    sourceId: nameOf(term, places),
    ...(place > 0 ? { namesake: place } : {}),
    id: term.term_id,
    taxonomyId: term.term_taxonomy_id,
    name: term.name,
    slug: term.slug,
    description: term.description,
    ...(term.parent > 0 ? { parent: parent ? nameOf(parent, places) : String(term.parent) } : {}),
  };
}

/** A post with its metas and terms, and the name of its author. */
interface LoadedPost {
  readonly row: Post;
  readonly metas: StoredMetas | undefined;
  readonly terms: readonly TermReference[];
  readonly author: string | undefined;
}

function postItem(kind: PostItem['kind'], { row, metas, terms, author }: LoadedPost, uploads: string): PostItem {
  const { ID, post_author: _author, post_parent: parent, post_type: _type, comment_count: _count, ...columns } = row;
  const file = metaOf(metas, '_wp_attached_file');
  const pairs = [...(metas ?? [])].flatMap(([key, values]) => values.map((value) => [key, value] as const));
  return {
    kind,
    sourceId: String(ID),
    id: ID,
    columns,
    ...(author === undefined ? {} : { author }),
    ...(parent > 0 ? { parent: String(parent) } : {}),
    ...splitMetas(pairs),
    terms,
    complete: true,
    ...(kind === 'attachment' && file ? { url: `${uploads}/${file}` } : {}),
  };
}

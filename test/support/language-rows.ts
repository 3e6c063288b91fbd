import type { Database } from '../../src/storage/engine/database.ts';

/*
 * Changes of a write to terms, their relations and posts, in the format of the recordings.
 */

interface TermRow {
  readonly term_taxonomy_id: number;
  readonly term_id: number;
  readonly taxonomy: string;
  readonly slug: string | number;
  readonly name: string;
  readonly description: string;
  readonly count: number;
  readonly parent: number;
}

interface Relation {
  readonly object_id: number;
  readonly taxonomy: string;
  readonly slug: string | number;
}

/** `posts_written`: posts that are new, or whose type, status or slug has changed. */
export interface LanguageRows {
  readonly terms_written?: readonly TermRow[];
  readonly term_taxonomy_ids_deleted?: readonly number[];
  readonly relations_added?: readonly Relation[];
  readonly relations_removed?: readonly Relation[];
  readonly posts_written?: readonly Readonly<Record<string, unknown>>[];
}

export interface Snapshot {
  readonly terms: readonly TermRow[];
  readonly relations: readonly Relation[];
  readonly posts: readonly Readonly<Record<string, unknown>>[];
}

export async function snapshotOf(db: Database): Promise<Snapshot> {
  const terms = (await db
    .from('term_taxonomy', 'tt')
    .join({ t: db.table('terms') }, 't.term_id', 'tt.term_id')
    .orderBy('tt.term_taxonomy_id')
    .select(
      'tt.term_taxonomy_id',
      'tt.term_id',
      'tt.taxonomy',
      't.slug',
      't.name',
      'tt.description',
      'tt.count',
      'tt.parent',
    )) as TermRow[];
  const rows = await db.from('term_relationships').orderBy('object_id').select('object_id', 'term_taxonomy_id');
  const byRow = new Map(terms.map((term) => [term.term_taxonomy_id, term]));
  const relations = rows.flatMap(({ object_id, term_taxonomy_id }) => {
    const term = byRow.get(term_taxonomy_id);
    return term ? [{ object_id, taxonomy: term.taxonomy, slug: term.slug }] : [];
  });
  const posts = await db
    .from('posts')
    .whereNot('post_type', 'revision')
    .orderBy('ID')
    .select('ID', 'post_type', 'post_status', 'post_name');
  return { terms, relations, posts };
}

export function changesBetween(before: Snapshot, after: Snapshot): LanguageRows {
  const newRows = <Row>(oldRows: readonly Row[], currentRows: readonly Row[]) => {
    const beforeTexts = new Set(oldRows.map((row) => JSON.stringify(row)));
    return currentRows.filter((row) => !beforeTexts.has(JSON.stringify(row)));
  };
  const rows = {
    terms_written: newRows(before.terms, after.terms),
    term_taxonomy_ids_deleted: before.terms
      .map((term) => term.term_taxonomy_id)
      .filter((id) => !after.terms.some((term) => term.term_taxonomy_id === id)),
    relations_added: newRows(before.relations, after.relations),
    relations_removed: newRows(after.relations, before.relations),
    posts_written: newRows(before.posts, after.posts),
  };
  return Object.fromEntries(Object.entries(rows).filter(([, list]) => list.length > 0));
}

/**
 * Removes differences that two sites may have: new groups have random names, and Polylang leaves empty groups behind.
 */
export function comparable({ terms_written = [], relations_added = [], relations_removed = [], ...rest }: LanguageRows): object {
  const isGroup = (taxonomy: string) => taxonomy.endsWith('_translations');
  const withPlainName = <Row extends { readonly taxonomy: string; readonly slug: string | number }>(row: Row) =>
    isGroup(row.taxonomy) ? { ...row, slug: 'pll', ...('name' in row ? { name: 'pll' } : {}) } : row;
  const sorted = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).sort();
  return {
    ...rest,
    terms_written: sorted(
      terms_written
        .filter(({ taxonomy, count }) => !(isGroup(taxonomy) && count === 0))
        .map(({ slug, ...row }) => withPlainName({ ...row, slug: String(slug) })),
    ),
    relations_added: sorted(relations_added.map(({ slug, ...row }) => withPlainName({ ...row, slug: String(slug) }))),
    relations_removed: sorted(relations_removed.map(({ slug, ...row }) => withPlainName({ ...row, slug: String(slug) }))),
  };
}

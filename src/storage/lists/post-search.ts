import type { Condition } from '../../kinds/condition.ts';
import type { QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import type { PostQuery } from './post-query.ts';
import { whereOpen } from './post-visibility.ts';

type Builder = QueryBuilder;
type Words = Extract<Condition, { by: 'words' }>;
/** Conditions on one text, all of which it must meet. */
type Tests = (column: string) => readonly Sql[];

/** Posts (as `p`) that hold the terms of a search, in what the caller may read of them. */
export function whereWords(db: Database, where: Builder, condition: Words, query: PostQuery): void {
  if (condition.together) whereAllInOne(db, where, condition, query);
  else whereEachSomewhere(db, where, condition, query);
}

/**
 * All pieces in the same column or meta, and not in the trash, whatever status is asked for; nothing is found by a
 * phrase without pieces.
 */
function whereAllInOne(db: Database, where: Builder, condition: Words, query: PostQuery): void {
  if (condition.terms.length === 0) {
    where.whereRaw('1 = 0');
    return;
  }
  const tests: Tests = (column) => condition.terms.map(({ text }) => db.dialect.search(column, text));
  where.whereNot('p.post_status', 'trash').where((found) => whereTextPasses(db, found, condition, query, tests));
}

/**
 * Each term in one of the columns or metas. As in WordPress, a visitor's search passes over protected posts (decision
 * D13).
 */
function whereEachSomewhere(db: Database, where: Builder, condition: Words, query: PostQuery): void {
  if (query.visible.viewer === 0) whereOpen(db, where, query);
  for (const { text, exclude } of condition.terms) {
    const anywhere = (found: Builder) => whereTextPasses(db, found, condition, query, (column) => [db.dialect.search(column, text)]);
    if (exclude) where.whereNot(anywhere);
    else where.where(anywhere);
  }
}

/** The title, which nothing hides. */
const TITLE = 'post_title';

/**
 * Posts of which one column or meta passes the tests: of a protected one that is not open to the request, the title
 * alone.
 */
function whereTextPasses(db: Database, found: Builder, { columns, metas }: Words, query: PostQuery, tests: Tests): void {
  const passes = (column: string) => (builder: Builder) => {
    for (const test of tests(column)) builder.whereRaw(...test);
  };
  const hidden = columns.filter((column) => column !== TITLE);
  if (columns.includes(TITLE)) found.orWhere(passes(`p.${TITLE}`));
  if (hidden.length + metas.length === 0) return;
  found.orWhere((inside) => {
    whereOpen(db, inside, query);
    inside.where((any: Builder) => {
      for (const column of hidden) any.orWhere(passes(`p.${column}`));
      if (metas.length > 0)
        any.orWhereExists(
          db
            .from('postmeta', 'm')
            .select(db.raw('1'))
            .where('m.post_id', db.ref('p.ID'))
            .whereIn('m.meta_key', [...metas])
            .where(passes('m.meta_value')),
        );
    });
  });
}

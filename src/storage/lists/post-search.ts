import type { Condition } from '../../kinds/condition.ts';
import { formsOf } from '../../wordpress/search.ts';
import type { QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import { either } from '../engine/expressions.ts';
import type { PostQuery } from './post-query.ts';
import { whereOpen } from './post-visibility.ts';

type Builder = QueryBuilder;
type Words = Extract<Condition, { by: 'words' }>;
/** Conditions that one text must all meet. */
type TextTests = (column: string) => readonly Sql[];

/** Restricts a query to posts (as `p`) that contain the terms of a search in texts that the caller may read. */
export function whereWords(db: Database, where: Builder, condition: Words, query: PostQuery): void {
  if (condition.together) whereAllInOne(db, where, condition, query);
  else whereEachSomewhere(db, where, condition, query);
}

/**
 * Condition: all pieces of the phrase occur in the same column or meta. Posts in the trash do not match, even if their
 * status is requested. A phrase without pieces matches nothing.
 */
function whereAllInOne(db: Database, where: Builder, condition: Words, query: PostQuery): void {
  if (condition.terms.length === 0) {
    where.whereRaw('1 = 0');
    return;
  }
  const tests: TextTests = (column) => condition.terms.map(({ text }) => db.dialect.search(column, text));
  where.whereNot('p.post_status', 'trash').where((part) => whereTextPasses(db, part, condition, query, tests));
}

/**
 * Condition: each term occurs in one of the columns or metas. As in WordPress, a visitor's search skips protected posts
 * (decision D13).
 */
function whereEachSomewhere(db: Database, where: Builder, condition: Words, query: PostQuery): void {
  if (query.visible.viewer === 0) whereOpen(db, where, query);
  for (const term of condition.terms) {
    const tests: TextTests = (column) => [either(formsOf(term).map((text) => db.dialect.search(column, text)))];
    const matches = (part: Builder) => whereTextPasses(db, part, condition, query, tests);
    if (term.exclude) where.whereNot(matches);
    else where.where(matches);
  }
}

/** The title, which a password does not hide. */
const TITLE = 'post_title';

/**
 * Restricts a query to posts with a column or meta that passes the tests. For a protected post that is not open to the
 * request, only the title is tested.
 */
function whereTextPasses(db: Database, where: Builder, { columns, metas }: Words, query: PostQuery, tests: TextTests): void {
  const passes = (column: string) => (builder: Builder) => {
    for (const test of tests(column)) builder.whereRaw(...test);
  };
  const hiddenColumns = columns.filter((column) => column !== TITLE);
  if (columns.includes(TITLE)) where.orWhere(passes(`p.${TITLE}`));
  if (hiddenColumns.length + metas.length === 0) return;
  where.orWhere((part) => {
    whereOpen(db, part, query);
    part.where((any: Builder) => {
      for (const column of hiddenColumns) any.orWhere(passes(`p.${column}`));
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

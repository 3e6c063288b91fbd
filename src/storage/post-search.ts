import type { Knex } from 'knex';
import type { Condition } from '../kinds/kind.ts';
import type { Database } from './database.ts';
import type { PostQuery } from './post-query.ts';
import { whereOpen } from './post-visibility.ts';

type Words = Extract<Condition, { by: 'words' }>;

/** Posts (as `p`) that hold the terms of a search, in what the caller may read of them. */
export function whereWords(db: Database, where: Knex.QueryBuilder, condition: Words, query: PostQuery): void {
  if (condition.together) whereAllInOne(db, where, condition, query);
  else whereEachSomewhere(db, where, condition, query);
}

/** The columns that a protected post hides, and the one that it does not. */
const splitTitle = (columns: readonly string[]) => ({ title: columns[0] ?? 'post_title', hidden: columns.slice(1) });

/** All pieces in the same column or meta, and not in the trash, whatever status is asked for; nothing is found by a phrase without pieces. */
function whereAllInOne(db: Database, where: Knex.QueryBuilder, { terms, columns, metas }: Words, query: PostQuery): void {
  if (terms.length === 0) {
    where.whereRaw('1 = 0');
    return;
  }
  const { title, hidden } = splitTitle(columns);
  const all = (column: string) => (builder: Knex.QueryBuilder) => {
    for (const { text } of terms) builder.whereRaw(...db.dialect.search(column, text));
  };
  const meta = db
    .knex({ m: db.table('postmeta') })
    .select(db.knex.raw('1'))
    .where('m.post_id', db.knex.ref('p.ID'))
    .whereIn('m.meta_key', [...metas])
    .where(all('m.meta_value'));
  where.whereNot('p.post_status', 'trash').where((found) => {
    found.where(all(`p.${title}`)).orWhere((told) => {
      whereOpen(told, query);
      told.where((any) => {
        for (const column of hidden) any.orWhere(all(`p.${column}`));
        if (metas.length > 0) any.orWhereExists(meta);
      });
    });
  });
}

/**
 * Each term in one of the columns. As in WordPress, a visitor's search passes over protected posts; for others only their titles count
 * (decision D13).
 */
function whereEachSomewhere(db: Database, where: Knex.QueryBuilder, { terms, columns }: Words, query: PostQuery): void {
  const { title, hidden } = splitTitle(columns);
  if (query.visible.viewer === 0) whereOpen(where, query);
  for (const { text, exclude } of terms) {
    const holds = (column: string) => db.dialect.search(`p.${column}`, text);
    const anywhere = (any: Knex.QueryBuilder) => {
      any.whereRaw(...holds(title)).orWhere((told) => {
        whereOpen(told, query);
        told.where((rest) => {
          for (const column of hidden) rest.orWhereRaw(...holds(column));
        });
      });
    };
    if (exclude) where.whereNot(anywhere);
    else where.where(anywhere);
  }
}

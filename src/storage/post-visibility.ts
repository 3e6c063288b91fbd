import type { Knex } from 'knex';
import type { Database } from './database.ts';
import type { PostQuery, Visibility } from './post-query.ts';

/** Rows that the caller may see: by status, and by status of the caller's own. */
export function whereVisible(
  db: Database,
  where: Knex.QueryBuilder,
  post: string,
  { viewer, all, own, exceptOwnPublishedTrash }: Visibility,
): void {
  where.whereIn(`${post}.post_status`, [...all]);
  if (own.length === 0) return;
  where.orWhere((mine) => {
    mine.where(`${post}.post_author`, viewer).whereIn(`${post}.post_status`, [...own]);
    if (!exceptOwnPublishedTrash) return;
    mine.where((kept) =>
      kept.whereNot(`${post}.post_status`, 'trash').orWhereNotExists(
        db
          .knex({ was: db.table('postmeta') })
          .select(db.knex.raw('1'))
          .where('was.post_id', db.knex.ref(`${post}.ID`))
          .where('was.meta_key', '_wp_trash_meta_status')
          .whereIn('was.meta_value', ['publish', 'future']),
      ),
    );
  });
}

/** What a protected post hides must not be told by filters either (decision D35). */
export const whereOpen = (where: Knex.QueryBuilder, { password, tellsAll }: PostQuery): Knex.QueryBuilder =>
  tellsAll ? where : where.whereIn('p.post_password', openedBy(password));

/** Passwords of posts that are open to a request: none, and the one that came with it. */
export const openedBy = (password: string | undefined): string[] => (password === undefined ? [''] : ['', password]);

import type { PersonCondition } from '../../kinds/condition.ts';
import type { QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';
import { contains, either, placeAmong } from '../engine/expressions.ts';
import { isNetwork } from './options.ts';
import { pageWithTotal } from './row-count.ts';
import { capabilitiesKey, levelKey } from './users.ts';

/** Sort orders of a list of people. */
export type PeopleOrder = 'id' | 'include' | 'name' | 'registered_date' | 'slug' | 'include_slugs' | 'email' | 'url';

export interface PeopleQuery extends Omit<PersonCondition, 'publishedIn' | 'capabilities'> {
  /** The columns that are searched. */
  readonly searched: readonly ('user_login' | 'user_nicename' | 'user_email' | 'user_url' | 'display_name')[];
  /** Only people who have published something of these types. */
  readonly publishedIn: readonly string[] | undefined;
  readonly order: PeopleOrder;
  readonly descending: boolean;
  readonly limit: number;
  readonly offset: number;
}

/** Returns the ids of one page of the people of this site, in order, and the total number (`WP_User_Query`). */
export async function findPeople(db: Database, query: PeopleQuery): Promise<{ ids: number[]; total: number }> {
  const inNetwork = await isNetwork(db);
  const selectPeople = () => (inNetwork ? membersOnly(db, people(db, query)) : people(db, query));
  const page = selectPeople().select('u.ID').limit(query.limit).offset(query.offset);
  orderPeople(db, page, query);
  const { rows, total } = await pageWithTotal<{ ID: number }>(page, query.offset, selectPeople);
  return { ids: rows.map(({ ID }) => ID), total };
}

/** Returns those of these people who have published something of these types. */
export async function publishedAuthors(db: Database, ids: readonly number[], types: readonly string[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .from('posts')
    .whereIn('post_author', [...new Set(ids)])
    .whereIn('post_type', [...types])
    .where('post_status', 'publish')
    .distinct('post_author');
  return new Set(rows.map((row) => row.post_author));
}

const membersOnly = (db: Database, builder: QueryBuilder): QueryBuilder =>
  builder.whereIn('u.ID', (sub: QueryBuilder) =>
    sub
      .select('m.user_id')
      .from({ m: db.table('usermeta') })
      .where('m.meta_key', capabilitiesKey(db)),
  );

function people(db: Database, { include, exclude, slugs, roles, search, searched, writers, publishedIn }: PeopleQuery): QueryBuilder {
  const builder: QueryBuilder = db.from('users', 'u');
  if (include) builder.whereIn('u.ID', [...include]);
  if (exclude) builder.whereNotIn('u.ID', [...exclude]);
  if (slugs) builder.whereIn('u.user_nicename', [...slugs]);
  if (roles)
    builder.whereIn('u.ID', (sub: QueryBuilder) =>
      sub
        .select('m.user_id')
        .from({ m: db.table('usermeta') })
        .where('m.meta_key', capabilitiesKey(db))
        .whereRaw(...either([...new Set(roles)].map((role) => contains('m.meta_value', `"${role}"`)))),
    );
  if (writers)
    builder.whereIn('u.ID', (sub: QueryBuilder) =>
      sub
        .select('m.user_id')
        .from({ m: db.table('usermeta') })
        .where('m.meta_key', levelKey(db))
        .whereNot('m.meta_value', '0'),
    );
  if (search !== undefined)
    builder.where((any: QueryBuilder) => {
      for (const column of searched) any.orWhereRaw(...db.dialect.search(`u.${column}`, search));
    });
  if (publishedIn)
    builder.whereIn('u.ID', (sub: QueryBuilder) =>
      sub
        .select('p.post_author')
        .from({ p: db.table('posts') })
        .where('p.post_status', 'publish')
        .whereIn('p.post_type', [...publishedIn]),
    );
  return builder;
}

const COLUMNS = {
  id: 'u.ID',
  registered_date: 'u.user_registered',
};
/** Text columns, sorted by the collation. */
const TEXTS = {
  name: 'u.display_name',
  slug: 'u.user_nicename',
  email: 'u.user_email',
  url: 'u.user_url',
};

/**
 * Sorts like `WP_User_Query`: `include` follows the order of the given ids or its reverse, `include_slugs` the order of
 * the given slugs.
 */
function orderPeople(db: Database, builder: QueryBuilder, { order, descending, include, slugs }: PeopleQuery): void {
  const direction = descending ? 'desc' : 'asc';
  if (order === 'include_slugs') {
    if (slugs) builder.orderByRaw(...placeAmong('u.user_nicename', slugs));
    builder.orderBy('u.ID');
    return;
  }
  if (order === 'id' || order === 'registered_date') builder.orderBy(COLUMNS[order], direction);
  else if (order !== 'include') builder.orderByRaw(...db.dialect.orderFolded(TEXTS[order], direction));
  else if (include) builder.orderByRaw(...placeAmong('u.ID', include, direction));
  else builder.orderBy('u.user_login', direction);
  builder.orderBy('u.ID', direction);
}

import type { Knex } from 'knex';
import { termKind } from '../kinds/index.ts';
import type { Condition, TermKindName } from '../kinds/kind.ts';
import type { Database } from './database.ts';
import type { Sql } from './dialect.ts';
import { findIndexedIds, linkedInIndex, type Stretch, stretchOf } from './event-index-list.ts';
import type { PostQuery, Visibility } from './post-query.ts';

/** Metas by which published tickets name their event (decision D28). */
const TICKET_LINKS = [
  '_tribe_rsvp_for_event',
  '_tec_tickets_commerce_event',
  '_tribe_tpp_for_event',
  '_tribe_wooticket_for_event',
  '_tribe_eddticket_for_event',
];
const EARTH_RADIUS_KM = 6371;

/** Ids of one page of a list, in order, and how many there are in all. A small number of queries, whatever is asked. */
export async function findPostIds(db: Database, query: PostQuery): Promise<{ ids: number[]; total: number }> {
  const stretch = stretchOf(query);
  if (stretch) return findIndexedIds(db, stretch, query, (builder) => whereTheRest(db, builder, stretch, query));
  const filtered = () => narrowed(db, query);
  const page = filtered().select('p.ID as id').limit(query.limit).offset(query.offset);
  for (const [sql, bindings] of orderOf(db, query)) page.orderByRaw(sql, [...bindings]);
  const [rows, counted] = await Promise.all([page, filtered().count('* as total').first()]);
  return { ids: (rows as { id: number }[]).map(({ id }) => Number(id)), total: Number((counted as { total: number | string }).total) };
}

function narrowed(db: Database, query: PostQuery): Knex.QueryBuilder {
  const { kind, visible, conditions } = query;
  const builder: Knex.QueryBuilder = db.knex({ p: db.table('posts') }).where('p.post_type', kind.postType);
  if (kind.dated) joinDates(db, builder, 'p', query.occurrences);
  builder.where((where) => whereVisible(db, where, 'p', visible));
  for (const condition of conditions) builder.where((where) => narrow(db, where, condition, query));
  return builder;
}

/** What the index does not know of the events `p` it found. */
function whereTheRest(db: Database, builder: Knex.QueryBuilder, { statuses, rest }: Stretch, query: PostQuery): void {
  if (statuses === undefined) builder.where((where) => whereVisible(db, where, 'p', query.visible));
  for (const condition of rest) builder.where((where) => narrow(db, where, condition, query));
}

/** Start and end of an event, local and UTC, as columns of `d` (and `e` without occurrence rows). Events without are not listed. */
function joinDates(db: Database, builder: Knex.QueryBuilder, post: string, occurrences: boolean): void {
  if (occurrences) {
    builder.join({ d: db.table('tec_occurrences') }, 'd.post_id', `${post}.ID`);
    return;
  }
  for (const [alias, key] of Object.entries(LEGACY_DATES)) {
    builder.join({ [alias]: db.table('postmeta') }, (join) => join.on(`${alias}.post_id`, `${post}.ID`).andOnVal(`${alias}.meta_key`, key));
  }
}

const LEGACY_DATES = { ds: '_EventStartDate', de: '_EventEndDate', us: '_EventStartDateUTC', ue: '_EventEndDateUTC' };

function momentColumn(column: 'start_date' | 'end_date', utc: boolean, occurrences: boolean): string {
  if (occurrences) return `d.${column}${utc ? '_utc' : ''}`;
  return `${utc ? 'u' : 'd'}${column === 'start_date' ? 's' : 'e'}.meta_value`;
}

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

// ------------------------------------------------------------------------------------------------- conditions
function narrow(db: Database, where: Knex.QueryBuilder, condition: Condition, query: PostQuery): void {
  switch (condition.by) {
    case 'id':
      where.whereIn('p.ID', [...condition.ids]);
      return;
    case 'notId':
      where.whereNotIn('p.ID', [...condition.ids]);
      return;
    case 'author':
    case 'notAuthor':
      where[condition.by === 'author' ? 'whereIn' : 'whereNotIn']('p.post_author', [...condition.ids]);
      return;
    case 'parents':
    case 'notParents':
      where[condition.by === 'parents' ? 'whereIn' : 'whereNotIn']('p.post_parent', [...condition.ids]);
      return;
    case 'slug':
      where.whereIn('p.post_name', [...condition.slugs]);
      return;
    case 'mime':
      where.where((any) => {
        for (const type of condition.types) {
          if (type.endsWith('/')) any.orWhereRaw("p.post_mime_type LIKE ? ESCAPE '!'", [`${type.replace(/[!%_]/g, '!$&')}%`]);
          else any.orWhere('p.post_mime_type', type);
        }
      });
      return;
    case 'attachedToPublic':
      where.where('p.post_parent', 0).orWhereIn('p.post_parent', (sub: Knex.QueryBuilder) =>
        sub
          .select('up.ID')
          .from({ up: db.table('posts') })
          .where('up.post_status', 'publish'),
      );
      if (condition.viewer > 0) where.orWhere('p.post_author', condition.viewer);
      return;
    case 'parent':
      where.where('p.post_parent', condition.id);
      return;
    case 'moment':
      where.where(momentColumn(condition.column, condition.utc, query.occurrences), condition.op, condition.value);
      return;
    case 'modified':
    case 'published':
      where.where(condition.by === 'modified' ? 'p.post_modified' : 'p.post_date', condition.op, condition.value);
      return;
    case 'words':
      whereWords(db, where, condition, query);
      return;
    case 'terms':
      whereOpen(where, query);
      if (condition.wanted === 'all')
        for (const id of condition.ids) where.whereIn('p.ID', (sub: Knex.QueryBuilder) => postsOfTerms(db, sub, condition.kind, [id]));
      else {
        const among = condition.wanted === 'none' ? 'whereNotIn' : 'whereIn';
        where[among]('p.ID', (sub: Knex.QueryBuilder) => postsOfTerms(db, sub, condition.kind, condition.ids));
      }
      return;
    case 'links':
      whereOpen(where, query);
      where.whereIn('p.ID', (sub: Knex.QueryBuilder) =>
        sub
          .select('l.post_id')
          .from({ l: db.table('postmeta') })
          .where('l.meta_key', condition.key)
          .whereIn('l.meta_value', condition.ids.map(String)),
      );
      return;
    case 'linkedFrom':
      where.whereIn('p.ID', (sub: Knex.QueryBuilder) => linkTargets(db, sub, condition.key).where('l.post_id', condition.event));
      return;
    case 'linkedFromAny': {
      const indexed = linkedInIndex(db, condition, query);
      if (indexed) {
        where.whereRaw(...raw(indexed));
        return;
      }
      where[condition.wanted ? 'whereIn' : 'whereNotIn']('p.ID', (sub: Knex.QueryBuilder) => linkedFromEvents(db, sub, condition, query));
      return;
    }
    case 'linkedMeta':
      whereOpen(where, query);
      where.whereIn('p.ID', (sub: Knex.QueryBuilder) =>
        linkedPublic(db, sub, condition.link, condition.key).whereRaw(...raw(db.dialect.equalsFolded('m.meta_value', condition.value))),
      );
      return;
    case 'meta':
      if (condition.blanked) whereOpen(where, query);
      where[condition.present ? 'whereIn' : 'whereNotIn']('p.ID', (sub: Knex.QueryBuilder) =>
        sub
          .select('m.post_id')
          .from({ m: db.table('postmeta') })
          .where('m.meta_key', condition.key),
      );
      return;
    case 'placed':
      whereOpen(where, query);
      where[condition.wanted ? 'whereIn' : 'whereNotIn']('p.ID', (sub: Knex.QueryBuilder) =>
        placed(db, sub, condition.link).select('l.post_id'),
      );
      return;
    case 'near':
      whereOpen(where, query);
      where.whereIn('p.ID', (sub: Knex.QueryBuilder) =>
        placed(db, sub, condition.link)
          .select('l.post_id')
          .whereRaw(`${distance(db, condition)[0]} <= ?`, [...distance(db, condition)[1], condition.km]),
      );
      return;
    case 'ticketed':
      where[condition.wanted ? 'whereIn' : 'whereNotIn']('p.ID', (sub: Knex.QueryBuilder) =>
        sub
          .select(asId(db, 'k.meta_value'))
          .from({ k: db.table('postmeta') })
          .join({ ticket: db.table('posts') }, 'ticket.ID', 'k.post_id')
          .where('ticket.post_status', 'publish')
          .whereIn('k.meta_key', TICKET_LINKS),
      );
      return;
  }
}

const raw = ([sql, bindings]: Sql): [string, Knex.RawBinding[]] => [sql, [...bindings]];

const postsOfTerms = (db: Database, sub: Knex.QueryBuilder, kind: TermKindName, ids: readonly number[]): Knex.QueryBuilder =>
  sub
    .select('r.object_id')
    .from({ r: db.table('term_relationships') })
    .join({ tt: db.table('term_taxonomy') }, 'tt.term_taxonomy_id', 'r.term_taxonomy_id')
    .where('tt.taxonomy', termKind(kind).taxonomy)
    .whereIn('tt.term_id', [...ids]);

/** What a protected post hides must not be told by filters either (decision D35). */
const whereOpen = (where: Knex.QueryBuilder, { password, tellsAll }: PostQuery) =>
  tellsAll ? where : where.whereIn('p.post_password', password === undefined ? [''] : ['', password]);

/** Ids stand as text in metas; this reads them as numbers on both databases. */
const asId = (db: Database, column: string) => db.knex.raw('CAST(?? AS UNSIGNED)', [column]);

const linkTargets = (db: Database, sub: Knex.QueryBuilder, key: string): Knex.QueryBuilder =>
  sub
    .select(asId(db, 'l.meta_value'))
    .from({ l: db.table('postmeta') })
    .where('l.meta_key', key);

/** Venues or organizers that an event names which the caller may see; `upcomingSince`: one that starts from then on and is not hidden. */
function linkedFromEvents(
  db: Database,
  sub: Knex.QueryBuilder,
  { key, upcomingSince }: Extract<Condition, { by: 'linkedFromAny' }>,
  query: PostQuery,
): void {
  linkTargets(db, sub, key)
    .join({ ev: db.table('posts') }, 'ev.ID', 'l.post_id')
    .where('ev.post_type', 'tribe_events')
    .whereIn('ev.post_password', query.password === undefined ? [''] : ['', query.password])
    .where((where) => whereVisible(db, where, 'ev', query.visibleEvents));
  if (upcomingSince === undefined) {
    sub.whereNotIn('ev.post_status', ['draft', 'pending', 'trash']);
    return;
  }
  joinDates(db, sub, 'ev', query.occurrences);
  sub
    .where(momentColumn('start_date', false, query.occurrences), '>=', upcomingSince)
    .whereNot('ev.post_status', 'trash')
    .whereNotIn('ev.ID', (hidden: Knex.QueryBuilder) =>
      hidden
        .select('h.post_id')
        .from({ h: db.table('postmeta') })
        .where('h.meta_key', '_EventHideFromUpcoming'),
    );
}

/** Ids of posts linked to a public record that has a meta of this key (as `m`). What is not public must not be told by a filter. */
function linkedPublic(db: Database, sub: Knex.QueryBuilder, link: string, key: string): Knex.QueryBuilder {
  return sub
    .select('l.post_id')
    .from({ l: db.table('postmeta') })
    .join({ v: db.table('posts') }, 'v.ID', asId(db, 'l.meta_value'))
    .join({ m: db.table('postmeta') }, 'm.post_id', 'v.ID')
    .where({ 'l.meta_key': link, 'm.meta_key': key, 'v.post_status': 'publish', 'v.post_password': '' });
}

/** Coordinates (`lat`, `lng`) of the public venue that a post links to. */
function placed(db: Database, sub: Knex.QueryBuilder, link: string | undefined): Knex.QueryBuilder {
  return sub
    .from({ l: db.table('postmeta') })
    .join({ v: db.table('posts') }, 'v.ID', asId(db, 'l.meta_value'))
    .join({ lat: db.table('postmeta') }, (join) => join.on('lat.post_id', 'v.ID').andOnVal('lat.meta_key', '_VenueLat'))
    .join({ lng: db.table('postmeta') }, (join) => join.on('lng.post_id', 'v.ID').andOnVal('lng.meta_key', '_VenueLng'))
    .where({ 'l.meta_key': link ?? '', 'v.post_status': 'publish', 'v.post_password': '' })
    .whereNot('lat.meta_value', '')
    .whereNot('lng.meta_value', '');
}

/** Great-circle distance in km (haversine) from a point to the coordinates of `placed`. */
function distance(db: Database, { lat, lng }: { lat: number; lng: number }): Sql {
  const [latitude, latitudeColumns] = db.dialect.asNumber('lat.meta_value');
  const [longitude, longitudeColumns] = db.dialect.asNumber('lng.meta_value');
  const half = (difference: string) => `POWER(SIN(RADIANS(${difference}) / 2), 2)`;
  return [
    `(${2 * EARTH_RADIUS_KM} * ASIN(SQRT(${half(`${latitude} - ?`)} + COS(RADIANS(?)) * COS(RADIANS(${latitude})) * ${half(`${longitude} - ?`)})))`,
    [...latitudeColumns, lat, lat, ...latitudeColumns, ...longitudeColumns, lng],
  ];
}

function whereWords(db: Database, where: Knex.QueryBuilder, condition: Extract<Condition, { by: 'words' }>, query: PostQuery): void {
  if (condition.together) whereAllInOne(db, where, condition, query);
  else whereEachSomewhere(db, where, condition, query);
}

/** The columns that a protected post hides, and the one that it does not. */
const splitTitle = (columns: readonly string[]) => ({ title: columns[0] ?? 'post_title', hidden: columns.slice(1) });

/** All pieces in the same column or meta; nothing is found by a phrase without pieces. */
function whereAllInOne(
  db: Database,
  where: Knex.QueryBuilder,
  { terms, columns, metas }: Extract<Condition, { by: 'words' }>,
  query: PostQuery,
): void {
  if (terms.length === 0) {
    where.whereRaw('1 = 0');
    return;
  }
  const { title, hidden } = splitTitle(columns);
  const all = (column: string) => (builder: Knex.QueryBuilder) => {
    for (const { text } of terms) builder.whereRaw(...raw(db.dialect.search(column, text)));
  };
  const meta = db
    .knex({ m: db.table('postmeta') })
    .select(db.knex.raw('1'))
    .where('m.post_id', db.knex.ref('p.ID'))
    .whereIn('m.meta_key', [...metas])
    .where(all('m.meta_value'));
  where.where(all(`p.${title}`)).orWhere((told) => {
    whereOpen(told, query);
    told.where((any) => {
      for (const column of hidden) any.orWhere(all(`p.${column}`));
      if (metas.length > 0) any.orWhereExists(meta);
    });
  });
}

/**
 * Each term in one of the columns. As in WordPress, a visitor's search passes over protected posts; for others only their titles count
 * (decision D13).
 */
function whereEachSomewhere(
  db: Database,
  where: Knex.QueryBuilder,
  { terms, columns }: Extract<Condition, { by: 'words' }>,
  query: PostQuery,
): void {
  const { title, hidden } = splitTitle(columns);
  if (query.visible.viewer === 0) whereOpen(where, query);
  for (const { text, exclude } of terms) {
    const holds = (column: string) => raw(db.dialect.search(`p.${column}`, text));
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

// ------------------------------------------------------------------------------------------------- order
/** The order as pieces of SQL; the id breaks every tie, in the same direction (decision D24). */
function orderOf(db: Database, query: PostQuery): Sql[] {
  const { by, descending } = query.order;
  const direction = descending ? 'desc' : 'asc';
  const plain = (...columns: string[]): Sql[] => [...columns, 'p.ID'].map((column): Sql => [`?? ${direction}`, [column]]);
  switch (by) {
    case 'start':
      return plain(momentColumn('start_date', false, query.occurrences), 'p.post_date');
    case 'end':
      return plain(momentColumn('end_date', false, query.occurrences), 'p.post_date');
    case 'date':
      return plain('p.post_date');
    case 'modified':
      return plain('p.post_modified');
    case 'slug':
      return plain('p.post_name');
    case 'author':
      return plain('p.post_author');
    case 'parent':
      return plain('p.post_parent');
    case 'menu':
      return plain('p.menu_order');
    case 'slugs': {
      const slugs = query.conditions.find((condition) => condition.by === 'slug')?.slugs ?? [];
      const places = slugs.map((_, place) => `WHEN ? THEN ${place}`).join(' ');
      return slugs.length === 0 ? plain() : [[`CASE p.post_name ${places} END ${direction}`, [...slugs]], ...plain()];
    }
    case 'id':
      return plain();
    case 'title':
      return [db.dialect.orderFolded('p.post_title', direction), ...plain()];
    case 'include': {
      const ids = query.conditions.find((condition) => condition.by === 'id')?.ids ?? [];
      const places = ids.map((_, place) => `WHEN ? THEN ${place}`).join(' ');
      return ids.length === 0 ? plain() : [[`CASE p.ID ${places} END ${direction}`, [...ids]], ...plain()];
    }
    case 'distance': {
      const near = query.conditions.find((condition) => condition.by === 'near');
      if (!near) return plain();
      const nearest = placed(db, db.knex.queryBuilder(), near.link)
        .whereRaw('l.post_id = p.ID')
        .select(db.knex.raw(`MIN(${distance(db, near)[0]})`, [...distance(db, near)[1]]));
      const { sql, bindings } = nearest.toSQL();
      return [[`(${sql}) ${direction}`, bindings as Knex.RawBinding[]], ...plain()];
    }
  }
}

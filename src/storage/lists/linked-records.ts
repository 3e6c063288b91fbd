import type { Condition } from '../../kinds/condition.ts';
import { COORDINATES } from '../../kinds/events/metas.ts';
import type { QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import { asId } from '../engine/expressions.ts';
import { linkedFromEventsFound } from './linked-from-events.ts';
import type { Distances, PostQuery } from './post-query.ts';
import { withoutPassword } from './post-visibility.ts';

/*
 * What lists ask of the records that posts link to: of their venues. Only public ones count, since a filter must not
 * reveal what others hide. And what lists of venues ask of the events that link to them (`linked-from-events.ts`).
 */

const EARTH_RADIUS_KM = 6371;
type Near = Extract<Condition, { by: 'near' }>;

/** More of them than this are looked for by the query of the list itself. */
export const MOST_FOUND = 5000;

/**
 * The same query, where what is asked of linked records (their city, their place) is replaced by the ids of those that
 * fit: they are few beside the posts that link to them, and ids lead into the list index. Left to the query of the
 * list, both databases go through the links of all posts.
 */
export async function withLinksFound(db: Database, query: PostQuery): Promise<PostQuery> {
  const [conditions, byEvents]: [Condition[], Condition[]] = [[], []];
  for (const condition of query.conditions) {
    const found = condition.by === 'linkedFromAny' ? await linkedFromEventsFound(db, condition, query, MOST_FOUND) : undefined;
    if (found) byEvents.push(found);
    else conditions.push((await linksFound(db, condition)) ?? condition);
  }
  // At the end: an order by ids is that of the ids that were asked for.
  conditions.push(...byEvents);
  if (query.order.by !== 'distance') return { ...query, conditions };
  const from = query.conditions.find((condition): condition is Near => condition.by === 'near');
  return { ...query, conditions, ...(from?.link === undefined ? {} : { distances: await distancesFrom(db, from, from.link) }) };
}

async function linksFound(db: Database, condition: Condition): Promise<Condition | undefined> {
  const records = recordsThat(db, condition);
  if (!records) return undefined;
  const ids: number[] = await records.builder
    .distinct('v.ID')
    .limit(MOST_FOUND + 1)
    .pluck('v.ID');
  return ids.length > MOST_FOUND
    ? undefined
    : { by: 'links', key: records.link, ids, guarded: true, ...(records.none ? { none: true } : {}) };
}

async function distancesFrom(db: Database, from: Near, link: string): Promise<Distances> {
  const [km, points] = distance(db, from);
  const rows: { id: number; km: number | string }[] = await near(db, db.query(), from).select('v.ID as id', db.raw(`${km} as km`, points));
  return { link, km: new Map(rows.map((row) => [Number(row.id), Number(row.km)])) };
}

/** Records (as `v`), and by which meta they are linked to. `none`: posts that link to none of them are wanted. */
interface Linked {
  readonly builder: QueryBuilder;
  readonly link: string;
  readonly none?: boolean;
}

/** The records that a condition asks for; undefined where it asks for none. */
function recordsThat(db: Database, condition: Condition): Linked | undefined {
  const builder: QueryBuilder = db.query();
  if (condition.by === 'linkedMeta') return { builder: withMeta(db, builder, condition), link: condition.link };
  if (condition.by === 'near' && condition.link !== undefined) return { builder: near(db, builder, condition), link: condition.link };
  if (condition.by === 'placed' && condition.link !== undefined)
    return { builder: withCoordinates(db, builder), link: condition.link, none: !condition.wanted };
  return undefined;
}

/** Public records (as `v`). */
const publicOnes = (db: Database, builder: QueryBuilder): QueryBuilder =>
  builder
    .from({ v: db.table('posts') })
    .where('v.post_status', 'publish')
    .whereRaw(...withoutPassword('v'));

/** Those with a meta of this value, case and accents aside. */
export const withMeta = (db: Database, builder: QueryBuilder, { key, value }: Extract<Condition, { by: 'linkedMeta' }>): QueryBuilder =>
  publicOnes(db, builder)
    .join({ m: db.table('postmeta') }, 'm.post_id', 'v.ID')
    .where('m.meta_key', key)
    .whereRaw(...db.dialect.equalsFolded('m.meta_value', value));

/** Those with coordinates (`lat`, `lng`). */
export const withCoordinates = (db: Database, builder: QueryBuilder): QueryBuilder =>
  publicOnes(db, builder)
    .join({ lat: db.table('postmeta') }, (join) => join.on('lat.post_id', 'v.ID').andOnVal('lat.meta_key', COORDINATES.lat))
    .join({ lng: db.table('postmeta') }, (join) => join.on('lng.post_id', 'v.ID').andOnVal('lng.meta_key', COORDINATES.lng))
    .whereNot('lat.meta_value', '')
    .whereNot('lng.meta_value', '');

/** Those within this many km of a point. */
export function near(db: Database, builder: QueryBuilder, condition: Near): QueryBuilder {
  const [km, points] = distance(db, condition);
  return withCoordinates(db, builder).whereRaw(`${km} <= ?`, [...points, condition.km]);
}

/** The metas `l` by which posts link to these records. */
export const linkedTo = (db: Database, records: QueryBuilder, link: string | undefined): QueryBuilder =>
  records.join({ l: db.table('postmeta') }, 'v.ID', asId(db, 'l.meta_value')).where('l.meta_key', link ?? '');

/** Great-circle distance in km (haversine) from a point to the coordinates of `withCoordinates`. */
function distance(db: Database, { lat, lng }: { lat: number; lng: number }): Sql {
  const [latitude, latitudeColumns] = db.dialect.asNumber('lat.meta_value');
  const [longitude, longitudeColumns] = db.dialect.asNumber('lng.meta_value');
  const half = (difference: string) => `POWER(SIN(RADIANS(${difference}) / 2), 2)`;
  return [
    `(${2 * EARTH_RADIUS_KM} * ASIN(SQRT(${half(`${latitude} - ?`)} + COS(RADIANS(?)) * COS(RADIANS(${latitude})) * ${half(`${longitude} - ?`)})))`,
    [...latitudeColumns, lat, lat, ...latitudeColumns, ...longitudeColumns, lng],
  ];
}

import type { Condition } from '../../kinds/condition.ts';
import { MAX_LATITUDE, MAX_LONGITUDE } from '../../kinds/coordinates.ts';
import { COORDINATES } from '../../kinds/events/metas.ts';
import { storedText } from '../../wordpress/php/serialized.ts';
import type { QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import { asId, every } from '../engine/expressions.ts';
import { resolveLinkedFromEvents } from './linked-from-events.ts';
import type { Distances, PostQuery } from './post-query.ts';
import { withoutPassword } from './post-visibility.ts';

/*
 * Conditions on the records that posts link to, such as the venues of events. Only public records match, since a filter
 * must not reveal hidden ones. Also handles the conditions of lists of venues on the events that link to them
 * (`linked-from-events.ts`).
 */

const EARTH_RADIUS_KM = 6371;
type Near = Extract<Condition, { by: 'near' }>;

/** If more linked records than this match, the condition stays in the query of the list. */
export const MAX_LINKED_RECORDS = 5000;

/**
 * Returns the same query with conditions on linked records (their city, their location) replaced by the ids of the
 * matching records. There are few of them compared with the posts that link to them, and ids can be used with the list
 * index. If such a condition stays in the query of the list, both databases read the links of all posts.
 */
export async function resolveLinkedConditions(db: Database, query: PostQuery): Promise<PostQuery> {
  const [conditions, byEvents]: [Condition[], Condition[]] = [[], []];
  for (const condition of query.conditions) {
    const replacement =
      condition.by === 'linkedFromAny' ? await resolveLinkedFromEvents(db, condition, query, MAX_LINKED_RECORDS) : undefined;
    if (replacement) byEvents.push(replacement);
    else conditions.push((await resolveLinkedCondition(db, condition)) ?? condition);
  }
  // These conditions come last, since an order by ids uses the ids that were requested.
  conditions.push(...byEvents);
  if (query.order.by !== 'distance') return { ...query, conditions };
  const from = query.conditions.find((condition): condition is Near => condition.by === 'near');
  return { ...query, conditions, ...(from?.link === undefined ? {} : { distances: await distancesFrom(db, from, from.link) }) };
}

async function resolveLinkedCondition(db: Database, condition: Condition): Promise<Condition | undefined> {
  const records = linkedRecordsQuery(db, condition);
  if (!records) return undefined;
  const ids: number[] = await records.builder
    .distinct('v.ID')
    .limit(MAX_LINKED_RECORDS + 1)
    .pluck('v.ID');
  return ids.length > MAX_LINKED_RECORDS
    ? undefined
    : { by: 'links', key: records.link, ids, guarded: true, ...(records.none ? { none: true } : {}) };
}

async function distancesFrom(db: Database, from: Near, link: string): Promise<Distances> {
  const [km, points] = distance(db, from);
  const rows: { id: number; km: number | string }[] = await near(db, db.query(), from).select('v.ID as id', db.raw(`${km} as km`, points));
  return { link, km: rows.map((row) => [Number(row.id), Number(row.km)]) };
}

/**
 * A query for records (as `v`), and the meta that links to them. `none`: the list wants posts that link to none of
 * them.
 */
interface Linked {
  readonly builder: QueryBuilder;
  readonly link: string;
  readonly none?: boolean;
}

/**
 * Returns the query for the linked records that match a condition; undefined if the condition is not about linked
 * records.
 */
function linkedRecordsQuery(db: Database, condition: Condition): Linked | undefined {
  const builder: QueryBuilder = db.query();
  if (condition.by === 'linkedMeta') return { builder: withMeta(db, builder, condition), link: condition.link };
  if (condition.by === 'near' && condition.link !== undefined) return { builder: near(db, builder, condition), link: condition.link };
  if (condition.by === 'placed' && condition.link !== undefined)
    return { builder: withCoordinates(db, builder), link: condition.link, none: !condition.isPlaced };
  return undefined;
}

/** Restricts a query to public records (as `v`). */
const wherePublic = (db: Database, builder: QueryBuilder): QueryBuilder =>
  builder
    .from({ v: db.table('posts') })
    .where('v.post_status', 'publish')
    .whereRaw(...withoutPassword('v'));

/** Restricts a query to public records with a meta of this value, ignoring case and accents. */
export const withMeta = (db: Database, builder: QueryBuilder, { key, value }: Extract<Condition, { by: 'linkedMeta' }>): QueryBuilder =>
  wherePublic(db, builder)
    .join({ m: db.table('postmeta') }, 'm.post_id', 'v.ID')
    .where('m.meta_key', key)
    .whereRaw(...db.dialect.equalsFolded('m.meta_value', storedText(value)));

/** Restricts a query to public records with coordinates (`lat`, `lng`). */
export const withCoordinates = (db: Database, builder: QueryBuilder): QueryBuilder =>
  wherePublic(db, builder)
    .join({ lat: db.table('postmeta') }, (join) => join.on('lat.post_id', 'v.ID').andOnVal('lat.meta_key', COORDINATES.lat))
    .join({ lng: db.table('postmeta') }, (join) => join.on('lng.post_id', 'v.ID').andOnVal('lng.meta_key', COORDINATES.lng))
    .whereRaw(...degrees(db, 'lat.meta_value', MAX_LATITUDE))
    .whereRaw(...degrees(db, 'lng.meta_value', MAX_LONGITUDE));

/** Condition: a text column contains degrees that exist. WordPress and imports store any text. */
function degrees({ dialect }: Database, column: string, max: number): Sql {
  const [number, columns] = dialect.asNumber(column);
  return every([dialect.isNumber(column), [`${number} BETWEEN ? AND ?`, [...columns, -max, max]]]);
}

/** Restricts a query to public records within this many km of a point. */
export function near(db: Database, builder: QueryBuilder, condition: Near): QueryBuilder {
  const [km, points] = distance(db, condition);
  return withCoordinates(db, builder).whereRaw(`${km} <= ?`, [...points, condition.km]);
}

/** Joins the metas `l` by which posts link to these records. */
export const linkedTo = (db: Database, records: QueryBuilder, link: string | undefined): QueryBuilder =>
  records.join({ l: db.table('postmeta') }, 'v.ID', asId(db, 'l.meta_value')).where('l.meta_key', link ?? '');

/** Great-circle distance in km (haversine) from a point to the coordinates of `withCoordinates`. */
function distance(db: Database, { lat, lng }: { lat: number; lng: number }): Sql {
  const [latitude, latitudeColumns] = db.dialect.asNumber('lat.meta_value');
  const [longitude, longitudeColumns] = db.dialect.asNumber('lng.meta_value');
  const haversine = (difference: string) => `POWER(SIN(RADIANS(${difference}) / 2), 2)`;
  return [
    `(${2 * EARTH_RADIUS_KM} * ASIN(SQRT(${haversine(`${latitude} - ?`)} + COS(RADIANS(?)) * COS(RADIANS(${latitude})) * ${haversine(`${longitude} - ?`)})))`,
    [...latitudeColumns, lat, lat, ...latitudeColumns, ...longitudeColumns, lng],
  ];
}

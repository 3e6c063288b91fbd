import { groupedBy } from '../../grouped-by.ts';
import type { Condition, ConditionBy, InLanguage, ThroughGroups } from '../../kinds/condition.ts';
import { MAX_LATITUDE, MAX_LONGITUDE } from '../../kinds/coordinates.ts';
import { COORDINATES } from '../../kinds/events/metas.ts';
import { postKind } from '../../kinds/index.ts';
import { storedText } from '../../wordpress/php/serialized.ts';
import type { QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import { asId, every } from '../engine/expressions.ts';
import { readInParts } from '../engine/pages.ts';
import { formOf } from '../languages/forms.ts';
import { resolveLinkedFromEvents } from './linked-from-events.ts';
import type { Distances, PostQuery } from './post-query.ts';
import { withoutPassword } from './post-visibility.ts';

/*
 * Conditions on the records that posts link to, such as the venues of events. Only public records match, since a filter
 * must not reveal hidden ones. In a language, a record also matches by its translations, as in filters that name
 * records. Also handles the conditions of lists of venues on the events that link to them (`linked-from-events.ts`).
 */

const EARTH_RADIUS_KM = 6371;
type Near = ConditionBy<'near'>;
/** A condition on linked records. */
type OnLinked = ConditionBy<'linkedMeta' | 'placed' | 'near'>;

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
  if (!isOnLinked(condition) || condition.link === undefined) return undefined;
  const matches: number[] = await matchingRecords(db, condition)
    .distinct('v.ID')
    .limit(MAX_LINKED_RECORDS + 1)
    .pluck('v.ID');
  if (matches.length > MAX_LINKED_RECORDS) return undefined;
  const translations = await translationsOfMatches(db, condition, matches);
  const ids = [...new Set([...matches, ...translations.keys()])];
  return { by: 'links', key: condition.link, ids, guarded: true, ...(isNegated(condition) ? { none: true } : {}) };
}

async function distancesFrom(db: Database, from: Near, link: string): Promise<Distances> {
  const [distanceSql, points] = distance(db, from);
  const distances = db.raw(`${distanceSql} as km`, points);
  const rows: { id: number; km: number | string }[] = await near(db, db.query(), from).select('v.ID as id', distances);
  const km = new Map(rows.map((row) => [Number(row.id), Number(row.km)]));
  for (const [id, matches] of await translationsOfMatches(db, from, [...km.keys()]))
    km.set(id, Math.min(...[id, ...matches].flatMap((one) => km.get(one) ?? [])));
  return { link, km: [...km] };
}

const isOnLinked = (condition: Condition): condition is OnLinked =>
  condition.by === 'linkedMeta' || condition.by === 'placed' || condition.by === 'near';

/** Whether the list wants posts that link to none of the matching records. */
const isNegated = (condition: OnLinked): boolean => condition.by === 'placed' && !condition.isPlaced;

/** Returns the query for the records (as `v`) that match by themselves. */
function matchingRecords(db: Database, condition: OnLinked): QueryBuilder {
  if (condition.by === 'linkedMeta') return withMeta(db, db.query(), condition);
  return condition.by === 'near' ? near(db, db.query(), condition) : withCoordinates(db, db.query());
}

/** Condition: posts (as `p`) link to a matching record, or to none of them. For more records than can be looked up. */
export function whereLinked(db: Database, where: QueryBuilder, condition: OnLinked): void {
  const links = (records: QueryBuilder) => linkedTo(db, records, condition.link).select('l.post_id');
  where[isNegated(condition) ? 'whereNot' : 'where']((any: QueryBuilder) => {
    any.whereIn('p.ID', links(matchingRecords(db, condition)));
    if (condition.eventsIn) any.orWhereIn('p.ID', links(translatedMatches(db, condition, condition.eventsIn)));
  });
}

/**
 * Returns the translations of matching records, each with the ones that match; it may match itself. A hidden one counts
 * only if all events of the list show a matching record in its place.
 */
async function translationsOfMatches(
  db: Database,
  { eventsIn }: ThroughGroups,
  matches: readonly number[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  if (!eventsIn || matches.length === 0) return new Map();
  const { languages } = eventsIn;
  const groups = await readInParts(matches, async (posts) => [
    ...(await formOf(languages).memberships(db, languages, { posts, terms: [] })).posts,
  ]);
  const pairs = groups.flatMap(([match, { language, members }]) =>
    [...members.values()].flatMap((id) => (id === match ? [] : [{ id, match, isReplaced: replacesAll(eventsIn, language) }])),
  );
  const replacedIds = new Set(pairs.flatMap(({ id, isReplaced }) => (isReplaced ? [id] : [])));
  const otherIds = pairs.flatMap(({ id }) => (replacedIds.has(id) ? [] : [id]));
  const publicIds = new Set(
    await readInParts(otherIds, (page): PromiseLike<number[]> => wherePublic(db, db.query()).whereIn('v.ID', page).pluck('v.ID')),
  );
  const counted = pairs.filter(({ id }) => replacedIds.has(id) || publicIds.has(id));
  return new Map([...groupedBy(counted, ({ id }) => id)].map(([id, of]) => [id, of.map(({ match }) => match)]));
}

/** Returns the query for the same translations (as `v`). */
function translatedMatches(db: Database, condition: OnLinked, eventsIn: InLanguage): QueryBuilder {
  const { languages } = eventsIn;
  const kind = postKind('event').links[condition.link ?? ''];
  const records = { is: 'post', name: kind ? postKind(kind).postType : '', alias: 'v' } as const;
  return db
    .query()
    .from({ v: db.table('posts') })
    .where((any: QueryBuilder) => {
      for (const { code } of languages.languages)
        any.orWhere((part: QueryBuilder) => {
          if (!replacesAll(eventsIn, code)) part.where('v.post_status', 'publish').whereRaw(...withoutPassword('v'));
          const isShown = (member: QueryBuilder) => void member.whereIn('member.ID', matchingRecords(db, condition).select('v.ID'));
          formOf(languages).whereInGroup(db, part, languages, records, { code, isShown });
        });
    });
}

/** Whether all events of a list show a record of this language in place of its translations. */
const replacesAll = ({ code, fill }: InLanguage, language: string | null): boolean => fill === 'nothing' && language === code;

/** Restricts a query to public records (as `v`). */
const wherePublic = (db: Database, builder: QueryBuilder): QueryBuilder =>
  builder
    .from({ v: db.table('posts') })
    .where('v.post_status', 'publish')
    .whereRaw(...withoutPassword('v'));

/** Restricts a query to public records with a meta of this value, ignoring case and accents. */
const withMeta = (db: Database, builder: QueryBuilder, { key, value }: ConditionBy<'linkedMeta'>): QueryBuilder =>
  wherePublic(db, builder)
    .join({ m: db.table('postmeta') }, 'm.post_id', 'v.ID')
    .where('m.meta_key', key)
    .whereRaw(...db.dialect.equalsFolded('m.meta_value', storedText(value)));

/** Restricts a query to public records with coordinates (`lat`, `lng`). */
const withCoordinates = (db: Database, builder: QueryBuilder): QueryBuilder =>
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
function near(db: Database, builder: QueryBuilder, condition: Near): QueryBuilder {
  const [km, points] = distance(db, condition);
  return withCoordinates(db, builder).whereRaw(`${km} <= ?`, [...points, condition.km]);
}

/** Joins the metas `l` by which posts link to these records. */
const linkedTo = (db: Database, records: QueryBuilder, link: string | undefined): QueryBuilder =>
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

import { groupedBy } from '../../grouped-by.ts';
import type { Condition, ConditionBy, InLanguage, LinkedRecords, ThroughGroups } from '../../kinds/condition.ts';
import { MAX_LATITUDE, MAX_LONGITUDE } from '../../kinds/coordinates.ts';
import { COORDINATES } from '../../kinds/events/metas.ts';
import { postKind } from '../../kinds/index.ts';
import { storedText } from '../../wordpress/php/serialized.ts';
import type { QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import { asId, every } from '../engine/expressions.ts';
import { readInParts } from '../engine/pages.ts';
import type { ListedRecords } from '../languages/form.ts';
import { formOf } from '../languages/forms.ts';
import { selectInLanguage } from './in-language.ts';
import { resolveLinkedFromEvents } from './linked-from-events.ts';
import type { Distances, PostQuery } from './post-query.ts';
import { withoutPassword } from './post-visibility.ts';
import { isOfOneLanguage, languagesListed, withReplaced } from './replaced-records.ts';

/*
 * Conditions on the records that posts link to, such as the venues of events. Only public records match, since a filter
 * must not reveal hidden ones. In a language, a record also matches by its translations, as in filters that name
 * records; a hidden one matches if the event shows a public translation in its place. Also handles the conditions of
 * lists of venues on the events that link to them (`linked-from-events.ts`).
 */

const EARTH_RADIUS_KM = 6371;
type Near = ConditionBy<'near'>;
/** A condition on linked records. */
type OnLinked = ConditionBy<'linkedMeta' | 'placed' | 'near'>;

/** The ids of this many linked records fit into one query. */
export const MAX_LINKED_RECORDS = 5000;

/**
 * Returns the same query with conditions on linked records (their city, their location) replaced by the ids of the
 * matching records. There are few of them compared with the posts that link to them, and ids can be used with the list
 * index. If such a condition stays in the query of the list, both databases read the links of all posts.
 *
 * @param limit if a condition matches more records than this, translations included, it stays
 */
export async function resolveLinkedConditions(db: Database, query: PostQuery, limit = MAX_LINKED_RECORDS): Promise<PostQuery> {
  const [conditions, byEvents]: [Condition[], Condition[]] = [[], []];
  for (const condition of query.conditions) {
    const replacement = condition.by === 'linkedFromAny' ? await resolveLinkedFromEvents(db, condition, query, limit) : undefined;
    if (replacement) byEvents.push(replacement);
    else conditions.push((await resolveLinkedCondition(db, condition, limit)) ?? condition);
  }
  // These conditions come last, since an order by ids uses the ids that were requested.
  conditions.push(...byEvents);
  if (query.order.by !== 'distance') return { ...query, conditions };
  const from = query.conditions.find((condition): condition is Near => condition.by === 'near');
  return { ...query, conditions, ...(from?.link === undefined ? {} : { distances: await distancesFrom(db, from, from.link) }) };
}

async function resolveLinkedCondition(db: Database, condition: Condition, limit: number): Promise<Condition | undefined> {
  if (!isOnLinked(condition) || condition.link === undefined) return undefined;
  const matches: number[] = await matchingRecords(db, condition)
    .distinct('v.ID')
    .limit(limit + 1)
    .pluck('v.ID');
  if (matches.length > limit) return undefined;
  const { records } = await translationsOfMatches(db, condition, matches);
  if (idsIn(records).length > limit) return undefined;
  return { by: 'links', key: condition.link, ...records, guarded: true, ...(isNegated(condition) ? { none: true } : {}) };
}

const idsIn = ({ ids, replaced = [] }: LinkedRecords): number[] => [...ids, ...replaced.flatMap(({ ids: replacedIds }) => replacedIds)];

async function distancesFrom(db: Database, from: Near, link: string): Promise<Distances> {
  const [distanceSql, points] = distance(db, from);
  const distances = db.raw(`${distanceSql} as km`, points);
  const rows: { id: number; km: number | string }[] = await near(db, db.query(), from).select('v.ID as id', distances);
  const km = new Map(rows.map((row) => [Number(row.id), Number(row.km)]));
  const { records, matchesOf } = await translationsOfMatches(db, from, [...km.keys()]);
  for (const id of idsIn(records)) km.set(id, Math.min(...[id, ...(matchesOf.get(id) ?? [])].flatMap((one) => km.get(one) ?? [])));
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
  const { eventsIn } = condition;
  const links = (records: QueryBuilder) => linkedTo(db, records, condition.link).select('l.post_id');
  where[isNegated(condition) ? 'whereNot' : 'where']((any: QueryBuilder) => {
    any.whereIn('p.ID', links(matchingRecords(db, condition)));
    if (!eventsIn) return;
    const translations = (sub: QueryBuilder) => translatedMatches(db, sub, condition, eventsIn);
    any.orWhereIn('p.ID', (sub: QueryBuilder) => void links(wherePublic('v', translations(sub))));
    for (const postsIn of languagesListed(eventsIn)) {
      const isReplaced = (where: QueryBuilder) => whereReplaced(db, where, condition, postsIn);
      const selectLinking = (sub: QueryBuilder) => void links(translations(sub).where(isReplaced));
      any.orWhereIn('p.ID', isOfOneLanguage(eventsIn) ? selectLinking : selectInLanguage(db, EVENTS, postsIn, selectLinking));
    }
  });
}

/**
 * Returns matching records and their translations, as far as events of the list match by links to them. `matchesOf`:
 * the matching translations of each translation, which may match itself.
 */
async function translationsOfMatches(
  db: Database,
  { eventsIn }: ThroughGroups,
  matches: readonly number[],
): Promise<{ readonly records: LinkedRecords; readonly matchesOf: ReadonlyMap<number, readonly number[]> }> {
  if (!eventsIn || matches.length === 0) return { records: { ids: matches }, matchesOf: new Map() };
  const { languages } = eventsIn;
  const groups = await readInParts(matches, async (posts) => [
    ...(await formOf(languages).memberships(db, languages, { posts, terms: [] })).posts,
  ]);
  const members = groups.flatMap(([match, group]) => [...group.members.values()].map((id) => ({ id, match, members: group.members })));
  const publicIds = new Set(matches);
  const otherIds = members.flatMap(({ id }) => (publicIds.has(id) ? [] : [id]));
  const publicRecords = (page: number[]): PromiseLike<number[]> => publicPosts(db, db.query()).whereIn('v.ID', page).pluck('v.ID');
  for (const id of await readInParts(otherIds, publicRecords)) publicIds.add(Number(id));
  const isPublic = (id: number) => publicIds.has(id);
  const hidden = members.filter(({ id }) => !isPublic(id));
  const matchesOf = [...groupedBy(members, ({ id }) => id)].map(([id, of]) => [id, of.map(({ match }) => match)] as const);
  return { records: withReplaced(eventsIn, [...publicIds], hidden, isPublic), matchesOf: new Map(matchesOf) };
}

/** Builds the query for the translations (as `v`) of matching records. */
function translatedMatches(db: Database, builder: QueryBuilder, condition: OnLinked, { languages }: InLanguage): QueryBuilder {
  const records = recordsOf(condition);
  const isMatch = (member: QueryBuilder) => void member.whereIn('member.ID', matchingRecords(db, condition).select('v.ID'));
  const typed = builder.from({ v: db.table('posts') }).where('v.post_type', records.name);
  return typed.where((any: QueryBuilder) => {
    for (const { code } of languages.languages)
      any.orWhere((part: QueryBuilder) => formOf(languages).whereInGroup(db, part, languages, records, { code, isShown: isMatch }));
  });
}

/** Condition: a record (as `v`) has a public translation into this language. */
const whereReplaced = (db: Database, where: QueryBuilder, condition: OnLinked, { languages, code }: InLanguage): void =>
  formOf(languages).whereInGroup(db, where, languages, recordsOf(condition), {
    code,
    isShown: (member) => void wherePublic('member', member),
  });

/** The records to which the posts link, as `v`. */
function recordsOf({ link }: OnLinked): ListedRecords {
  const kind = postKind('event').links[link ?? ''];
  return { is: 'post', name: kind ? postKind(kind).postType : '', alias: 'v' };
}

const EVENTS = postKind('event').postType;

/** Restricts a query to public posts. */
const wherePublic = (alias: string, builder: QueryBuilder): QueryBuilder =>
  builder.where(`${alias}.post_status`, 'publish').whereRaw(...withoutPassword(alias));

/** Reads public records (as `v`). */
const publicPosts = (db: Database, builder: QueryBuilder): QueryBuilder => wherePublic('v', builder.from({ v: db.table('posts') }));

/** Restricts a query to public records with a meta of this value, ignoring case and accents. */
const withMeta = (db: Database, builder: QueryBuilder, { key, value }: ConditionBy<'linkedMeta'>): QueryBuilder =>
  publicPosts(db, builder)
    .join({ m: db.table('postmeta') }, 'm.post_id', 'v.ID')
    .where('m.meta_key', key)
    .whereRaw(...db.dialect.equalsFolded('m.meta_value', storedText(value)));

/** Restricts a query to public records with coordinates (`lat`, `lng`). */
const withCoordinates = (db: Database, builder: QueryBuilder): QueryBuilder =>
  publicPosts(db, builder)
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

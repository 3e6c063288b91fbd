import type { Condition, InLanguage } from '../../kinds/condition.ts';
import { HIDDEN_META } from '../../kinds/events/metas.ts';
import { postKind } from '../../kinds/index.ts';
import { isTranslated } from '../../wordpress/content-languages.ts';
import type { QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';
import { asId } from '../engine/expressions.ts';
import { formOf } from '../languages/forms.ts';
import { joinDates, momentColumn } from '../rows/event-moments.ts';
import { linkedInIndex, UNCOUNTED_STATUSES } from './event-index-list.ts';
import { whereInLanguage } from './in-language.ts';
import type { PostQuery } from './post-query.ts';
import { whereOpen, whereVisible } from './post-visibility.ts';

/*
 * Filters venues and organizers by the events that refer to them: "has events" and "upcoming". If content has
 * languages, the translations of such a venue or organizer match as well.
 */

type LinkedFromAny = Extract<Condition, { by: 'linkedFromAny' }>;
type WithinLanguage = LinkedFromAny & { readonly inLanguage: InLanguage };

/** Selects the ids that posts refer to in a meta. */
export const linkTargets = (db: Database, sub: QueryBuilder, key: string): QueryBuilder =>
  sub
    .select({ id: asId(db, 'l.meta_value') })
    .from({ l: db.table('postmeta') })
    .where('l.meta_key', key);

/** Restricts a list of venues or organizers (as `p`) to those that a visible event refers to, or to all others. */
export function whereLinkedFromEvents(db: Database, where: QueryBuilder, condition: LinkedFromAny, query: PostQuery): void {
  const { inLanguage } = condition;
  const indexed = inLanguage ? undefined : linkedInIndex(db, condition, query);
  if (indexed) where.whereRaw(...indexed);
  else if (inLanguage) whereLinkedThroughGroups(db, where, { ...condition, inLanguage }, query);
  else where[condition.isLinked ? 'whereIn' : 'whereNotIn']('p.ID', (sub: QueryBuilder) => linkedFromEvents(db, sub, condition, query));
}

/**
 * Replaces the condition by ids, which are looked up once instead of separately for the page and the total. Undefined
 * if the index answers for each record, or if there are more than `limit` ids.
 */
export async function resolveLinkedFromEvents(
  db: Database,
  condition: LinkedFromAny,
  query: PostQuery,
  limit: number,
): Promise<Condition | undefined> {
  const { inLanguage, isLinked } = condition;
  if (!inLanguage && linkedInIndex(db, condition, query)) return undefined;
  const linkedIds = await idsLinkedFromEvents(db, condition, query, limit + 1);
  if (linkedIds.length > limit) return undefined;
  const ids = inLanguage ? await withTranslations(db, inLanguage, query, linkedIds) : linkedIds;
  if (ids.length > limit) return undefined;
  return { by: isLinked ? 'id' : 'notId', ids };
}

/** Returns venues or organizers that events refer to, at most `limit` of them. */
async function idsLinkedFromEvents(db: Database, condition: LinkedFromAny, query: PostQuery, limit: number): Promise<number[]> {
  const indexed = linkedInIndex(db, { ...condition, isLinked: true }, query);
  const builder = indexed
    ? db
        .from('posts', 'p')
        .where('p.post_type', query.kind.postType)
        .whereRaw(...indexed)
        .select({ id: 'p.ID' })
    : linkedFromEvents(db, db.query(), condition, query).distinct();
  const rows: { id: number }[] = await builder.limit(limit);
  return rows.map(({ id }) => Number(id));
}

/** Returns these records and their translations. */
async function withTranslations(
  db: Database,
  { languages }: InLanguage,
  { kind }: PostQuery,
  ids: readonly number[],
): Promise<readonly number[]> {
  if (ids.length === 0 || !isTranslated(languages, kind.postType)) return ids;
  const { posts } = await formOf(languages).memberships(db, languages, { posts: ids, terms: [] });
  return [...new Set([...ids, ...[...posts.values()].flatMap(({ members }) => [...members.values()])])];
}

/** Condition: an event of a language refers to the venue or organizer, or to one of its translations. */
function whereLinkedThroughGroups(db: Database, where: QueryBuilder, condition: WithinLanguage, query: PostQuery): void {
  const { languages } = condition.inLanguage;
  const records = { is: 'post', name: query.kind.postType, alias: 'p' } as const;
  const selectLinked = (sub: QueryBuilder) => void linkedFromEvents(db, sub, condition, query);
  where[condition.isLinked ? 'where' : 'whereNot']((any: QueryBuilder) => {
    any.whereIn('p.ID', selectLinked);
    if (!isTranslated(languages, query.kind.postType)) return;
    for (const { code } of languages.languages)
      any.orWhere((part) =>
        formOf(languages).whereInGroup(db, part, languages, records, {
          code,
          isShown: (member) => void member.whereIn('member.ID', selectLinked),
        }),
      );
  });
}

/**
 * Selects venues or organizers that are referred to by an event which the caller may see; `upcomingSince`: an event
 * that starts at that moment or later and is not hidden. The links are read first, since MariaDB would otherwise read
 * all metas of all events to find them.
 */
function linkedFromEvents(
  db: Database,
  sub: QueryBuilder,
  { key, upcomingSince, inLanguage }: LinkedFromAny,
  query: PostQuery,
): QueryBuilder {
  const events = postKind('event').postType;
  linkTargets(db, sub, key)
    .joinRaw(`${db.dialect.joinInOrder} ?? ev ON ev.ID = l.post_id`, [db.table('posts')])
    .where('ev.post_type', events)
    .where((where) => whereOpen(db, where, { opened: { password: query.opened.password, editable: undefined } }, 'ev'))
    .where((where) => whereVisible(db, where, 'ev', query.visibleEvents));
  if (inLanguage)
    sub.where((part) =>
      whereInLanguage(
        db,
        part,
        inLanguage,
        { is: 'post', name: events, alias: 'ev' },
        (member) => void member.where('member.post_status', 'publish'),
      ),
    );
  if (upcomingSince === undefined) return sub.whereNotIn('ev.post_status', UNCOUNTED_STATUSES);
  joinDates(db, sub, 'ev', query.occurrences);
  return sub
    .where(momentColumn({ column: 'start_date', utc: false }, query), '>=', upcomingSince)
    .whereNot('ev.post_status', 'trash')
    .whereNotIn('ev.ID', (hidden: QueryBuilder) =>
      hidden
        .select('h.post_id')
        .from({ h: db.table('postmeta') })
        .where('h.meta_key', HIDDEN_META),
    );
}

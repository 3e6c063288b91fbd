import { groupedBy } from '../../grouped-by.ts';
import { postKind, taxonomies, termKind } from '../../kinds/index.ts';
import { isTranslated, type Membership } from '../../wordpress/content-languages.ts';
import type { Database } from '../engine/database.ts';
import { placeholders, type Selection, selectTogether, type TextRow } from '../engine/select-together.ts';
import { indexLoadedEvents, lockEvents } from '../index/event-index.ts';
import {
  type EventRows,
  INDEXED_METAS,
  indexedEvents,
  type OptionalLanguages,
  type Surroundings,
  withTranslations,
} from '../index/indexed-events.ts';
import { formOf } from '../languages/forms.ts';
import { currentPrints, type Print, type PrintSource } from './prints.ts';

/*
 * Reads posts together with their prints. WordPress saves an event in several commits, and may delete a row and then
 * insert the same row again. If the index were made from other moments than the prints, it could keep a state that
 * lasted only in between, and its print would not show that. So both are read in one statement; and what the index
 * shows of the terms and translations of an event is taken from their stored prints.
 */

/** Posts as they were at one moment. */
export interface PostsAtOnce {
  readonly prints: ReadonlyMap<number, Print>;
  /**
   * Updates the rows of the events in the index. Must be called after the prints have been stored. Returns the events
   * that cannot be indexed.
   */
  readonly index: () => Promise<number[]>;
}

const EVENTS = postKind('event').postType;

/** Returns these posts and the translations of the events among them, and locks the events. */
export async function withLockedTranslations(db: Database, ids: readonly number[], languages: OptionalLanguages): Promise<number[]> {
  const rows = await db.rows<{ id: number }>`
    SELECT ID AS id FROM {posts} WHERE post_type = ${EVENTS} AND ID IN (${ids})
    UNION SELECT object FROM {fasti_prints} WHERE kind = 'post' AND type = ${EVENTS} AND object IN (${ids})`;
  const events = await withTranslations(
    db,
    rows.map(({ id }) => Number(id)),
    languages,
  );
  await lockEvents(db, events);
  return [...new Set([...ids, ...events])];
}

/** Reads these posts at one moment. The events among them must be locked if they are to be indexed. */
export async function readPostsAtOnce(
  db: Database,
  source: PrintSource,
  ids: readonly number[],
  languages: OptionalLanguages,
): Promise<PostsAtOnce> {
  if (!source.isIndexed || ids.length === 0) return { prints: await currentPrints(db, source, ids), index: async () => [] };
  const ofEvents = isTranslated(languages, EVENTS) ? languages : undefined;
  const [posts = [], dates = [], metas = [], terms = [], groups = []] = await selectTogether(db, [
    ...selections(db, source, ids),
    ...(ofEvents ? [formOf(ofEvents).rowsOfPosts(db, ids)] : []),
  ]);
  const events = eventRows({ posts, dates, metas, terms });
  return {
    prints: new Map(posts.map((row) => [Number(row.ID), printIn(row)])),
    index: async () => {
      const memberships = ofEvents ? formOf(ofEvents).membershipsIn(ofEvents, groups) : new Map<number, Membership>();
      return indexLoadedEvents(db, ids, await indexedEvents(db, events, languages, surroundingsInPrints(db, memberships)));
    },
  };
}

function selections(db: Database, { columns, condition, hasRecurrence }: PrintSource, ids: readonly number[]): Selection[] {
  const [list, quoted] = [placeholders(ids), (table: Parameters<Database['table']>[0]) => `\`${db.table(table)}\``];
  return [
    {
      columns: { ID: 'o.ID', post_status: 'o.post_status', post_date: 'o.post_date', post_password: 'o.post_password', ...columns },
      from: `FROM ${quoted('posts')} o WHERE o.ID IN (${list}) AND ${condition.sql}`,
      bindings: ids,
    },
    {
      columns: {
        of: 'r.post_id',
        id: 'r.occurrence_id',
        start_date: 'r.start_date',
        end_date: 'r.end_date',
        start_date_utc: 'r.start_date_utc',
        end_date_utc: 'r.end_date_utc',
        has_recurrence: hasRecurrence ? 'r.has_recurrence' : '0',
      },
      from: `FROM ${quoted('tec_occurrences')} r WHERE r.post_id IN (${list})`,
      bindings: ids,
    },
    {
      columns: { of: 'r.post_id', meta_key: 'r.meta_key', meta_value: 'r.meta_value' },
      from: `FROM ${quoted('postmeta')} r WHERE r.post_id IN (${list}) AND r.meta_key IN (${placeholders(INDEXED_METAS)})`,
      bindings: [...ids, ...INDEXED_METAS],
    },
    {
      columns: { of: 'r.object_id', term_id: 'p.term', taxonomy: 'p.type' },
      from: `FROM ${quoted('term_relationships')} r
        ${db.dialect.joinInOrder} ${quoted('fasti_prints')} p ON p.kind = 'term' AND p.object = r.term_taxonomy_id
        WHERE r.object_id IN (${list}) AND p.type IN (${placeholders(taxonomies)})`,
      bindings: [...ids, ...taxonomies],
    },
  ];
}

const printIn = (row: TextRow): Print => ({
  kind: 'post',
  object: Number(row.ID),
  type: row.type ?? '',
  term: 0,
  parent: 0,
  is_public: Number(row.is_public),
  digest: row.digest ?? '',
});

function eventRows(rows: Readonly<Record<'posts' | 'dates' | 'metas' | 'terms', readonly TextRow[]>>): EventRows[] {
  const byPost = (of: readonly TextRow[]) => groupedBy(of, (row) => Number(row.of));
  const [dates, metas, terms] = [byPost(rows.dates), byPost(rows.metas), byPost(rows.terms)];
  const text = (value: string | null | undefined): string => value ?? '';
  return rows.posts
    .filter(({ type }) => type === EVENTS)
    .map((row) => {
      const ID = Number(row.ID);
      return {
        post: { ID, post_status: text(row.post_status), post_date: text(row.post_date), post_password: text(row.post_password) },
        occurrences: (dates.get(ID) ?? []).map((date) => ({
          occurrence_id: Number(date.id),
          start_date: text(date.start_date),
          end_date: text(date.end_date),
          start_date_utc: text(date.start_date_utc),
          end_date_utc: text(date.end_date_utc),
          has_recurrence: Number(date.has_recurrence),
        })),
        metas: (metas.get(ID) ?? []).map((meta) => ({ meta_key: text(meta.meta_key), meta_value: meta.meta_value ?? null })),
        terms: (terms.get(ID) ?? []).map((term) => ({ term_id: Number(term.term_id), taxonomy: text(term.taxonomy) })),
      };
    });
}

/**
 * The surroundings of events according to the stored prints. A change of a term, or of the status of a translation, is
 * taken over later, and the events are then indexed again.
 */
const surroundingsInPrints = (db: Database, memberships: ReadonlyMap<number, Membership>): Surroundings => ({
  memberships: async () => memberships,
  parentsOf: async (categories) => {
    const rows = await db.rows<Pick<Print, 'term' | 'parent'>>`
      SELECT term, parent FROM {fasti_prints} WHERE kind = 'term' AND type = ${termKind('category').taxonomy} AND term IN (${categories})`;
    return new Map(rows.map(({ term, parent }) => [Number(term), Number(parent)]));
  },
  publishedAmong: async (ids) => {
    const rows = await db.rows<Pick<Print, 'object'>>`
      SELECT object FROM {fasti_prints} WHERE kind = 'post' AND type = ${EVENTS} AND is_public = 1 AND object IN (${ids})`;
    return new Set(rows.map(({ object }) => Number(object)));
  },
});

import type { Knex } from 'knex';
import { HIDDEN_META } from '../../kinds/event-metas.ts';
import { postKind, termKind } from '../../kinds/index.ts';
import type { Condition, TermKindName } from '../../kinds/kind.ts';
import type { Database } from '../engine/database.ts';
import { asId, beginsWith } from '../engine/expressions.ts';
import { joinDates, momentColumn } from '../rows/event-moments.ts';
import { linkedInIndex } from './event-index-list.ts';
import { described, linkedTo, near, placed } from './linked-records.ts';
import type { PostQuery } from './post-query.ts';
import { whereWords } from './post-search.ts';
import { whereOpen, whereVisible } from './post-visibility.ts';

/** Metas by which published tickets name their event (decision D28). */
const TICKET_LINKS = [
  '_tribe_rsvp_for_event',
  '_tec_tickets_commerce_event',
  '_tribe_tpp_for_event',
  '_tribe_wooticket_for_event',
  '_tribe_eddticket_for_event',
];

/** Narrows a list of posts (as `p`) by a condition; `query`: what else is asked of the list. */
export function whereCondition(db: Database, where: Knex.QueryBuilder, condition: Condition, query: PostQuery): void {
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
          if (type.endsWith('/')) any.orWhereRaw(...beginsWith('p.post_mime_type', type));
          else any.orWhere('p.post_mime_type', type);
        }
      });
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
      if (condition.guarded) whereOpen(db, where, query);
      if (condition.wanted === 'all')
        for (const id of condition.ids) where.whereIn('p.ID', (sub: Knex.QueryBuilder) => postsOfTerms(db, sub, condition.kind, [id]));
      else {
        const among = condition.wanted === 'none' ? 'whereNotIn' : 'whereIn';
        where[among]('p.ID', (sub: Knex.QueryBuilder) => postsOfTerms(db, sub, condition.kind, condition.ids));
      }
      return;
    case 'links':
      if (condition.guarded) whereOpen(db, where, query);
      where[condition.none ? 'whereNotIn' : 'whereIn']('p.ID', (sub: Knex.QueryBuilder) =>
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
        where.whereRaw(...indexed);
        return;
      }
      where[condition.wanted ? 'whereIn' : 'whereNotIn']('p.ID', (sub: Knex.QueryBuilder) => linkedFromEvents(db, sub, condition, query));
      return;
    }
    case 'linkedMeta':
      whereOpen(db, where, query);
      where.whereIn('p.ID', (sub: Knex.QueryBuilder) => linkedTo(db, described(db, sub, condition), condition.link).select('l.post_id'));
      return;
    case 'meta':
      if (condition.guarded) whereOpen(db, where, query);
      where[condition.present ? 'whereIn' : 'whereNotIn']('p.ID', (sub: Knex.QueryBuilder) =>
        sub
          .select('m.post_id')
          .from({ m: db.table('postmeta') })
          .where('m.meta_key', condition.key),
      );
      return;
    case 'metaValue':
      whereOpen(db, where, query);
      where.whereIn('p.ID', (sub: Knex.QueryBuilder) =>
        sub
          .select('m.post_id')
          .from({ m: db.table('postmeta') })
          .whereIn('m.meta_key', [...condition.keys])
          .whereRaw(...db.dialect.equalsFolded('m.meta_value', condition.value)),
      );
      return;
    case 'placed':
      whereOpen(db, where, query);
      where[condition.wanted ? 'whereIn' : 'whereNotIn']('p.ID', (sub: Knex.QueryBuilder) =>
        linkedTo(db, placed(db, sub), condition.link).select('l.post_id'),
      );
      return;
    case 'near':
      whereOpen(db, where, query);
      where.whereIn('p.ID', (sub: Knex.QueryBuilder) => linkedTo(db, near(db, sub, condition), condition.link).select('l.post_id'));
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

const postsOfTerms = (db: Database, sub: Knex.QueryBuilder, kind: TermKindName, ids: readonly number[]): Knex.QueryBuilder =>
  sub
    .select('r.object_id')
    .from({ r: db.table('term_relationships') })
    .join({ tt: db.table('term_taxonomy') }, 'tt.term_taxonomy_id', 'r.term_taxonomy_id')
    .where('tt.taxonomy', termKind(kind).taxonomy)
    .whereIn('tt.term_id', [...ids]);

const linkTargets = (db: Database, sub: Knex.QueryBuilder, key: string): Knex.QueryBuilder =>
  sub
    .select(asId(db, 'l.meta_value'))
    .from({ l: db.table('postmeta') })
    .where('l.meta_key', key);

/**
 * Venues or organizers that an event names which the caller may see; `upcomingSince`: one that starts from then on and is not hidden. The links are gone through
 * first: left to itself, MariaDB reads all metas of all events to find them.
 */
function linkedFromEvents(
  db: Database,
  sub: Knex.QueryBuilder,
  { key, upcomingSince }: Extract<Condition, { by: 'linkedFromAny' }>,
  query: PostQuery,
): void {
  linkTargets(db, sub, key)
    .joinRaw(`${db.dialect.joinInOrder} ?? ev ON ev.ID = l.post_id`, [db.table('posts')])
    .where('ev.post_type', postKind('event').postType)
    .where((where) => whereOpen(db, where, { opened: { password: query.opened.password, editable: undefined } }, 'ev'))
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
        .where('h.meta_key', HIDDEN_META),
    );
}

import type { Condition, ConditionBy } from '../../kinds/condition.ts';
import { storedText } from '../../wordpress/php/serialized.ts';
import { DEFAULT_FORMAT, FORMAT_TAXONOMY, formatSlug } from '../../wordpress/post-formats.ts';
import type { QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';
import { asId } from '../engine/expressions.ts';
import { momentColumn } from '../rows/event-moments.ts';
import { selectInLanguage, whereInLanguage } from './in-language.ts';
import { linkTargets, whereLinkedFromEvents } from './linked-from-events.ts';
import { whereLinked } from './linked-records.ts';
import { isAboveBase, type PostQuery } from './post-query.ts';
import { whereWords } from './post-search.ts';
import { whereOpen, whereVisible } from './post-visibility.ts';

/** Metas in which published tickets refer to their event (decision D28). */
const TICKET_LINKS = [
  '_tribe_rsvp_for_event',
  '_tec_tickets_commerce_event',
  '_tribe_tpp_for_event',
  '_tribe_wooticket_for_event',
  '_tribe_eddticket_for_event',
];

/** The context of a condition: the database, the condition itself, and the query of the list. */
interface Narrowing<Of> {
  readonly db: Database;
  readonly condition: Of;
  readonly query: PostQuery;
}

/** For each kind of condition, a function that applies it to posts (as `p`). */
export type ConditionHandlers = {
  readonly [By in Condition['by']]: (where: QueryBuilder, narrowing: Narrowing<ConditionBy<By>>) => void;
};

/** Applies a condition to a list of posts (as `p`); `query`: the whole query of the list. */
export function whereCondition(db: Database, where: QueryBuilder, condition: Condition, query: PostQuery): void {
  if (isGuarded(condition)) whereOpen(db, where, query);
  // The compiler cannot see that the handler with this name takes a condition of that type.
  const handler = HANDLERS[condition.by] as (where: QueryBuilder, narrowing: Narrowing<Condition>) => void;
  handler(where, { db, condition, query });
}

/**
 * Whether a condition reads data that a password hides, so that protected records must not match unless they are open
 * to the caller (decision D35): always, never, or as the condition itself says. `words` handles this for each column.
 */
const GUARDED: {
  readonly [By in Condition['by']]: ConditionBy<By> extends { readonly guarded: boolean } ? 'as said' : 'always' | 'never';
} = {
  id: 'never',
  notId: 'never',
  author: 'never',
  notAuthor: 'never',
  parents: 'never',
  notParents: 'never',
  slug: 'never',
  mime: 'never',
  parent: 'never',
  place: 'never',
  moment: 'never',
  overlap: 'never',
  modified: 'never',
  published: 'never',
  words: 'never',
  terms: 'as said',
  format: 'never',
  // Each of its alternatives handles this itself.
  either: 'never',
  links: 'as said',
  linkedFrom: 'never',
  linkedFromAny: 'never',
  linkedMeta: 'always',
  meta: 'as said',
  metaIs: 'always',
  metaValue: 'always',
  placed: 'always',
  near: 'always',
  language: 'never',
  ticketed: 'never',
};

const isGuarded = (condition: Condition): boolean => ('guarded' in condition ? condition.guarded : GUARDED[condition.by] === 'always');

const HANDLERS: ConditionHandlers = {
  id: (where, { condition: { ids }, query }) => {
    if (isAboveBase(ids, query)) where.where((any) => whereRecords(any, ids, query));
    else where.whereIn('p.ID', [...ids]);
  },
  notId: (where, { condition: { ids }, query }) => {
    if (isAboveBase(ids, query)) where.whereNot((any) => whereRecords(any, ids, query));
    else where.whereNotIn('p.ID', [...ids]);
  },
  author: (where, { condition }) => where.whereIn('p.post_author', [...condition.ids]),
  notAuthor: (where, { condition }) => where.whereNotIn('p.post_author', [...condition.ids]),
  parents: (where, { condition }) => where.whereIn('p.post_parent', [...condition.ids]),
  notParents: (where, { condition }) => where.whereNotIn('p.post_parent', [...condition.ids]),
  slug: (where, { condition }) => where.whereIn('p.post_name', [...condition.slugs]),
  mime: (where, { condition }) => whereMimeType(where, condition.types),
  parent: (where, { condition }) => where.where('p.post_parent', condition.id),
  place: (where, { condition }) => where.where('p.menu_order', condition.place),
  moment: (where, { condition, query }) => where.where(momentColumn(condition, query), condition.op, condition.value),
  overlap: (where, { condition: { utc, value }, query }) =>
    where.where((any) =>
      any
        .where(momentColumn({ column: 'end_date', utc }, query), '>', value)
        .orWhere(momentColumn({ column: 'start_date', utc }, query), '>=', value),
    ),
  modified: (where, { condition }) => whereBound(where, 'post_modified', condition),
  published: (where, { condition }) => whereBound(where, 'post_date', condition),
  words: (where, { db, condition, query }) => whereWords(db, where, condition, query),
  terms: (where, { db, condition: { taxonomy, ids, quantifier } }) => {
    const alternatives = quantifier === 'all' ? ids.map((id) => [id]) : [ids];
    for (const alternative of alternatives)
      whereIdInOrNot(where, quantifier !== 'none', (sub) => postsOfTerms(db, sub, taxonomy).whereIn('tt.term_id', [...alternative]));
  },
  format: (where, { db, condition: { formats } }) => {
    const ofFormats = (sub: QueryBuilder) => postsOfTerms(db, sub, FORMAT_TAXONOMY);
    const slugs = formats.map(formatSlug);
    where.where((any) => {
      any.whereIn('p.ID', (sub: QueryBuilder) =>
        ofFormats(sub)
          .join({ t: db.table('terms') }, 't.term_id', 'tt.term_id')
          .whereIn('t.slug', slugs),
      );
      if (formats.includes(DEFAULT_FORMAT)) any.orWhereNotIn('p.ID', ofFormats);
    });
  },
  either: (where, { db, condition: { conditions }, query }) =>
    where.where((any) => {
      for (const one of conditions) any.orWhere((part) => whereCondition(db, part, one, query));
    }),
  links: (where, { db, condition, query }) =>
    whereLinksTo(db, where, condition, query, (sub, ids) =>
      sub
        .select('l.post_id')
        .from({ l: db.table('postmeta') })
        .where('l.meta_key', condition.key)
        .whereIn('l.meta_value', ids.map(String)),
    ),
  linkedFrom: (where, { db, condition }) =>
    whereIdIn(where, (sub) => linkTargets(db, sub, condition.key).where('l.post_id', condition.event)),
  linkedFromAny: (where, { db, condition, query }) => whereLinkedFromEvents(db, where, condition, query),
  linkedMeta: (where, { db, condition }) => whereLinked(db, where, condition),
  meta: (where, { db, condition }) =>
    whereIdInOrNot(where, condition.isPresent, (sub) =>
      sub
        .select('m.post_id')
        .from({ m: db.table('postmeta') })
        .where('m.meta_key', condition.key),
    ),
  metaIs: (where, { db, condition, query }) => whereMetaIs(db, where, condition, query.kind.postType),
  metaValue: (where, { db, condition }) =>
    whereIdIn(where, (sub) =>
      sub
        .select('m.post_id')
        .from({ m: db.table('postmeta') })
        .whereIn('m.meta_key', [...condition.keys])
        .whereRaw(...db.dialect.equalsFolded('m.meta_value', storedText(condition.value))),
    ),
  placed: (where, { db, condition }) => whereLinked(db, where, condition),
  near: (where, { db, condition }) => whereLinked(db, where, condition),
  language: (where, { db, condition, query }) =>
    whereInLanguage(db, where, condition, { is: 'post', name: query.kind.postType, alias: 'p' }, (member) => {
      member.where('member.post_status', 'publish').orWhere((part) => whereVisible(db, part, 'member', query.visible));
    }),
  ticketed: (where, { db, condition }) =>
    whereIdInOrNot(where, condition.hasTickets, (sub) =>
      sub
        .select(asId(db, 'k.meta_value'))
        .from({ k: db.table('postmeta') })
        .join({ ticket: db.table('posts') }, 'ticket.ID', 'k.post_id')
        .where('ticket.post_status', 'publish')
        .whereIn('k.meta_key', TICKET_LINKS),
    ),
};

/** The earliest known time; lower values are zeros that mean an unknown time. */
const EARLIEST_KNOWN = '1000-01-01 00:00:00';

/** Condition: a time of a post is before or after a moment. UTC is compared if it is known for both. */
function whereBound(where: QueryBuilder, name: 'post_modified' | 'post_date', { op, value, utc }: ConditionBy<'modified'>): void {
  const [localColumn, utcColumn] = [`p.${name}`, `p.${name}_gmt`];
  if (utc === undefined) where.where(localColumn, op, value);
  else
    where.where((any: QueryBuilder) => {
      any.where((part: QueryBuilder) => part.where(utcColumn, '>=', EARLIEST_KNOWN).where(utcColumn, op, utc));
      any.orWhere((part: QueryBuilder) => part.where(utcColumn, '<', EARLIEST_KNOWN).where(localColumn, op, value));
    });
}

/** Condition: events by the ids of posts, with all their dates, or by the ids of occurrences. */
function whereRecords(where: QueryBuilder, ids: readonly number[], { recurrence }: PostQuery): void {
  const base = recurrence?.base ?? Number.POSITIVE_INFINITY;
  where.whereIn(
    'p.ID',
    ids.filter((id) => id <= base),
  );
  where.orWhereIn(
    'd.occurrence_id',
    ids.filter((id) => id > base).map((id) => id - base),
  );
}

/**
 * Condition: posts (as `p`) link to one of these records, or to none of them. `selectLinking` selects the posts that
 * link to some records.
 */
export function whereLinksTo(
  db: Database,
  where: QueryBuilder,
  { ids, replaced = [], none = false }: ConditionBy<'links'>,
  { kind: { postType } }: PostQuery,
  selectLinking: (sub: QueryBuilder, ids: readonly number[]) => void,
): void {
  if (replaced.length === 0) whereIdInOrNot(where, !none, (sub) => selectLinking(sub, ids));
  else
    where[none ? 'whereNot' : 'where']((any: QueryBuilder) => {
      any.whereIn('p.ID', (sub: QueryBuilder) => selectLinking(sub, ids));
      for (const { ids: replacedIds, postsIn } of replaced)
        any.orWhereIn(
          'p.ID',
          selectInLanguage(db, postType, postsIn, (linking) => selectLinking(linking, replacedIds)),
        );
    });
}

type Ids = (sub: QueryBuilder) => void;

/** Condition: the id is in the result of a query. */
const whereIdIn = (where: QueryBuilder, ids: Ids): void => void where.whereIn('p.ID', ids);

/** Condition: the id is in the result of a query, or is not in it. */
const whereIdInOrNot = (where: QueryBuilder, isWanted: boolean, ids: Ids): void =>
  void where[isWanted ? 'whereIn' : 'whereNotIn']('p.ID', ids);

/** Condition: a meta has exactly this value or, if no post of the type has this value, the value `former`. */
function whereMetaIs(db: Database, where: QueryBuilder, { key, value, former }: ConditionBy<'metaIs'>, type: string): void {
  const is = (alias: string, text: string) => db.dialect.equalsExactly(`${alias}.meta_value`, storedText(text));
  whereIdIn(where, (sub) => {
    const metas = sub
      .select('m.post_id')
      .from({ m: db.table('postmeta') })
      .where('m.meta_key', key);
    if (former === undefined) return metas.whereRaw(...is('m', value));
    return metas.where((either) =>
      either.whereRaw(...is('m', value)).orWhere((formerly) =>
        formerly.whereRaw(...is('m', former)).whereNotExists((same) =>
          same
            .select('x.meta_id')
            .from({ x: db.table('postmeta') })
            .join({ y: db.table('posts') }, 'y.ID', 'x.post_id')
            .where('x.meta_key', key)
            .where('y.post_type', type)
            .whereRaw(...is('x', value)),
        ),
      ),
    );
  });
}

/**
 * Condition: the MIME type is one of these; `image/` matches all types with that prefix. Each row is looked up once in
 * the list, regardless of its length.
 */
function whereMimeType(where: QueryBuilder, types: readonly string[]): void {
  const column = 'p.post_mime_type';
  const families = types.filter((type) => type.endsWith('/')).map((type) => type.toLowerCase());
  where.where((any: QueryBuilder) => {
    any.whereIn(
      column,
      types.filter((type) => !type.endsWith('/')),
    );
    if (families.length > 0)
      any.orWhereRaw(`LOWER(SUBSTR(??, 1, INSTR(??, '/'))) IN (${families.map(() => '?').join()})`, [column, column, ...families]);
  });
}

const postsOfTerms = (db: Database, sub: QueryBuilder, taxonomy: string): QueryBuilder =>
  sub
    .select('r.object_id')
    .from({ r: db.table('term_relationships') })
    .join({ tt: db.table('term_taxonomy') }, 'tt.term_taxonomy_id', 'r.term_taxonomy_id')
    .where('tt.taxonomy', taxonomy);

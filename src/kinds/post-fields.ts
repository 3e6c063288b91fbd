import type { PostColumn } from '../wordpress/rows.ts';
import { column, rule } from './fields.ts';
import { anyText, flagAnything, idOf, LENGTHS, positive, search, status, text, time, timeText } from './grammar.ts';
import type { Field, Order, Param, Values } from './kind.ts';

/** Fields that events, venues and organizers have in common. Status and dates follow rules of their own (`wordpress/status.ts`). */
export const authorField: Field = column('post_author', idOf('user'), { empty: 'refused' });
export const dateField: Field = rule(timeText, { empty: 'refused' });
export const statusField: Field = rule(status, { empty: 'refused' });
export const titleField = (): Field => column('post_title', text(LENGTHS.text), { required: true, empty: 'refused' });
/** `post_content` holds more than the others. */
export const textColumn = (name: PostColumn): Field => column(name, anyText(name === 'post_content' ? LENGTHS.content : LENGTHS.text));

/** `page` and `per_page` of every list. */
export const paging = { page: { grammar: positive, fallback: 1 }, per_page: { grammar: positive } } satisfies Record<string, Param>;

/** Filters that venues and organizers have in common. */
export const linkedFilters = {
  search: { grammar: search },
  event: { grammar: idOf('event') },
  has_events: { grammar: flagAnything },
  only_with_upcoming: { grammar: flagAnything, fallback: false },
} satisfies Record<string, Param>;

const MODIFIED = { modified_after: { grammar: time }, modified_before: { grammar: time } } satisfies Record<string, Param>;
const ANYTHING: Param = { grammar: { longest: LENGTHS.word, json: { type: 'string' }, read: (value) => ({ value }) } };

/** Parameters of ours that every list of posts takes: what changed since when, and the order. */
export const additions = {
  ...MODIFIED,
  order: ANYTHING,
  orderby: ANYTHING,
  password: { grammar: anyText(LENGTHS.password) },
} satisfies Record<string, Param>;

/** The order that was asked for, from a closed list; an unknown value means the default. */
export function orderOf(values: Values, known: ReadonlyMap<string, Order['by']>, fallback: Order): Order {
  const by = typeof values.orderby === 'string' ? known.get(values.orderby.toLowerCase()) : undefined;
  const direction = typeof values.order === 'string' ? values.order.toLowerCase() : '';
  const descending = direction === 'desc' ? true : direction === 'asc' ? false : undefined;
  if (by === undefined) return values.orderby === undefined && descending !== undefined ? { by: fallback.by, descending } : fallback;
  return { by, descending: descending ?? (by === 'date' || by === 'modified') };
}

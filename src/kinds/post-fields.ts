import type { PostColumn } from '../wordpress/rows.ts';
import type { Condition } from './condition.ts';
import { column, rule, textMeta, whenEmpty, withNames } from './fields.ts';
import { control, filter } from './filter.ts';
import { choiceHint, type Grammar, LENGTHS } from './grammars/grammar.ts';
import { anyText, idOf, oneOf, positive, status, text, titleText } from './grammars/grammars.ts';
import { time, timeText } from './grammars/times.ts';
import type { Orders } from './list-param.ts';
import { byInstant } from './narrowing.ts';
import type { Field, Params } from './param.ts';
import { agesOf } from './timeliness.ts';

/**
 * Fields that events, venues and organizers have in common. Status and dates follow rules of their own
 * (`wordpress/status.ts`).
 */
export const authorField = whenEmpty('refused', column('post_author', idOf('user')));
export const dateField = whenEmpty('refused', rule(timeText));
export const dateUtcField = withNames({ tec: 'date_gmt' }, dateField);
export const statusField = whenEmpty('refused', rule(status));
export const titleField = (): Field<string, 'refused'> =>
  whenEmpty('refused', column('post_title', titleText, { required: true, names: { tec: 'title' } }));
/** `post_content` holds more than the others. */
export const textColumn = (name: PostColumn): Field<string, 'clears'> =>
  name === 'post_content' ? column(name, anyText(LENGTHS.content), { names: { tec: 'content' } }) : column(name, anyText(LENGTHS.text));

/** The meta of the name by which another system knows the record. */
export const EXTERNAL_ID = '_fasti_external_id';

/** That name. No other record of the kind may have it, so that it serves to find the record again. */
export const externalIdField = textMeta(EXTERNAL_ID, { grammar: anyText(LENGTHS.word), searched: false, ours: true });

/** What says that a record is to be changed if there is one already, and which one that is. */
export const UPSERT = { upsert: { grammar: oneOf(['external_id', 'slug'], 'value'), ours: true } } satisfies Params;

/** `page` and `per_page` of every list. */
export const paging = { page: control(positive, { fallback: 1 }), per_page: control(positive) };

/** A bound on when records were published or changed. */
const bound = (by: 'modified' | 'published', op: '<' | '>') =>
  filter({ grammar: time, narrows: byInstant(by, op), ages: (value) => agesOf(value), last: true, ours: true });

/** Names of orders, in any case. An unknown one means the standard order, so that nothing is refused. */
const orderNames = (names: readonly string[]): Grammar => ({
  longest: LENGTHS.word,
  hint: choiceHint(names),
  json: { type: 'string', enum: names },
  read: (value) => ({ value }),
});
const ordering = (names: readonly string[]) =>
  control(orderNames(names), { echo: (value) => (typeof value === 'string' ? value : undefined), last: true, ours: true });

/** The record that another system knows by this name. */
export const byExternalId = (value: string): Condition[] => [{ by: 'metaIs', key: EXTERNAL_ID, value }];
export const EXTERNAL_ID_PARAM = { grammar: text(LENGTHS.word), ours: true } as const;

/** Parameters of ours that every list of posts takes: what was published or changed since when, and the order. */
export const additions = ({ names }: Pick<Orders, 'names'>) => ({
  modified_after: bound('modified', '>'),
  modified_before: bound('modified', '<'),
  published_after: bound('published', '>'),
  published_before: bound('published', '<'),
  order: ordering(['asc', 'desc']),
  orderby: ordering([...names.keys()]),
  password: control(anyText(LENGTHS.password), { ours: true }),
});

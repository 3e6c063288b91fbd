import { memoizeByObject } from '../memo.ts';
import type { PostColumn } from '../wordpress/rows.ts';
import { column, rule, whenEmpty, withNames } from './fields.ts';
import { control, filter } from './filter.ts';
import { choiceHint, type Grammar, MAX_BYTES } from './grammars/grammar.ts';
import { anyText, idOf, oneOf, positiveInteger, status, titleText } from './grammars/grammars.ts';
import { time, timeText } from './grammars/times.ts';
import type { PostKind } from './kind.ts';
import type { Orders } from './list-param.ts';
import { byInstant } from './narrowing.ts';
import type { Field, Params } from './param.ts';
import { timelinessOfBounds } from './timeliness.ts';

/** Fields that events, venues and organizers share. Status and dates have their own rules (`wordpress/status.ts`). */
export const authorField = whenEmpty('refused', column('post_author', idOf('user')));
export const dateField = whenEmpty('refused', rule(timeText));
export const dateUtcField = withNames({ tec: 'date_gmt' }, dateField);
export const statusField = whenEmpty('refused', rule(status));
/** The title, which a record must have. */
export const titleField = (): Field<string, 'refused'> =>
  whenEmpty('refused', column('post_title', titleText, { required: true, names: { tec: 'title' } }));
/** A text column; `post_content` has a higher limit than the others. */
export const textColumn = (name: PostColumn): Field<string, 'clears'> =>
  name === 'post_content' ? column(name, anyText(MAX_BYTES.content), { names: { tec: 'content' } }) : column(name, anyText(MAX_BYTES.text));

/** Fields by which an existing record can be found, if its kind has them. */
const IDENTIFYING_FIELDS = ['external_id', 'slug'] as const;

/** Returns the parameter that changes an existing record of a kind instead of creating one, and says how to find it. */
export const upsertParam = memoizeByObject(({ fields }: Pick<PostKind, 'fields'>) => {
  const names = IDENTIFYING_FIELDS.filter((name) => Object.hasOwn(fields, name));
  return { upsert: { grammar: oneOf(names, 'value'), isAdditional: true } } satisfies Params;
});

/** `page` and `per_page` of every list. */
export const paging = { page: control(positiveInteger, { fallback: 1 }), per_page: control(positiveInteger) };

/** A bound on the time when records were published or changed. */
const boundFilter = (by: 'modified' | 'published', op: '<' | '>') =>
  filter({
    grammar: time,
    narrows: byInstant(by, op),
    ages: (value) => timelinessOfBounds(value),
    isLast: true,
    ignoresEmpty: true,
    isAdditional: true,
  });

/** Names of orders, in any case. An unknown one means the default order and is not refused. */
const orderNames = (names: readonly string[]): Grammar => ({
  maxBytes: MAX_BYTES.word,
  hint: choiceHint(names),
  json: { type: 'string', enum: names },
  read: (value) => ({ value }),
});
const ordering = (names: readonly string[]) =>
  control(orderNames(names), { echo: (value) => (typeof value === 'string' ? value : undefined), isLast: true, isAdditional: true });

/**
 * Additional parameters of every list of posts, which the reference does not have: bounds on publication and change,
 * the order, and the password.
 */
export const additions = ({ names }: Pick<Orders, 'names'>) => ({
  modified_after: boundFilter('modified', '>'),
  modified_before: boundFilter('modified', '<'),
  published_after: boundFilter('published', '>'),
  published_before: boundFilter('published', '<'),
  order: ordering(['asc', 'desc']),
  orderby: ordering([...names.keys()]),
  password: control(anyText(MAX_BYTES.password), { isAdditional: true }),
});

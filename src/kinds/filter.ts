import { memoizeByObject } from '../memo.ts';
import type { Condition, Order } from './condition.ts';
import type { Grammar } from './grammars/grammar.ts';
import type { PostKind } from './kind.ts';
import type { Control, Echo, Filter, Group, ListParam, ListParams, Member, Narrowed, Narrowing } from './list-param.ts';
import type { Param, Params, ValueOf, Values, ValuesOf } from './param.ts';
import type { RuleContext } from './rendering.ts';
import { shortestTimeliness } from './timeliness.ts';

/**
 * Declares a parameter that filters a list: its grammar, its conditions, and, if it differs from other filters, how
 * URLs carry it and when the list ages.
 */
export const filter = <T>(declaration: Filter<T>): Filter<T> => declaration;

/** Declares a filter of a list that is not narrowed by conditions of posts. */
export const filterOf =
  <C>() =>
  <T>(declaration: Filter<T, C>): Filter<T, C> =>
    declaration;

/** Declares a parameter that does not filter the list: paging, order. */
export const control = <T>(grammar: Grammar<unknown, T>, options: Omit<Control<T>, 'grammar' | 'controls'> = {}): Control<T> => ({
  grammar,
  ...options,
  controls: true,
});

/** Declaration of a group. `alsoReads`: other parameters of the list that its conditions depend on. */
interface Declared<P extends Params, H extends Params, C> extends Group<ValuesOf<P & H>, C> {
  readonly params: P;
  readonly alsoReads?: H;
}

/** Declares parameters that filter a list of posts together, by name. */
export const group = <P extends Params, H extends Params = Record<never, never>>(declaration: Declared<P, H, Condition>) =>
  membersOf(declaration);

/** Declares a group of a list that is not narrowed by conditions of posts. */
export const groupOf =
  <C>() =>
  <P extends Params, H extends Params = Record<never, never>>(declaration: Declared<P, H, C>) =>
    membersOf(declaration);

function membersOf<P extends Params, H extends Params, C>(
  declaration: Declared<P, H, C>,
): { readonly [Name in keyof P]: Member<ValueOf<P[Name]>, C> } {
  const sharedGroup: Group<Values, C> = {
    echo: (values) => Object.keys(declaration.params).flatMap((name) => echoOf(name, values[name])),
    ...declaration,
  };
  const members = Object.entries<Param>(declaration.params).map(([name, param]) => [name, { ...param, group: sharedGroup }] as const);
  // The compiler does not track names through entries: they are those of `params`, each with its grammar.
  return Object.fromEntries(members) as { readonly [Name in keyof P]: Member<ValueOf<P[Name]>, C> };
}

/** Returns the conditions, URL parameters and aging that follow from the accepted values of these parameters. */
export function narrow<C>(params: ListParams<C>, values: Values, context: RuleContext): Narrowing<C> {
  const parts = partsOf(params, values);
  return {
    conditions: parts.flatMap((part) => part.narrows(values, context)),
    echo: parts.flatMap((part) => part.echo?.(values, context) ?? []),
    timeliness: shortestTimeliness(parts.map((part) => part.ages?.(values, context) ?? 'never')),
  };
}

/** Returns the conditions alone, for lists whose URLs repeat the original query. */
export const conditionsOf = <C>(params: ListParams<C>, values: Values, context: RuleContext): C[] =>
  partsOf(params, values).flatMap((part) => part.narrows(values, context));

/** Merges conditions that are members of a query into one. */
export function mergeConditions<C extends object>(conditions: readonly C[]): Partial<C> {
  const query: Partial<C> = {};
  for (const condition of conditions) Object.assign(query, condition);
  return query;
}

/** Like `narrow`, for a list of the calendar's own routes, including its order. */
export const narrowList = ({ filters, orders }: Pick<PostKind, 'filters' | 'orders'>, values: Values, context: RuleContext): Narrowed => ({
  ...narrow(filters, values, context),
  order: orderOf(orders, values),
});

/** Returns the parts that apply to these values: every group, and each other parameter that is given. */
const partsOf = <C>(params: ListParams<C>, values: Values): Part<C>[] =>
  // The memo loses the type: the parts of these parameters have the same type of condition as the parameters.
  (declaredParts(params) as readonly Part<C>[]).filter(({ name }) => name === undefined || isGiven(values[name]));

/** A group, or a single parameter, which only applies if it is given. */
interface Part<C> extends Group<Values, C> {
  readonly name?: string;
}

/** Returns each group once, at the position of its first member, and the other parameters. */
const declaredParts = memoizeByObject((params: ListParams<unknown>): readonly Part<unknown>[] => {
  const parts = [...new Set(Object.entries(params).map(([name, param]) => partOf(name, param)))];
  return [...parts.filter(({ isLast }) => !isLast), ...parts.filter(({ isLast }) => isLast)];
});

function partOf(name: string, param: ListParam<unknown, unknown>): Part<unknown> {
  if ('group' in param) return param.group;
  const { isLast, echo } = param;
  const position = { name, ...(isLast ? { isLast } : {}) };
  if ('controls' in param) return { ...position, narrows: () => [], echo: (values) => (echo ? echoOf(name, values[name], echo) : []) };
  return {
    ...position,
    narrows: ({ [name]: value }, context) => (isGiven(value) ? param.narrows(value, context) : []),
    echo: ({ [name]: value }) => echoOf(name, value, echo),
    ages: ({ [name]: value }, context) => (isGiven(value) && param.ages ? param.ages(value, context) : 'never'),
  };
}

const isGiven = (value: unknown): value is NonNullable<unknown> => value !== undefined && value !== null;

function echoOf(name: string, value: unknown, write: (value: NonNullable<unknown>) => string | undefined = String): Echo {
  const text = isGiven(value) ? write(value) : undefined;
  return text === undefined ? [] : [[name, text]];
}

/**
 * Returns the requested order, from a closed list; an unknown value means the default one. Orders by date start with
 * the newest by default.
 */
function orderOf({ names, defaultOrder }: PostKind['orders'], values: Values): Order {
  const by = typeof values.orderby === 'string' ? names.get(values.orderby.toLowerCase()) : undefined;
  const direction = typeof values.order === 'string' ? values.order.toLowerCase() : '';
  const descending = direction === 'desc' ? true : direction === 'asc' ? false : undefined;
  const fallback = defaultOrder(values);
  if (by === undefined) return values.orderby === undefined && descending !== undefined ? { by: fallback.by, descending } : fallback;
  return { by, descending: descending ?? (by === 'date' || by === 'modified') };
}

import type { Condition, Order } from './condition.ts';
import type { Param, Values } from './param.ts';
import type { RuleContext } from './rendering.ts';
import type { Timeliness } from './timeliness.ts';

/** Parameters as the URLs of a list carry them, in order. */
export type Echo = readonly (readonly [name: string, value: string])[];

/** What the parameters of a list mean for its query and its URLs. `C`: how what is listed can be narrowed. */
export interface Narrowing<C = Condition> {
  readonly conditions: readonly C[];
  /**
   * Effective parameters for the list's URLs, in their order (decision D21); paging and status are added by the caller.
   */
  readonly echo: Echo;
  /** When the list changes without any write. */
  readonly timeliness: Timeliness;
}

/** The same with the order of the list. */
export interface Narrowed extends Narrowing {
  readonly order: Order;
}

/**
 * Where a parameter is in the URLs of a list: in its place among those declared, or `last`, after all that are not.
 */
interface Placed {
  readonly last?: true;
}

/** A parameter that narrows a list by itself. */
export interface Filter<T = unknown, C = Condition> extends Param<T>, Placed {
  narrows(value: NonNullable<T>, context: RuleContext): readonly C[];
  /**
   * How the URLs of the list carry it; undefined: not at all. Without this, they carry the value as text, lists as CSV.
   */
  echo?(value: NonNullable<T>): string | undefined;
  /** When the list changes without any write. Without this: never. */
  ages?(value: NonNullable<T>): Timeliness;
}

/** A parameter of a list that does not narrow it: paging, order. The URLs carry it only as `echo` says. */
export interface Control<T = unknown> extends Param<T>, Placed {
  readonly controls: true;
  echo?(value: NonNullable<T>): string | undefined;
}

/** What several parameters say together. It counts also where none of them is given. */
export interface Group<V = Values, C = Condition> extends Placed {
  narrows(values: V, context: RuleContext): readonly C[];
  /** How the URLs of the list carry them. Without this, they carry each value that is given as text. */
  echo?(values: V, context: RuleContext): Echo;
  ages?(values: V): Timeliness;
}

/** One of the parameters of a group. */
export interface Member<T = unknown, C = Condition> extends Param<T> {
  readonly group: Group<Values, C>;
}

/**
 * A parameter of a list that narrows by conditions. There is no other: what is declared narrows, or says that it does
 * not.
 */
export type ListParam<T = unknown, C = Condition> = Filter<T, C> | Control<T> | Member<T, C>;

export type ListParams<C = Condition> = Readonly<Record<string, ListParam<unknown, C>>>;

/** The orders that a list can be asked for. `standard`: the order where none is asked for. */
export interface Orders {
  readonly names: ReadonlyMap<string, Order['by']>;
  readonly standard: (values: Values) => Order;
}

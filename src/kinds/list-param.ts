import type { Condition, Order } from './condition.ts';
import type { Param, Values } from './param.ts';
import type { RuleContext } from './rendering.ts';
import type { Timeliness } from './timeliness.ts';

/** Parameters as they appear in the URLs of a list, in order. */
export type Echo = readonly (readonly [name: string, value: string])[];

/** The effect of a list's parameters on its query and its URLs. `C`: the type of its conditions. */
export interface Narrowing<C = Condition> {
  readonly conditions: readonly C[];
  /** Effective parameters for the list's URLs, in order (decision D21); the caller adds paging and status. */
  readonly echo: Echo;
  /** When the list changes without any write. */
  readonly timeliness: Timeliness;
}

/** The effect of a list's parameters, including its order. */
export interface Narrowed extends Narrowing {
  readonly order: Order;
}

/** Position of a parameter in the URLs of a list: in the order of declaration, or, with `isLast`, after all others. */
interface UrlPosition {
  readonly isLast?: true;
}

/** A parameter that filters a list by itself. */
export interface Filter<T = unknown, C = Condition> extends Param<T>, UrlPosition {
  narrows(value: NonNullable<T>, context: RuleContext): readonly C[];
  /**
   * Returns the value in the URLs of the list; undefined: not included. Without this method they contain the value as
   * text, lists as CSV.
   */
  echo?(value: NonNullable<T>): string | undefined;
  /** Returns when the list changes without any write. Without this method: never. */
  ages?(value: NonNullable<T>, context: RuleContext): Timeliness;
}

/** A parameter of a list that does not filter it: paging, order. URLs only contain it as `echo` says. */
export interface Control<T = unknown> extends Param<T>, UrlPosition {
  readonly controls: true;
  echo?(value: NonNullable<T>): string | undefined;
}

/** The joint effect of several parameters. It also applies if none of them is given. */
export interface Group<V = Values, C = Condition> extends UrlPosition {
  narrows(values: V, context: RuleContext): readonly C[];
  /** Returns the parameters in the URLs of the list. Without this method they contain each given value as text. */
  echo?(values: V, context: RuleContext): Echo;
  ages?(values: V, context: RuleContext): Timeliness;
}

/** One of the parameters of a group. */
export interface Member<T = unknown, C = Condition> extends Param<T> {
  readonly group: Group<Values, C>;
}

/** A parameter of a list. It must either declare its conditions or declare that it does not filter. */
export type ListParam<T = unknown, C = Condition> = Filter<T, C> | Control<T> | Member<T, C>;

export type ListParams<C = Condition> = Readonly<Record<string, ListParam<unknown, C>>>;

/** Orders of a list. `defaultOrder`: returns the order used if none is requested. */
export interface Orders {
  readonly names: ReadonlyMap<string, Order['by']>;
  readonly defaultOrder: (values: Values) => Order;
}

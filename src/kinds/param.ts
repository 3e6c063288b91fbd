import type { PostColumn } from '../wordpress/rows.ts';
import type { Grammar } from './grammars/grammar.ts';
import type { LinkedKindName, TermKindName } from './kind-names.ts';

/** The place where a field is stored. `rule`: none of its own; the kind's `derivedRows` says which rows result. */
export type Place =
  | { readonly in: 'column'; readonly column: PostColumn }
  | { readonly in: 'meta'; readonly key: string }
  | { readonly in: 'terms'; readonly kind: TermKindName }
  | { readonly in: 'links'; readonly key: string; readonly kind: LinkedKindName }
  | { readonly in: 'image' }
  | { readonly in: 'rule' };

/** A parameter, as declared by each route that takes it. `T`: type of its value in handlers. */
export interface Param<T = unknown> {
  readonly grammar: Grammar<unknown, T>;
  /**
   * The reference does not have this parameter. If it is a field, the member of records with the same name is not in
   * the reference either.
   */
  readonly isAdditional?: true;
  readonly required?: boolean;
  /**
   * An empty value in a query counts as absent, as that of a box which was left empty. Not for parameters that name
   * records: without their value, a list would have others.
   */
  readonly ignoresEmpty?: true;
  /** Not required if this other parameter exists and is sent, since the value then follows from it. */
  readonly unless?: string;
  /** Shown as default in descriptions; `undefined`: no default is shown. */
  readonly fallback?: unknown;
}

/** Parameters by name. */
export type Params = Readonly<Record<string, Param>>;

/** Accepted values by name, for code that does not know the declaration. `null` clears. */
export type Values = Readonly<Record<string, unknown>>;

/** The type of the accepted value of a declared parameter, including null if an empty value clears the field. */
export type ValueOf<Declared> =
  Declared extends Param<infer T> ? T | (Declared extends { readonly empty: 'clears' } ? null : never) : never;

/** Accepted values of declared parameters. Any of them may be absent, since the caller decides what to send. */
export type ValuesOf<Declared> = { readonly [Name in keyof Declared]?: ValueOf<Declared[Name]> | undefined };

/** The record named by the path of a request; 0: none. */
export interface Selected {
  readonly id: number;
}

/**
 * Effect of an empty value on update: it clears the field, is refused, or means false. `stays`: the empty text, and
 * null if the grammar has that type, is accepted if the field of the record is empty already, and refused otherwise. On
 * create it counts as absent.
 */
export type Empty = 'clears' | 'refused' | 'false' | 'stays';

/*
 * Here and in `list-param.ts`, functions that take a value are declared as methods. TypeScript compares method
 * parameters less strictly, so that a field or filter of one type is assignable to `Field` or `Filter`. That is sound
 * as long as each function gets the value that its own grammar accepted, under its own name.
 */

/** Names of a field in other interfaces. By default it has its own name; `false`: it does not exist there. */
export interface FieldNames {
  /** The meta in WordPress's own routes; by default the meta in which the field is stored. */
  readonly core?: string | false;
  /** The parameter in `tec/v1`. */
  readonly tec?: string | false;
  /** The heading of its column in CSV files, if the plugin has none; by default it is made from its own name. */
  readonly csv?: string | false;
}

/** A member of a field whose value is an object. */
export interface FieldMember {
  readonly name: string;
  /** Label for people. */
  readonly label: string;
}

export interface Field<T = unknown, E extends Empty = Empty> extends Param<T> {
  readonly place: Place;
  readonly empty: E;
  readonly names?: FieldNames;
  /** Set for a text that records show as stored: whether searches include it. */
  readonly text?: { readonly searched: boolean };
  /** For a field whose value is an object: its members by the meta that WordPress's own routes use for them. */
  readonly members?: ReadonlyMap<string, FieldMember>;
  /**
   * Setting the field to true puts the record before others: it requires the capability to publish such records, or to
   * edit other people's (decision D36).
   */
  readonly promotes?: true;
  /**
   * Returns the stored texts for a value of the API; the value is the empty text to clear. An empty list removes the
   * rows. For metas and columns only.
   */
  store?(value: T | ''): readonly string[];
}

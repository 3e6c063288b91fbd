import type { PostColumn } from '../wordpress/rows.ts';
import type { Grammar } from './grammars/grammar.ts';
import type { TermKindName } from './kind-names.ts';

/** Where a field is stored. `rule`: nowhere by itself; the kind's `follows` says what it leads to. */
export type Place =
  | { readonly in: 'column'; readonly column: PostColumn }
  | { readonly in: 'meta'; readonly key: string }
  | { readonly in: 'terms'; readonly kind: TermKindName }
  | { readonly in: 'links'; readonly key: string; readonly kind: 'venue' | 'organizer' }
  | { readonly in: 'image' }
  | { readonly in: 'rule' };

/** A parameter, as each route declares those that it takes. `T`: its value as handlers get it. */
export interface Param<T = unknown> {
  readonly grammar: Grammar<unknown, T>;
  /**
   * The reference does not have it. A field with this mark is a member of records that the reference does not have
   * either.
   */
  readonly ours?: true;
  readonly required?: boolean;
  /** Not required where this parameter is there and is sent: the value comes from there. */
  readonly unless?: string;
  /** Shown as default in descriptions; `undefined`: none is shown. */
  readonly fallback?: unknown;
}

/** Parameters by name. */
export type Params = Readonly<Record<string, Param>>;

/** Accepted values by name, where the declaration is not known. `null` clears. */
export type Values = Readonly<Record<string, unknown>>;

/** The type of the value that a declared parameter accepts; null where an empty one clears the field. */
export type ValueOf<Declared> =
  Declared extends Param<infer T> ? T | (Declared extends { readonly empty: 'clears' } ? null : never) : never;

/** The accepted values of declared parameters. Any of them may be absent: who calls decides what to send. */
export type ValuesOf<Declared> = { readonly [Name in keyof Declared]?: ValueOf<Declared[Name]> | undefined };

/** The record that the path of a request names; 0: there is none. */
export interface Selected {
  readonly id: number;
}

/**
 * What an empty value does on update: it clears the field, is refused, or means false. On create it counts as absent.
 */
export type Empty = 'clears' | 'refused' | 'false';

/*
 * Here and in `list-param.ts`, what takes a value is declared as a method. TypeScript compares the parameters of
 * methods less strictly, so that a field or filter of one type counts as a `Field` or `Filter` of any. That is sound as
 * long as each gets the value that its own grammar accepted, under its own name.
 */

/** What a field is called elsewhere. Without a name there it has its own; `false`: it is not known there. */
export interface FieldNames {
  /** The meta of WordPress's own routes. Without one it is the meta that the field is stored in. */
  readonly core?: string | false;
  /** The parameter of `tec/v1`. */
  readonly tec?: string | false;
  /**
   * The heading of its column in CSV files, where the plugin has none; made of its own name where this says nothing.
   */
  readonly csv?: string | false;
}

/** A member of a field whose value is an object. */
export interface FieldMember {
  readonly name: string;
  /** What people call it. */
  readonly label: string;
}

export interface Field<T = unknown, E extends Empty = Empty> extends Param<T> {
  readonly place: Place;
  readonly empty: E;
  readonly names?: FieldNames;
  /** Set on a text that records show as it is stored: whether searches look into it. */
  readonly text?: { readonly searched: boolean };
  /** Of a field whose value is an object: the member that WordPress's own routes know by a meta, by that meta. */
  readonly members?: ReadonlyMap<string, FieldMember>;
  /**
   * A yes puts the record before those of others: it takes the right to publish such records, or to edit other people's
   * (decision D36).
   */
  readonly promotes?: true;
  /**
   * The API's value as stored texts, the empty text where it clears; the empty list removes the rows. Metas and columns
   * only.
   */
  store?(value: T | ''): readonly string[];
}

import type { z } from 'zod';
import type { SiteSettings } from '../calendar/settings.ts';
import type { Verdict } from '../errors.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Params, Values } from '../kinds/param.ts';
import type { Timeliness } from '../kinds/timeliness.ts';
import { memoizeByObject } from '../memo.ts';
import type { Caller } from '../records/caller.ts';
import type { Site } from '../site.ts';
import type { LookUp } from '../storage/engine/look-up-once.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Which page of how many a reply is. `skipped`: where a list begins that passes over records, how many it shows of how
 * many; its neighbours begin elsewhere then.
 */
export interface Paging {
  readonly page: number;
  readonly pages: number;
  readonly skipped?: { readonly offset: number; readonly limit: number; readonly total: number } | undefined;
}

/** What a handler gives back; `http/reply.ts` turns it into the answer. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** When it changes without any write; absent: at any second. */
  readonly timeliness?: Timeliness;
  /** Which page of how many this is, for the links to its neighbours that go as headers. */
  readonly paging?: Paging;
  /** The version of the record that the reply is about. */
  readonly version?: string;
  /** Nothing came of the request, though it is no error: it may be sent again with the same key. */
  readonly undone?: true;
  /** Call it once the transaction is committed. */
  readonly afterwards?: () => Promise<void>;
}

/**
 * One handler of one route, as a row: who may, what it takes, what it does. Parameters are declared in WordPress's
 * order and are checked (missing, then values, then types) before `allow`, as WordPress does.
 */
export interface Endpoint<V = Values> {
  readonly methods: readonly Method[];
  /** Name of its sentence in `locales/<language>/routes.json`. */
  readonly summary: string;
  readonly params: Params;
  /** Further parameters that some sites have and others have not. */
  readonly onSite?: (settings: SiteSettings) => Params;
  readonly mode: 'read' | 'create' | 'change';
  /** Status of its success, where that is not 200; of routes that serve a kind the kind decides. */
  readonly success?: '201' | '207';
  /** The shape of its success, named by an `id` of its own; of routes that serve a kind the kind decides. */
  readonly answer?: z.ZodObject;
  /**
   * Who may. No default: "anyone" is written out. Given the accepted values and the path selector among them; for the
   * header `Allow`, the selector and `context=edit` alone.
   */
  readonly allow: 'anyone' | Rule<V>;
  readonly run: Handler<V, Promise<Reply>>;
}

/**
 * A step of an endpoint, given accepted values. The type of a method, as in `kinds/param.ts`: an endpoint with some
 * parameters is an endpoint. It gets the values that its own parameters accepted.
 */
export type Handler<V, Result> = { step(site: Site, caller: Caller, values: V): Result }['step'];

/** Who may: a rule that looks up what it needs, and gets the accepted values as `Handler` does. */
export type Rule<V> = { decide(lookUp: LookUp, caller: Caller, values: V): Verdict | Promise<Verdict> }['decide'];

/**
 * A route: its path after the namespace in WordPress's form (`/events/(?P<id>\d+)`) and its handlers in order of
 * registration.
 */
export interface Route {
  readonly pattern: string;
  /** The kind of record that it serves, if it serves one. */
  readonly kind?: Kind;
  /** Statuses by which it refuses, besides those of every route. */
  readonly refusals?: readonly ('403' | '404' | '410')[];
  /** Group of sentences about its parameters, for routes whose parameters are not those of a kind. */
  readonly texts?: string;
  readonly endpoints: readonly Endpoint[];
}

/** The parameters of an endpoint on a site. */
export const paramsOn = ({ params, onSite }: Pick<Endpoint, 'params' | 'onSite'>, settings: SiteSettings): Params =>
  onSite ? { ...params, ...onSite(settings) } : params;

/** The path of a route after its namespace, with its parameters in braces: `/events/{id}`; empty for its root. */
export const templateOf = memoizeByObject(({ pattern }: Pick<Route, 'pattern'>): string =>
  pattern.replace(/\(\?P<(\w+)>[^()]*\)/g, '{$1}'),
);

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
 * The page number of a reply and the number of pages. `offsetPaging`: for a list with an offset, the offset, the page
 * size and the total. The links to its neighbours then have other offsets.
 */
export interface Paging {
  readonly page: number;
  readonly pages: number;
  readonly offsetPaging?: { readonly offset: number; readonly limit: number; readonly total: number } | undefined;
}

/** The result of a handler; `http/reply.ts` turns it into the answer. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** When the reply changes without any write; absent: at any second. */
  readonly timeliness?: Timeliness;
  /** The page number and the number of pages, for the links to neighbouring pages in the headers. */
  readonly paging?: Paging;
  /** The version of the record in the reply. */
  readonly version?: string;
  /** Nothing was written, although this is no error: the request may be sent again with the same key. */
  readonly nothingWritten?: boolean;
  /** To be called after the transaction is committed. */
  readonly afterCommit?: () => Promise<void>;
}

/**
 * One handler of one route: who may use it, its parameters, and its work. Parameters are declared in WordPress's order
 * and are checked (missing ones, then values, then types) before `allow`, as WordPress does.
 */
export interface Endpoint<V = Values> {
  readonly methods: readonly Method[];
  /** Key of its description in `locales/<language>/routes.json`. */
  readonly summary: string;
  readonly params: Params;
  /** Returns additional parameters that only some sites have. */
  readonly siteParams?: (settings: SiteSettings) => Params;
  readonly mode: 'read' | 'create' | 'change';
  /** Status of a success, if not 200. For routes that serve a kind, the kind decides. */
  readonly success?: '201' | '207';
  /** Shape of a successful answer, named by its `id`. For routes that serve a kind, the kind decides. */
  readonly answer?: z.ZodObject;
  /** Whether a success is a stream of server-sent events, which `Last-Event-ID` resumes. */
  readonly streams?: true;
  /**
   * Decides whether the caller may use the endpoint. There is no default: "anyone" is written out. The rule gets the
   * accepted values, including the path selector; for the header `Allow`, it gets only the selector and `context=edit`.
   */
  readonly allow: 'anyone' | Rule<V>;
  readonly run: Handler<V, Promise<Reply>>;
}

/**
 * A step of an endpoint, given the values that its parameters accepted. Typed as a method, as in `kinds/param.ts`, so
 * that an endpoint with specific parameters is assignable to `Endpoint`.
 */
export type Handler<V, Result> = { step(site: Site, caller: Caller, values: V): Result }['step'];

/** A permission rule that looks up what it needs. It gets the accepted values, as `Handler` does. */
export type Rule<V> = { decide(lookUp: LookUp, caller: Caller, values: V): Verdict | Promise<Verdict> }['decide'];

/**
 * A route: its path after the namespace in WordPress's form (`/events/(?P<id>\d+)`) and its handlers in order of
 * registration.
 */
export interface Route {
  readonly pattern: string;
  /** The kind of record that it serves, if any. */
  readonly kind?: Kind;
  /** Statuses of refusals, in addition to those of every route. */
  readonly refusals?: readonly ('403' | '404' | '410')[];
  /** Group of descriptions of its parameters, for routes whose parameters are not those of a kind. */
  readonly texts?: string;
  readonly endpoints: readonly Endpoint[];
}

/** Returns the parameters of an endpoint on a site. */
export const paramsOn = ({ params, siteParams }: Pick<Endpoint, 'params' | 'siteParams'>, settings: SiteSettings): Params =>
  siteParams ? { ...params, ...siteParams(settings) } : params;

/**
 * Returns the path of a route after its namespace, with its parameters in braces: `/events/{id}`; empty for its root.
 */
export const templateOf = memoizeByObject(({ pattern }: Pick<Route, 'pattern'>): string =>
  pattern.replace(/\(\?P<(\w+)>[^()]*\)/g, '{$1}'),
);

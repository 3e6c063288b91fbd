import type {
  CategoryFields,
  CategoryFilters,
  Errors,
  Event,
  EventFields,
  EventFilters,
  KindName,
  Organizer,
  OrganizerFields,
  OrganizerFilters,
  Records,
  TagFields,
  TagFilters,
  Term,
  UpsertKeys,
  Venue,
  VenueFields,
  VenueFilters,
} from './records.d.ts';

export type * from './records.d.ts';

/**
 * All errors; `code` says which one. Errors that do not come from the API, such as those of proxies, have the code
 * `unknown`.
 */
export type Problem =
  | { [Code in keyof Errors]: { readonly code: Code; readonly status: Errors[Code] } }[keyof Errors]
  | { readonly code: 'unknown'; readonly status: number };

/** An error response. `data.params` names the invalid parameters. */
export class FastiError extends Error {
  readonly code: Problem['code'];
  readonly status: number;
  readonly data: { readonly status?: number; readonly params?: Readonly<Record<string, string>> } | undefined;
  /** Seconds after which the request may succeed, if the answer said so. */
  readonly retryAfter: number | undefined;
  constructor(error: Problem & Partial<Pick<FastiError, 'message' | 'data' | 'retryAfter'>>);
}

export interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
  /** The version of the record, for `ifMatch`. */
  readonly etag?: string;
}

/** `login`: a user name and an application password, separated by a colon. */
export interface ClientOptions {
  readonly url: string;
  readonly login?: string;
  readonly fetch?: typeof fetch;
  /** Maximum number of attempts for reads, and for writes with a key, while the server is busy. */
  readonly tries?: number;
  /**
   * Maximum number of seconds to wait before another attempt (60). If the server asks for more time, the error is
   * thrown, with `retryAfter`. Streams that reconnect wait as long as it takes.
   */
  readonly maxWait?: number;
  readonly namespace?: string;
}

export interface ReadOptions {
  readonly query?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

/**
 * `ifMatch`: write only if the record still has this version. `key`: write only once, however often the request is
 * sent.
 */
export interface WriteOptions {
  readonly ifMatch?: string;
  readonly key?: string;
  readonly signal?: AbortSignal;
}

export interface Page<Record> {
  readonly records: readonly Record[];
  readonly total: number;
  readonly pages: number | undefined;
}

/** Additional filters if content has languages: a language code, or `all`. */
export interface LanguageFilters {
  readonly lang?: string;
  /** Whether records in the default language replace missing translations. */
  readonly language_fallback?: boolean;
}

/**
 * Additional fields if content has languages. `language`: null only for a record without one. `translations`: ids by
 * language; null removes one.
 */
export interface LanguageFields {
  readonly language?: string | null;
  readonly translations?: Readonly<Record<string, number | { readonly id: number } | null>>;
  readonly translation_of?: number;
}

/** The site's own fields of its events, by name. In a write, null clears one; in a list they are filters. */
export interface OwnFields {
  readonly custom_fields?: Readonly<Record<string, unknown>> | readonly unknown[];
}

export interface RecordRoutes<Record, Filters, Fields> {
  readonly list: (filters?: Filters, options?: Pick<ReadOptions, 'signal'>) => Promise<Page<Record>>;
  /** Yields all records of a list, requesting it page by page. */
  readonly each: (filters?: Omit<Filters, 'page'>, options?: Pick<ReadOptions, 'signal'>) => AsyncGenerator<Record, void, undefined>;
  readonly get: (id: number, options?: ReadOptions) => Promise<Answer<Record>>;
  readonly create: (fields: Fields, options?: WriteOptions) => Promise<Answer<Record>>;
  readonly update: (id: number, fields: Fields, options?: WriteOptions) => Promise<Answer<Record>>;
  /** Moves a record to the trash, or deletes a category or tag. */
  readonly remove: (id: number, options?: WriteOptions) => Promise<Answer<Record>>;
}

export interface PostRoutes<Record, Filters, Fields, UpsertKey> extends RecordRoutes<Record, Filters, Fields> {
  readonly bySlug: (slug: string, options?: ReadOptions) => Promise<Answer<Record>>;
  /** Changes the record with the same value of a field, such as its external ID, or creates it. */
  readonly upsert: (by: UpsertKey, fields: Fields, options?: WriteOptions) => Promise<Answer<Record> & { readonly created: boolean }>;
}

export type Change = {
  [Name in KindName]: {
    readonly kind: Name;
    readonly id: number;
    readonly change: 'created' | 'updated' | 'removed';
    readonly record?: Records[Name];
  };
}[KindName];

export interface ChangesOptions {
  /** The token of the last page. */
  readonly since?: string | undefined;
  readonly kinds?: readonly KindName[];
  /** Whether to include the records. */
  readonly records?: boolean;
  readonly limit?: number;
  /** Only records in this language, if content has languages. */
  readonly lang?: string;
  readonly signal?: AbortSignal;
}

export interface ChangesPage {
  readonly changes: readonly Change[];
  readonly next: string;
  readonly more: boolean;
}

/** A write of a batch. `path`: path of its route below `/wp-json`. */
export interface BatchedWrite {
  readonly method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface BatchAnswer {
  /** Set if nothing was written. */
  readonly failed?: 'validation';
  readonly responses: readonly ({ readonly status: number; readonly body: unknown; readonly headers: unknown } | null)[];
}

export interface Client {
  readonly events: PostRoutes<
    Event,
    EventFilters & LanguageFilters & OwnFields,
    EventFields & LanguageFields & OwnFields,
    UpsertKeys['event']
  >;
  readonly venues: PostRoutes<Venue, VenueFilters & LanguageFilters, VenueFields & LanguageFields, UpsertKeys['venue']>;
  readonly organizers: PostRoutes<Organizer, OrganizerFilters & LanguageFilters, OrganizerFields & LanguageFields, UpsertKeys['organizer']>;
  readonly categories: RecordRoutes<Term, CategoryFilters & LanguageFilters, CategoryFields & LanguageFields>;
  readonly tags: RecordRoutes<Term, TagFilters & LanguageFilters, TagFields & LanguageFields>;
  readonly changesPage: (options?: ChangesOptions) => Promise<ChangesPage>;
  /** Yields changes page by page until there are no more. Keep `next` of each page. */
  readonly changes: (options?: ChangesOptions) => AsyncGenerator<ChangesPage, void, undefined>;
  /**
   * Yields changes as they happen, from now on or since a token. Reconnects whenever the connection ends or breaks,
   * until `signal` is aborted.
   */
  readonly stream: (options?: ChangesOptions) => AsyncGenerator<Pick<ChangesPage, 'changes' | 'next'>, never, undefined>;
  /** Sends up to 100 writes in one request; `atomic`: all of them or none. */
  readonly batch: (requests: readonly BatchedWrite[], options?: WriteOptions & { readonly atomic?: boolean }) => Promise<BatchAnswer>;
  /**
   * Requests any route; `path` is its path below `/wp-json/`. Texts, forms, files, bytes and streams are sent as they
   * are, any other body as JSON.
   */
  readonly request: <Body = unknown>(
    method: string,
    path: string,
    options?: ReadOptions & { readonly body?: unknown; readonly headers?: ConstructorParameters<typeof Headers>[0] },
  ) => Promise<Answer<Body>>;
}

/** Creates a client for a site. Its methods throw `FastiError` for error responses. */
export function createClient(options: ClientOptions): Client;

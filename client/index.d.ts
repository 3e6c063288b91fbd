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
  Venue,
  VenueFields,
  VenueFilters,
} from './records.d.ts';

export type * from './records.d.ts';

/** All errors: `code` says which. Those of proxies and the like have the code `unknown`. */
export type Problem =
  | { [Code in keyof Errors]: { readonly code: Code; readonly status: Errors[Code] } }[keyof Errors]
  | { readonly code: 'unknown'; readonly status: number };

/** An answer that refuses what was asked. `data.params` names the parameters that are at fault. */
export class FastiError extends Error {
  readonly code: Problem['code'];
  readonly status: number;
  readonly data: { readonly status?: number; readonly params?: Readonly<Record<string, string>> } | undefined;
}

export interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
  /** The version of the record, for `ifMatch`. */
  readonly etag?: string;
}

/** `login`: a user name and an application password, with a colon between them. */
export interface ClientOptions {
  readonly url: string;
  readonly login?: string;
  readonly fetch?: typeof fetch;
  /** How often reads, and writes with a key, are sent at most while the server is busy. */
  readonly tries?: number;
  readonly namespace?: string;
}

export interface ReadOptions {
  readonly query?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

/** `ifMatch`: only if the record still has this version. `key`: once, however often it is sent. */
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

/** What lists take besides, where content has languages: the code of one, or `all`. */
export interface LanguageFilters {
  readonly lang?: string;
  /** Whether the default language stands in for what is not translated. */
  readonly language_fallback?: boolean;
}

/** What is written besides, where content has languages. `translations`: ids by language; null takes one out. */
export interface LanguageFields {
  readonly language?: string;
  readonly translations?: Readonly<Record<string, number | { readonly id: number } | null>>;
  readonly translation_of?: number;
}

/** The fields that the site defines for its events, by their names; null clears one. */
export interface OwnFields {
  readonly custom_fields?: Readonly<Record<string, unknown>>;
}

export interface RecordRoutes<Record, Filters, Fields> {
  readonly list: (filters?: Filters) => Promise<Page<Record>>;
  /** All records of a list, page by page. */
  readonly each: (filters?: Omit<Filters, 'page'>) => AsyncGenerator<Record, void, undefined>;
  readonly get: (id: number, options?: ReadOptions) => Promise<Answer<Record>>;
  readonly create: (fields: Fields, options?: WriteOptions) => Promise<Answer<Record>>;
  readonly update: (id: number, fields: Fields, options?: WriteOptions) => Promise<Answer<Record>>;
  /** Puts a record into the trash, or deletes a category or tag. */
  readonly remove: (id: number, options?: WriteOptions) => Promise<Answer<Record>>;
}

export interface PostRoutes<Record, Filters, Fields> extends RecordRoutes<Record, Filters, Fields> {
  readonly bySlug: (slug: string, options?: ReadOptions) => Promise<Answer<Record>>;
  /** Changes the record that has the same external ID or slug, or creates it. */
  readonly upsert: (
    by: 'external_id' | 'slug',
    fields: Fields,
    options?: WriteOptions,
  ) => Promise<Answer<Record> & { readonly created: boolean }>;
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
  /** The token that the last page ended with. */
  readonly since?: string | undefined;
  readonly kinds?: readonly KindName[];
  /** Whether the records come along. */
  readonly records?: boolean;
  readonly limit?: number;
  /** Only records in this language, where content has languages. */
  readonly lang?: string;
  readonly signal?: AbortSignal;
}

export interface ChangesPage {
  readonly changes: readonly Change[];
  readonly next: string;
  readonly more: boolean;
}

/** A write of a batch. `path`: that of its route below `/wp-json`. */
export interface BatchedWrite {
  readonly method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface BatchAnswer {
  /** Nothing was written. */
  readonly failed?: 'validation';
  readonly responses: readonly ({ readonly status: number; readonly body: unknown; readonly headers: unknown } | null)[];
}

export interface Client {
  readonly events: PostRoutes<Event, EventFilters & LanguageFilters, EventFields & LanguageFields & OwnFields>;
  readonly venues: PostRoutes<Venue, VenueFilters & LanguageFilters, VenueFields & LanguageFields>;
  readonly organizers: PostRoutes<Organizer, OrganizerFilters & LanguageFilters, OrganizerFields & LanguageFields>;
  readonly categories: RecordRoutes<Term, CategoryFilters & LanguageFilters, CategoryFields & LanguageFields>;
  readonly tags: RecordRoutes<Term, TagFilters & LanguageFilters, TagFields & LanguageFields>;
  readonly changesPage: (options?: ChangesOptions) => Promise<ChangesPage>;
  /** What has changed, page by page, until there is nothing more at once. Keep `next` of each page. */
  readonly changes: (options?: ChangesOptions) => AsyncGenerator<ChangesPage, void, undefined>;
  /**
   * What changes from now on, or since a token, as it happens. Comes back by itself when the connection ends or breaks,
   * for as long as it takes, until `signal` is aborted.
   */
  readonly stream: (options?: ChangesOptions) => AsyncGenerator<Pick<ChangesPage, 'changes' | 'next'>, never, undefined>;
  /** Up to 100 writes in one request; `atomic`: all of them or none. */
  readonly batch: (requests: readonly BatchedWrite[], options?: WriteOptions & { readonly atomic?: boolean }) => Promise<BatchAnswer>;
  /** Any route; `path` is that below `/wp-json/`. */
  readonly request: <Body = unknown>(
    method: string,
    path: string,
    options?: ReadOptions & { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> },
  ) => Promise<Answer<Body>>;
}

/** A client for a site. Methods throw `FastiError` where the answer is a refusal. */
export function createClient(options: ClientOptions): Client;

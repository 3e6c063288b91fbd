import type { Login } from '../accounts/logins.ts';
import type { SiteSettings } from '../calendar/settings.ts';
import type { Speech } from '../html/words.ts';
import type { Values } from '../kinds/kind.ts';
import type { Caller } from '../records/caller.ts';
import type { Site } from '../site.ts';

/** The path of the desk, below that of the site's home. */
export const DESK_PATH = '/admin';

/** A request to the desk, as far as its body is not needed. */
export interface DeskRequest {
  /** `HEAD` counts as `GET`. */
  readonly method: 'GET' | 'POST';
  /** The path below the desk's own, not decoded; empty or beginning with a slash. */
  readonly path: string;
  readonly query: Values;
  readonly cookie: string | undefined;
  readonly agent: string | undefined;
  readonly acceptLanguage: string | undefined;
  /** Address of the client. */
  readonly address: string;
  /** Whether the connection is encrypted. */
  readonly secure: boolean;
  /** Whether, as far as the browser tells, the request comes from a page of this very site, or from none. */
  readonly sameOrigin: boolean;
}

/** A file that a form brings along. */
export interface SentFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** What a form sent. */
export interface Sent {
  readonly fields: Values;
  readonly files: ReadonlyMap<string, SentFile>;
}

/** A request whose sender is known, or known to be nobody. */
export interface Visit {
  readonly site: Site;
  readonly settings: SiteSettings;
  readonly caller: Caller;
  readonly speech: Speech;
  readonly request: DeskRequest;
  /** Who is signed in; undefined: nobody. */
  readonly login: Login | undefined;
  /** For the forms of the answer; empty where nobody is signed in. */
  readonly nonce: string;
  /** Path of the desk: `/admin`, after the path of the site's home. */
  readonly base: string;
  /** Address of a stylesheet or script by its name. */
  readonly asset: (name: string) => string;
}

/** A visit with what its form sent. */
export type Writing = Visit & Sent;

/** What comes of a request: a page, another address to go to, or data for a script. */
export type Outcome =
  | { readonly html: string; readonly status?: number; readonly cookie?: string }
  | { readonly to: string; readonly cookie?: string }
  | { readonly json: unknown };

/** The address of a page of the desk. Parameters without a value are left out; a list is repeated. */
export function at({ base }: Pick<Visit, 'base'>, path: string, query: Readonly<Record<string, string | number | undefined>> = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== '') params.append(name, String(value));
  return params.size > 0 ? `${base}${path}?${params.toString()}` : base + path;
}

/** A text that a form or a query sent; whatever else was sent counts as none. */
export const textIn = (fields: Values, name: string): string => {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return typeof value === 'string' ? value : '';
};

/** The texts of a list that a form sent, such as the names of ticked boxes. */
export function textsIn(fields: Values, name: string): string[] {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (typeof value === 'string') return value === '' ? [] : [value];
  return value !== null && typeof value === 'object'
    ? Object.values(value).filter((item): item is string => typeof item === 'string' && item !== '')
    : [];
}

/** What a form sent under a name with names below it: `start_date[time]`. */
export function membersIn(value: unknown): Values {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Values) : {};
}

/** A positive whole number, or 0. */
export const idIn = (text: string | undefined): number => (/^[1-9]\d{0,14}$/.test(text ?? '') ? Number(text) : 0);

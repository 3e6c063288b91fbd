import type { Login } from '../accounts/logins.ts';
import { linkQuery, type PasswordLink } from '../accounts/password-links.ts';
import type { FormContext } from '../forms/form-context.ts';
import type { Values } from '../kinds/param.ts';

/** The path of the desk, below that of the site's home. */
export const DESK_PATH = '/admin';

/**
 * The address of the page on which the owner of a link chooses a password. `home`: of the site, without trailing slash.
 */
export const passwordLinkUrl = (home: string, link: PasswordLink): string => `${home}${DESK_PATH}/welcome?${linkQuery(link)}`;

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
  /** Whether, as far as the browser says, the request comes from a page of this very site, or from none. */
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
export interface Visit extends FormContext {
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
export type Submission = Visit & Sent;

/** What comes of a request: a page, another address to go to, or data for a script. */
export type Outcome =
  | {
      readonly html: string;
      readonly status?: number;
      readonly cookie?: string;
      /** Addresses of the pictures on the page. */
      readonly images?: readonly string[];
      /** Where a form of the page may lead besides this site. */
      readonly leadsTo?: readonly URL[];
    }
  | { readonly to: string; readonly cookie?: string }
  | { readonly json: unknown };

/**
 * Whether a login at the desk holds on the whole site. Where WordPress writes to the same database by keys that we do
 * not know, it is for the desk alone, so that WordPress's own is not replaced.
 */
export const isLoginOfSite = ({ site, settings }: Pick<Visit, 'site' | 'settings'>): boolean =>
  site.config.keys !== undefined || !settings.shared;

/** The title by which a record is called at the desk; some have none. */
export const titleShown = ({ i18n }: Pick<Visit, 'i18n'>, { title }: { readonly title: string }): string =>
  title || i18n.say('desk:untitled');

/** The address of a page of the desk. Parameters without a value are left out. */
export function deskUrl(
  { base }: Pick<Visit, 'base'>,
  path: string,
  query: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== '') params.append(name, String(value));
  return params.size > 0 ? `${base}${path}?${params.toString()}` : base + path;
}

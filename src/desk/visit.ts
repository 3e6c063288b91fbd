import type { Login } from '../accounts/logins.ts';
import { linkQuery, type PasswordLink } from '../accounts/password-links.ts';
import type { ApiError } from '../errors.ts';
import type { FormContext } from '../forms/form-context.ts';
import type { Values } from '../kinds/param.ts';

/** The path of the desk, below that of the site's home. */
export const DESK_PATH = '/admin';

/**
 * Returns the URL of the page on which the owner of a link chooses a password. `home`: home URL of the site, without
 * trailing slash.
 */
export const passwordLinkUrl = (home: string, link: PasswordLink): string => `${home}${DESK_PATH}/welcome?${linkQuery(link)}`;

/** A request to the desk, without its body. */
export interface DeskRequest {
  /** `HEAD` counts as `GET`. */
  readonly method: 'GET' | 'POST';
  /** The path below the desk's, not decoded; empty or starting with a slash. */
  readonly path: string;
  readonly query: Values;
  readonly cookie: string | undefined;
  readonly agent: string | undefined;
  readonly acceptLanguage: string | undefined;
  /** Address of the client. */
  readonly address: string;
  /** Whether the connection is encrypted. */
  readonly secure: boolean;
  /** Whether the request comes from a page of this site or from no page, according to the browser. */
  readonly sameOrigin: boolean;
}

/** A file in a form. */
export interface UploadedFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** The content of a submitted form. */
export interface SubmittedForm {
  readonly fields: Values;
  readonly files: ReadonlyMap<string, UploadedFile>;
}

/** A request with its user, who may be anonymous. */
export interface Visit extends FormContext {
  readonly request: DeskRequest;
  /** The signed-in user; undefined: none. */
  readonly login: Login | undefined;
  /** The nonce for forms in the answer; empty if no user is signed in. */
  readonly nonce: string;
  /** Path of the desk: `/admin`, after the path of the site's home. */
  readonly base: string;
  /** Returns the URL of a stylesheet or script by name. */
  readonly asset: (name: string) => string;
}

/** A visit with the content of its form. */
export type Submission = Visit & SubmittedForm;

/** A page as the result of a request. */
export interface PageOutcome {
  readonly html: string;
  readonly status?: number;
  /** The error that the page is about, for the log. */
  readonly refusal?: ApiError;
  /** Values of the header `Set-Cookie`. */
  readonly cookies?: readonly string[];
  /** URLs of the images on the page. */
  readonly images?: readonly string[];
  /** URLs outside this site that a form on the page may redirect to. */
  readonly leadsTo?: readonly URL[];
}

/** The result of a request: a page, a redirect, or data for a script. */
export type Outcome = PageOutcome | { readonly to: string; readonly cookies?: readonly string[] } | { readonly json: unknown };

/** The result of a form: as of any request, or a question that the user must answer before the action takes place. */
export type FormOutcome = Outcome | { readonly question: string };

/**
 * Returns whether a login at the desk applies to the whole site. If WordPress uses the same database with keys that are
 * not configured here, the login only applies to the desk, so that WordPress's login is not replaced.
 */
export const isLoginOfSite = ({ site, settings }: Pick<Visit, 'site' | 'settings'>): boolean =>
  site.config.keys !== undefined || !settings.shared;

/** Returns the title of a record as shown at the desk, or a placeholder if it is empty. */
export const displayTitle = ({ i18n }: Pick<Visit, 'i18n'>, { title }: { readonly title: string }): string =>
  title || i18n.say('desk:untitled');

/** Returns the URL of a page of the desk. Parameters without a value are left out. */
export function deskUrl(
  { base }: Pick<Visit, 'base'>,
  path: string,
  query: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== '') params.append(name, String(value));
  return params.size > 0 ? `${base}${path}?${params.toString()}` : base + path;
}

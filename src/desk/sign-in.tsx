import type { JSX } from 'preact';
import { AccountError } from '../accounts/account-error.ts';
import {
  beginSession,
  endSession,
  formNonce,
  type Login,
  loginCookieNameOf,
  loginsOf,
  type NewCookie,
  signIn,
} from '../accounts/logins.ts';
import { choosePassword, ownerOfLink, type PasswordLink } from '../accounts/password-links.ts';
import { toViewer } from '../accounts/viewer.ts';
import { ApiError, type ProblemName } from '../errors.ts';
import { membersIn, textIn } from '../forms/form-values.ts';
import { Checkbox, Input } from '../html/form-fields.tsx';
import { Link } from '../html/links.tsx';
import { siteNameOf } from '../html/site-name.ts';
import type { Values } from '../kinds/param.ts';
import { callerFor } from '../records/caller.ts';
import { refusalSentence } from '../refusals.ts';
import { parseJson } from '../wordpress/json.ts';
import { accountErrors } from './account-sentences.ts';
import { deskPage } from './layout.tsx';
import { type FieldErrors, NewPassword } from './new-password.tsx';
import { type KeptForm, resumePage } from './resume.tsx';
import { deskUrl, isLoginOfSite, type Outcome, type Submission, type Visit } from './visit.ts';

/*
 * Signing in and out, and the pages of links for choosing a password.
 */

/** A form that was sent and is not kept, so that the user has to begin again. */
export interface NotKept {
  /** The path of the page with the form. */
  readonly path: string;
  /** It has secrets, is too large, or is only a button. */
  readonly cause: 'not-kept' | 'too-large' | 'not-done';
}

/** Additional content of the sign-in page. */
interface SignInForm {
  readonly errorMessage?: string;
  readonly name?: string;
  readonly keptForm?: KeptForm | undefined;
  readonly startOverPath?: NotKept | undefined;
  /** The page to go to after signing in, if it is not the requested one. */
  readonly redirectTo?: string;
}

/** Returns the sign-in page. */
export function signInPage(visit: Visit, { errorMessage, name, keptForm, startOverPath, redirectTo }: SignInForm = {}): string {
  const { say } = visit.i18n;
  const to = startOverPath === undefined ? (redirectTo ?? requestedUrl(visit)) : deskUrl(visit, startOverPath.path);
  return deskPage(visit, {
    title: say('desk:sign-in.title'),
    notice: errorMessage === undefined ? undefined : { tone: 'wrong', text: errorMessage },
    children: (
      // With this encoding the kept input is as long as it was when it was sent; URL encoding would make it longer.
      <form method="post" action={deskUrl(visit, '/sign-in')} encType={keptForm && 'multipart/form-data'} class="narrow">
        {keptForm && <p>{say('desk:sign-in.kept')}</p>}
        {startOverPath !== undefined && <p>{say(`desk:sign-in.${startOverPath.cause}`)}</p>}
        <KeptFields keptForm={keptForm} />
        <input type="hidden" name="redirect_to" value={keptForm ? '' : to} />
        <Input name="log" label={say('desk:sign-in.name')} value={name} autocomplete="username" required />
        <Input name="pwd" label={say('desk:sign-in.password')} type="password" autocomplete="current-password" required />
        <Checkbox name="rememberme" value="forever" label={say('desk:sign-in.remember')} />
        <button type="submit" class="button-main">
          {say('desk:sign-in.button')}
        </button>
      </form>
    ),
  });
}

/** Returns the URL to go to after signing in: that of the requested page. */
function requestedUrl(visit: Visit): string {
  const { request, base } = visit;
  if (request.path === '/sign-in') return localDeskUrl(base, textIn(request.query, 'redirect_to')) ?? '';
  const query = new URLSearchParams(
    Object.entries(request.query).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
  return request.method === 'GET' ? `${base}${request.path}${query.size > 0 ? `?${query}` : ''}` : base + request.path;
}

/** Returns a URL below the desk's, without a host; undefined for any other. */
function localDeskUrl(base: string, address: string): string | undefined {
  const origin = 'https://desk.invalid';
  if (address === '' || !URL.canParse(address, origin)) return undefined;
  const { origin: urlOrigin, pathname, search } = new URL(address, origin);
  return urlOrigin === origin && (pathname === base || pathname.startsWith(`${base}/`)) && !pathname.includes('//')
    ? pathname + search
    : undefined;
}

/** Errors that are shown above the form. */
const SHOWN_PROBLEMS: ReadonlySet<ProblemName> = new Set(['incorrect_password', 'too-many-requests', 'spammer_account']);

/** Signs the user in and redirects to the requested page. */
export async function signInByForm(visit: Submission): Promise<Outcome> {
  const { site, settings, request, fields, base, i18n } = visit;
  const name = textIn(fields, 'log');
  const keptForm = parseKeptForm(fields);
  try {
    const { login, cookie } = await signIn(site, settings, {
      name,
      password: textIn(fields, 'pwd'),
      remember: textIn(fields, 'rememberme') !== '',
      address: request.address,
      agent: request.agent,
    });
    if (keptForm) return { ...resumePage(await withLogin(visit, login), keptForm), cookies: setCookie(visit, cookie) };
    return { to: localDeskUrl(base, textIn(fields, 'redirect_to')) ?? deskUrl(visit, ''), cookies: setCookie(visit, cookie) };
  } catch (error) {
    if (!(error instanceof ApiError) || !SHOWN_PROBLEMS.has(error.problem)) throw error;
    const errorMessage = refusalSentence((key, values) => site.texts.t(i18n.language, key, values), error);
    const redirectTo = localDeskUrl(base, textIn(fields, 'redirect_to')) ?? '';
    const html = signInPage(visit, { errorMessage, name, keptForm, redirectTo });
    return { html, status: error.status === 401 ? 403 : error.status, refusal: error };
  }
}

/** Returns the visit of a user who has just signed in. */
async function withLogin(visit: Visit, login: Login): Promise<Visit> {
  const { site, settings, i18n } = visit;
  const caller = callerFor(site, settings, toViewer(site.db, settings, login.user), { language: i18n.language });
  return { ...visit, login, caller, nonce: await formNonce(site, settings, login) };
}

/** Ends the session, also in WordPress, and those of other genuine cookies of the browser. */
export async function signOut(visit: Visit): Promise<Outcome> {
  const { site, settings, request } = visit;
  for (const { user, token } of await loginsOf(site, settings, { cookie: request.cookie })) await endSession(site, user.row.ID, token);
  return {
    to: deskUrl(visit, '/sign-in', { done: 'signed-out' }),
    cookies: setCookie(visit, { name: loginCookieNameOf(settings), value: '', maxAge: 0 }),
  };
}

/**
 * Returns the headers that set a login cookie. If the login is one of the whole site, a cookie for the desk alone is
 * removed: from a time when WordPress used the database with other keys. The cookie for the site that is left from the
 * opposite change stays, since it may be WordPress's own.
 */
export function setCookie(visit: Visit, cookie: NewCookie): string[] {
  const { base } = visit;
  if (!isLoginOfSite(visit)) return [cookieHeader(visit, cookie, base)];
  const sitePath = base.slice(0, base.lastIndexOf('/') + 1);
  return [cookieHeader(visit, cookie, sitePath), cookieHeader(visit, { ...cookie, value: '', maxAge: 0 }, base)];
}

const cookieHeader = ({ request }: Visit, { name, value, maxAge }: NewCookie, path: string): string =>
  [
    `${name}=${encodeURIComponent(value)}`,
    `Path=${path}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(maxAge === undefined ? [] : [`Max-Age=${maxAge}`]),
    ...(request.secure ? ['Secure'] : []),
  ].join('; ');

// ------------------------------------------------------------------------------------------------- kept input
/** A hidden field with everything that another form sent, so that the user need not enter it again. */
function KeptFields({ keptForm }: { readonly keptForm: KeptForm | undefined }): JSX.Element | null {
  return keptForm ? <input type="hidden" name="kept" value={JSON.stringify(keptForm)} /> : null;
}

/**
 * Maximum number of values in a kept form. Our forms have fewer, and they are not nested deeper than the JSON limit.
 */
const MAX_KEPT_VALUES = 10_000;

function parseKeptForm(fields: Values): KeptForm | undefined {
  const result = parseJson(Buffer.from(textIn(fields, 'kept')), MAX_KEPT_VALUES);
  const { path, fields: keptFields } = membersIn('value' in result ? result.value : undefined);
  return typeof path === 'string' && path.startsWith('/') ? { path, fields: membersIn(keptFields) } : undefined;
}

/** Returns the page for starting again after a form that could not be accepted and is not kept. */
export function startOverPage(visit: Visit, { path, cause }: NotKept): string {
  const { say } = visit.i18n;
  const textKey = cause === 'not-done' ? cause : 'not-kept';
  return deskPage(visit, {
    title: say(`desk:again.${textKey}.title`),
    children: (
      <>
        <p>{say(`desk:again.${textKey}.about`)}</p>
        <p>
          <Link href={deskUrl(visit, path)}>{say(`desk:again.${textKey}.link`)}</Link>
        </p>
      </>
    ),
  });
}

// ------------------------------------------------------------------------------------------------- links
const passwordLinkIn = (fields: Values): PasswordLink => ({ login: textIn(fields, 'login'), key: textIn(fields, 'token') });

/** Returns the page of a link for choosing a password. Opening it does not use up the link. */
export const welcomePage = (visit: Visit): Promise<Outcome> =>
  orSignIn(visit, () => newPasswordPage(visit, passwordLinkIn(visit.request.query)));

/** Sets the chosen password and signs its owner in. */
export const welcomeByForm = (visit: Submission): Promise<Outcome> => orSignIn(visit, () => setNewPassword(visit));

/**
 * Runs the work of a link. For one that is not valid any more the sign-in page is shown, since its owner may have
 * used it: by pressing the button twice, or by opening the invitation again. A signed-in user sees the error.
 */
async function orSignIn(visit: Visit, work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError) || error.problem !== 'password-link-invalid' || visit.login) throw error;
    const html = signInPage(visit, { errorMessage: visit.i18n.say('desk:welcome.used'), redirectTo: '' });
    return { html, status: error.status, refusal: error };
  }
}

async function newPasswordPage(visit: Visit, link: PasswordLink, errors?: FieldErrors): Promise<Outcome> {
  const { site, request, i18n, settings } = visit;
  const { say } = i18n;
  const { row } = await ownerOfLink(site, link, request.address);
  const [wrong] = errors?.values() ?? [];
  const html = deskPage(visit, {
    title: say('desk:welcome.title', { site: siteNameOf(settings, i18n) }),
    notice: wrong === undefined ? undefined : { tone: 'wrong', text: wrong },
    children: (
      <form method="post" action={deskUrl(visit, '/welcome')} class="narrow">
        <p>{say('desk:welcome.about', { login: row.user_login })}</p>
        <input type="hidden" name="login" value={link.login} autocomplete="username" />
        <input type="hidden" name="token" value={link.key} />
        <NewPassword i18n={i18n} errors={errors} />
        <button type="submit" class="button-main">
          {say('desk:welcome.button')}
        </button>
      </form>
    ),
  });
  return { html, ...(wrong === undefined ? {} : { status: 422 }) };
}

async function setNewPassword(visit: Submission): Promise<Outcome> {
  const { site, settings, request, fields, i18n } = visit;
  const link = passwordLinkIn(fields);
  const password = textIn(fields, 'password');
  if (password !== textIn(fields, 'again')) return newPasswordPage(visit, link, new Map([['again', i18n.say('desk:welcome.differ')]]));
  try {
    const user = await choosePassword(site, link, password, request.address);
    const { address, agent } = request;
    const { cookie } = await beginSession(site, settings, user, { remember: false, address, agent });
    return { to: deskUrl(visit, '', { done: 'welcome' }), cookies: setCookie(visit, cookie) };
  } catch (error) {
    if (!(error instanceof AccountError)) throw error;
    return newPasswordPage(visit, link, accountErrors(visit, error));
  }
}

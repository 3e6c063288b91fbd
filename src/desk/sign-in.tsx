import type { JSX } from 'preact';
import { AccountError } from '../accounts/account-error.ts';
import { beginSession, cookieNameAt, endSession, formNonce, type MadeCookie, signIn } from '../accounts/logins.ts';
import { choosePassword, ownerOfLink } from '../accounts/password-links.ts';
import { ApiError } from '../errors.ts';
import { membersIn, textIn } from '../forms/form-values.ts';
import { Checkbox, Input } from '../html/form-fields.tsx';
import { Link } from '../html/links.tsx';
import { siteNameOf } from '../html/site-name.ts';
import type { Values } from '../kinds/param.ts';
import { refusalSentence } from '../refusals.ts';
import { parseJson } from '../wordpress/json.ts';
import { keptWords } from './kept-words.ts';
import { deskPage, Nonce } from './layout.tsx';
import { type FieldErrors, NewPassword } from './new-password.tsx';
import { deskUrl, isLoginOfSite, type Outcome, type Submission, type Visit } from './visit.ts';

/*
 * Signing in and out, and the pages that links lead to by which somebody chooses a password.
 */

/** What a form held, but for its secrets, that came when its sender was not signed in any more: the page keeps it. */
export interface Kept {
  /** The address that the form was sent to, below the desk's. */
  readonly path: string;
  readonly fields: Values;
}

/** What a page to sign in on shows besides its form. */
interface SignInForm {
  readonly wrong?: string;
  readonly name?: string;
  readonly kept?: Kept | undefined;
  /** The page of a form that was sent and cannot be kept: it is filled in once more there. */
  readonly again?: string | undefined;
  /** Whether it cannot be kept because it is too large, rather than because it holds secrets. */
  readonly tooLarge?: boolean;
  /** Where to go after signing in, if not to the page that was asked for. */
  readonly goesTo?: string;
}

/** The page to sign in on. */
export function signInPage(visit: Visit, { wrong, name, kept, again, tooLarge, goesTo }: SignInForm = {}): string {
  const { say } = visit.i18n;
  const to = again === undefined ? (goesTo ?? wantedPath(visit)) : deskUrl(visit, again);
  return deskPage(visit, {
    title: say('desk:sign-in.title'),
    notice: wrong === undefined ? undefined : { tone: 'wrong', text: wrong },
    children: (
      // What was typed takes as much room as it did when it was sent: not more, as it would in the query of an address.
      <form method="post" action={deskUrl(visit, '/sign-in')} encType={kept && 'multipart/form-data'} class="narrow">
        {kept && <p>{say('desk:sign-in.kept')}</p>}
        {again !== undefined && <p>{say(`desk:sign-in.${tooLarge ? 'too-large' : 'not-kept'}`)}</p>}
        <KeptFields kept={kept} />
        <input type="hidden" name="redirect_to" value={kept ? '' : to} />
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

/** Where to go after signing in: the page that was asked for. */
function wantedPath(visit: Visit): string {
  const { request, base } = visit;
  if (request.path === '/sign-in') return ownAddress(base, textIn(request.query, 'redirect_to')) ?? '';
  const query = new URLSearchParams(
    Object.entries(request.query).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
  return request.method === 'GET' ? `${base}${request.path}${query.size > 0 ? `?${query}` : ''}` : base + request.path;
}

/** An address below the desk's, without a host; undefined for any other. */
function ownAddress(base: string, address: string): string | undefined {
  const origin = 'https://desk.invalid';
  if (address === '' || !URL.canParse(address, origin)) return undefined;
  const { origin: found, pathname, search } = new URL(address, origin);
  return found === origin && (pathname === base || pathname.startsWith(`${base}/`)) && !pathname.includes('//')
    ? pathname + search
    : undefined;
}

/** Signs in, and goes on to where somebody wanted to go. */
export async function signInByForm(visit: Submission): Promise<Outcome> {
  const { site, settings, request, fields, base, i18n } = visit;
  const name = textIn(fields, 'log');
  const kept = keptIn(fields);
  try {
    const { login, cookie } = await signIn(site, settings, {
      name,
      password: textIn(fields, 'pwd'),
      remember: textIn(fields, 'rememberme') !== '',
      address: request.address,
      agent: request.agent,
    });
    if (kept) return { html: resumePage(visit, kept, { nonce: await formNonce(site, login) }), cookie: setCookie(visit, cookie) };
    return { to: ownAddress(base, textIn(fields, 'redirect_to')) ?? deskUrl(visit, ''), cookie: setCookie(visit, cookie) };
  } catch (error) {
    if (!(error instanceof ApiError) || (error.problem !== 'incorrect_password' && error.problem !== 'too-many-requests')) throw error;
    const wrong = refusalSentence((key, values) => site.texts.t(i18n.language, key, values), error);
    const goesTo = ownAddress(base, textIn(fields, 'redirect_to')) ?? '';
    return { html: signInPage(visit, { wrong, name, kept, goesTo }), status: error.status === 401 ? 403 : error.status };
  }
}

/** Ends the session, here and for WordPress. */
export async function signOut(visit: Visit): Promise<Outcome> {
  const { site, login } = visit;
  if (login) await endSession(site, login.user.row.ID, login.token);
  return {
    to: deskUrl(visit, '/sign-in', { done: 'signed-out' }),
    cookie: setCookie(visit, { name: cookieNameAt(visit.settings), value: '', maxAge: 0 }),
  };
}

/** The header that sets a login cookie. */
export function setCookie(visit: Visit, { name, value, maxAge }: MadeCookie): string {
  const { base, request } = visit;
  return [
    `${name}=${encodeURIComponent(value)}`,
    `Path=${isLoginOfSite(visit) ? base.slice(0, base.lastIndexOf('/') + 1) : base}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(maxAge === undefined ? [] : [`Max-Age=${maxAge}`]),
    ...(request.secure ? ['Secure'] : []),
  ].join('; ');
}

// ------------------------------------------------------------------------------------------------- what was typed
/** Whatever a form sent, as hidden fields of another, so that nothing has to be typed again. */
function KeptFields({ kept }: { readonly kept: Kept | undefined }): JSX.Element | null {
  return kept ? <input type="hidden" name="kept" value={JSON.stringify(kept)} /> : null;
}

/** A form holds fewer values; whoever sends more, or nests them deeper than JSON is read, sends no form of ours. */
const MOST_KEPT = 10_000;

function keptIn(fields: Values): Kept | undefined {
  const reading = parseJson(Buffer.from(textIn(fields, 'kept')), MOST_KEPT);
  const { path, fields: typed } = membersIn('value' in reading ? reading.value : undefined);
  return typeof path === 'string' && path.startsWith('/') ? { path, fields: membersIn(typed) } : undefined;
}

/** For whom a form is shown to be sent once more, and what stood in its way, if that is to be said. */
interface Resumed {
  readonly nonce?: string;
  readonly wrong?: string;
}

/**
 * What somebody typed before signing in again, or long ago, to be sent by the press of a button: never by itself, since
 * it may have come from elsewhere.
 */
export function resumePage(visit: Visit, { path, fields }: Kept, { nonce = visit.nonce, wrong }: Resumed = {}): string {
  const { say } = visit.i18n;
  return deskPage(visit, {
    title: say('desk:resume.title'),
    notice: wrong === undefined ? undefined : { tone: 'wrong', text: wrong },
    children: (
      <>
        <p>{say('desk:resume.about')}</p>
        {'image' in fields && <p>{say('desk:resume.picture')}</p>}
        <dl class="kept">
          {keptWords(visit, path, fields).map(([label, words]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{words}</dd>
            </div>
          ))}
        </dl>
        <form method="post" action={deskUrl(visit, path)} class="button-form">
          {flatFields(fields).map(([name, value]) =>
            name === '_wpnonce' ? null : <input key={name} type="hidden" name={name} value={value} />,
          )}
          <Nonce nonce={nonce} />
          <button type="submit" class="button-main">
            {say('desk:resume.button')}
          </button>
        </form>
      </>
    ),
  });
}

/** Where somebody begins again whose form could not be taken, and cannot be kept, since it holds secrets. */
export function beginAgainPage(visit: Visit, path: string): string {
  const { say } = visit.i18n;
  return deskPage(visit, {
    title: say('desk:again.title'),
    children: (
      <>
        <p>{say('desk:again.about')}</p>
        <p>
          <Link href={deskUrl(visit, path)}>{say('desk:again.link')}</Link>
        </p>
      </>
    ),
  });
}

/** Nested values as the names and values that a form sends. */
function flatFields(fields: unknown, prefix = ''): [name: string, value: string][] {
  if (fields === null || typeof fields !== 'object') return [[prefix, String(fields ?? '')]];
  return Object.entries(fields).flatMap(([name, value]) => flatFields(value, prefix === '' ? name : `${prefix}[${name}]`));
}

// ------------------------------------------------------------------------------------------------- links
const linkIn = (fields: Values) => ({ login: textIn(fields, 'login'), key: textIn(fields, 'token') });

/** The page of a link by which somebody chooses a password. Looking at it uses nothing up. */
export async function welcomePage(visit: Visit, link = linkIn(visit.request.query), errors?: FieldErrors): Promise<Outcome> {
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

/** Takes the password that was chosen, and signs its owner in. */
export async function welcomeByForm(visit: Submission): Promise<Outcome> {
  const { site, settings, request, fields, i18n } = visit;
  const link = linkIn(fields);
  const password = textIn(fields, 'password');
  if (password !== textIn(fields, 'again')) return welcomePage(visit, link, new Map([['again', i18n.say('desk:welcome.differ')]]));
  try {
    const user = await choosePassword(site, link, password, request.address);
    const { address, agent } = request;
    const { cookie } = await beginSession(site, settings, user, { remember: false, address, agent });
    return { to: deskUrl(visit, '', { done: 'welcome' }), cookie: setCookie(visit, cookie) };
  } catch (error) {
    if (!(error instanceof AccountError)) throw error;
    return welcomePage(visit, link, accountErrors(visit, error));
  }
}

/**
 * The sentence about an `AccountError`, by the field that it is about, which is the first word of its name; of what is
 * not there it is none.
 */
export function accountErrors(visit: Pick<Visit, 'i18n'>, error: AccountError): FieldErrors {
  const [field = '', ...rest] = error.problem.split('-');
  return new Map([[rest.includes('unknown') ? '' : field, accountSentence(visit, error)]]);
}

/** The sentence about an `AccountError`. */
export const accountSentence = ({ i18n }: Pick<Visit, 'i18n'>, { problem, values }: AccountError): string =>
  i18n.say(`desk:people.${problem}`, values);

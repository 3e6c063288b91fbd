import { formNonce, isFormNonce, loginOf } from '../accounts/logins.ts';
import { viewerOf } from '../accounts/viewer.ts';
import { ApiError, fail, type ProblemName, refuse } from '../errors.ts';
import { policyWithImages } from '../html/document.tsx';
import { i18nIn } from '../html/i18n.ts';
import { Link } from '../html/links.tsx';
import { sizeInWords } from '../html/size-words.ts';
import { callerFor } from '../records/caller.ts';
import type { Site } from '../site.ts';
import { ANONYMOUS } from '../wordpress/viewer.ts';
import { keptWords } from './kept-words.ts';
import { deskPage } from './layout.tsx';
import { type FoundRoute, findRoute, pageOf } from './routes.ts';
import { beginAgainPage, type Kept, resumePage, signInPage } from './sign-in.tsx';
import { DESK_PATH, type DeskRequest, deskUrl, type Outcome, type Sent, type Visit } from './visit.ts';

/** An answer of the desk, whole. */
export interface DeskAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request that has been looked at as far as its body is not needed. */
export interface RoutedRequest {
  readonly visit: Visit;
  readonly found: FoundRoute | undefined;
  /** Whether the body may bring files along: its sender may use a route that takes some. */
  readonly takesFiles: boolean;
  /** Whether it may be as long as an upload. */
  readonly takesLong: boolean;
  /** Whether it may bring along what another form held. */
  readonly keeps: boolean;
}

/**
 * Who sends a request to the desk and which route it leads to. `base`: path of the site's home.
 *
 * @throws rest_forbidden for a form that another site sends
 */
export async function openDesk(
  site: Site,
  { base, asset }: { readonly base: string; readonly asset: Visit['asset'] },
  request: DeskRequest,
): Promise<RoutedRequest> {
  const settings = await site.settings();
  const login = await loginOf(site, settings, { cookie: request.cookie, post: request.method === 'POST' });
  const viewer = login ? viewerOf(site.db, settings, login.user) : ANONYMOUS;
  const language = site.texts.chooseLanguage({
    parameter: login?.user.metas.get('locale')?.slice(0, 2),
    acceptLanguage: request.acceptLanguage,
  });
  const found = findRoute(request.method, request.path);
  const visit: Visit = {
    site,
    settings,
    caller: callerFor(site, settings, viewer, { language }),
    i18n: i18nIn(site.texts, language, settings.contentLanguage),
    request,
    login,
    nonce: login ? await formNonce(site, login) : '',
    base: base + DESK_PATH,
    asset,
  };
  const files = found && 'files' in found.route && isAllowed(visit, found) ? found.route.files : undefined;
  return {
    visit,
    found,
    takesFiles: files !== undefined,
    takesLong: files?.(viewer) === true,
    keeps: found !== undefined && 'keeps' in found.route,
  };
}

const NOTHING: Sent = { fields: {}, files: new Map() };

/**
 * The answer to a request. Every form is checked here: it comes from a page of this site, and of a session that is
 * signed in it brings the nonce which that session was given.
 *
 * @throws errors with a name; see `deskProblem`
 */
export async function answerDesk({ visit, found }: RoutedRequest, sent: Sent = NOTHING): Promise<DeskAnswer> {
  const { request, login, site } = visit;
  if (request.method === 'POST' && !request.sameOrigin) fail('rest_forbidden', { detail: { because: 'the form comes from another site' } });
  if (!found) fail('rest_no_route');
  if (found.route.allow !== 'anyone' && !login) {
    const kept = keptOf(visit, found, sent);
    const again = request.method === 'POST' && !kept ? pageOf(request.path) : undefined;
    return answerFrom({ html: signInPage(visit, { kept, again }), status: 401 });
  }
  if (!isAllowed(visit, found)) refuse(visit.caller.viewer);
  const { route, pieces } = found;
  if (route.method === 'GET') return answerFrom(await route.run(visit, pieces));
  // Forms for everybody show by what is in them that their sender means it: a password, a key.
  if (route.allow !== 'anyone' && login && !(await isFormNonce(site, login, sent.fields._wpnonce))) {
    const kept = keptOf(visit, found, sent);
    return answerFrom({ html: kept ? resumePage(visit, kept) : beginAgainPage(visit, pageOf(request.path)), status: 403 });
  }
  return answerFrom(await route.run({ ...visit, ...sent }, pieces));
}

/**
 * The page to sign in on for somebody who was signed out in the meantime and sent more than is taken from strangers,
 * such as a picture; undefined: that is not what the error is about.
 */
export function signInInstead({ visit, found }: RoutedRequest, error: unknown): DeskAnswer | undefined {
  const isTooLarge = error instanceof ApiError && error.problem === 'body-too-large';
  if (!isTooLarge || !found || found.route.allow === 'anyone' || visit.login) return undefined;
  return answerFrom({ html: signInPage(visit, { again: pageOf(visit.request.path), tooLarge: true }), status: 401 });
}

/** The page for somebody who sent too much; undefined: that is not what the error is about. */
export function tooLargePage({ visit }: RoutedRequest, error: unknown): DeskAnswer | undefined {
  if (!(error instanceof ApiError) || error.problem !== 'body-too-large') return undefined;
  const { say } = visit.i18n;
  const most = sizeInWords(visit.i18n, Number(error.details.detail?.limit));
  const html = deskPage(visit, {
    title: say('desk:problem.title'),
    notice: { tone: 'wrong', text: say('desk:problem.too-large', { most }) },
    children: (
      <>
        <p>{say('desk:problem.too-large-about')}</p>
        <p>
          <Link href={deskUrl(visit, pageOf(visit.request.path))}>{say('desk:again.link')}</Link>
        </p>
      </>
    ),
  });
  return answerFrom({ html, status: error.status });
}

/** Problems that pass and before which nothing was written: what was sent can be sent once more as it is. */
const PASSING: ReadonlySet<string> = new Set<ProblemName>(['database-unavailable', 'disk-full']);

/**
 * The page by which somebody sends a form once more that could not be taken for a moment, without what nobody may see
 * again; undefined: that is not what the error is about. `message`: what stood in the way.
 */
export function sendAgainPage(
  { visit, found }: RoutedRequest,
  sent: Sent | undefined,
  { problem, status, message }: { readonly problem: ProblemName; readonly status: number; readonly message: string },
): DeskAnswer | undefined {
  if (!sent || !found || !visit.login || !PASSING.has(problem)) return undefined;
  const kept = keptOf(visit, found, sent);
  // Of a button nothing is lost.
  if (!kept || keptWords(visit, kept.path, kept.fields).length === 0) return undefined;
  return answerFrom({ html: resumePage(visit, kept, { wrong: message }), status });
}

/** What a form sent that has to be sent once more, without its secrets; undefined where nothing but these was typed. */
function keptOf({ request }: Visit, { route }: FoundRoute, { fields }: Sent): Kept | undefined {
  if (route.method === 'GET') return undefined;
  const { secrets = [] } = route;
  const kept = Object.fromEntries(Object.entries(fields).filter(([name]) => name !== '_wpnonce' && !secrets.includes(name)));
  return secrets.length > 0 && Object.keys(kept).length === 0 ? undefined : { path: request.path, fields: kept };
}

function isAllowed({ caller: { viewer }, login }: Visit, { route: { allow } }: FoundRoute): boolean {
  if (allow === 'anyone') return true;
  return login !== undefined && (allow === 'signed-in' || allow(viewer));
}

/** Whether an error says that there is nothing at an address: no such page, or no record of the id in it. */
export const isAbsent = (error: unknown): boolean =>
  error instanceof ApiError && (error.problem === 'rest_no_route' || error.details.faults?.has('id') === true);

/** A page about an error. `requestId`: by which a fault of the server is found in the log. */
export function deskProblem(visit: Visit, status: number, message: string, requestId: string | undefined): DeskAnswer {
  const { say } = visit.i18n;
  const html = deskPage(visit, {
    title: say(status === 404 ? 'desk:problem.absent' : status === 403 || status === 401 ? 'desk:problem.forbidden' : 'desk:problem.title'),
    notice: { tone: 'wrong', text: message },
    children: <>{status >= 500 && requestId !== undefined && <p>{say('desk:problem.id', { id: requestId })}</p>}</>,
  });
  return answerFrom({ html, status });
}

function answerFrom(outcome: Outcome): DeskAnswer {
  const cookie: Record<string, string> = 'cookie' in outcome && outcome.cookie !== undefined ? { 'Set-Cookie': outcome.cookie } : {};
  if ('to' in outcome) return { status: 303, headers: { ...HEADERS, ...cookie, Location: outcome.to }, body: '' };
  if ('json' in outcome)
    return { status: 200, headers: { ...HEADERS, 'Content-Type': 'application/json; charset=UTF-8' }, body: JSON.stringify(outcome.json) };
  const headers = {
    ...HEADERS,
    ...cookie,
    'Content-Type': 'text/html; charset=UTF-8',
    'Content-Security-Policy': policyWithImages(outcome.images ?? [], outcome.leadsTo),
  };
  return { status: outcome.status ?? 200, headers, body: outcome.html };
}

/**
 * What goes with every answer of the desk: nobody keeps it, nothing frames it, no other site learns its address or
 * reads it.
 */
const HEADERS: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': policyWithImages([]),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
  'X-Robots-Tag': 'noindex, nofollow',
  Vary: 'Cookie, Accept-Language',
};

import type { JSX } from 'preact';
import { formNonce, isFormNonce, loginOf } from '../accounts/logins.ts';
import { toViewer } from '../accounts/viewer.ts';
import { ApiError, fail, type ProblemName, refuse } from '../errors.ts';
import { policyWithImages } from '../html/document.tsx';
import { i18nIn } from '../html/i18n.ts';
import { Link } from '../html/links.tsx';
import { sizeInWords } from '../html/size-words.ts';
import { callerFor } from '../records/caller.ts';
import type { Site } from '../site.ts';
import { ANONYMOUS } from '../wordpress/viewer.ts';
import { confirmationPage, openQuestion } from './confirmation.tsx';
import { KeptInput } from './kept-input.tsx';
import { kindAt, labelledInput } from './labelled-input.ts';
import { deskPage } from './layout.tsx';
import { type KeptForm, resumePage } from './resume.tsx';
import { findRoute, formPagePath, type RouteMatch } from './routes.ts';
import { type NotKept, signInPage, startOverPage } from './sign-in.tsx';
import {
  DESK_PATH,
  type DeskRequest,
  deskUrl,
  type FormOutcome,
  type Outcome,
  type Submission,
  type SubmittedForm,
  type Visit,
} from './visit.ts';

/** A complete answer of the desk. */
export interface DeskAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string;
  /** The error that ended the request, for the log. */
  readonly refusal?: ApiError | undefined;
}

/** A request after the checks that do not need its body. */
export interface RoutedRequest {
  readonly visit: Visit;
  readonly match: RouteMatch | undefined;
  /** Whether the body may contain files: the route accepts some, and the sender may use the route. */
  readonly allowsFiles: boolean;
  /** Whether the body may be as long as an upload. */
  readonly allowsLongBody: boolean;
  /** Whether the body may contain the fields of another form. */
  readonly allowsKeptForm: boolean;
}

/**
 * Determines the user and the route of a request to the desk. `base`: path of the site's home.
 *
 * @throws rest_forbidden for a form sent from another site
 */
export async function routeDeskRequest(
  site: Site,
  { base, asset }: { readonly base: string; readonly asset: Visit['asset'] },
  request: DeskRequest,
): Promise<RoutedRequest> {
  const settings = await site.settings();
  const login = await loginOf(site, settings, { cookie: request.cookie, post: request.method === 'POST' });
  const viewer = login ? toViewer(site.db, settings, login.user) : ANONYMOUS;
  const locale = login?.user.metas.get('locale') ?? '';
  const language = site.texts.chooseLanguage({
    parameter: locale.slice(0, 2) || undefined,
    acceptLanguage: request.acceptLanguage,
  });
  const match = findRoute(request.method, request.path);
  const visit: Visit = {
    site,
    settings,
    caller: callerFor(site, settings, viewer, { language }),
    i18n: i18nIn(site.texts, language, locale.replaceAll('_', '-'), settings.contentLanguage),
    request,
    login,
    nonce: login ? await formNonce(site, settings, login) : '',
    base: base + DESK_PATH,
    asset,
  };
  const files = match && 'files' in match.route && isAllowed(visit, match) ? match.route.files : undefined;
  return {
    visit,
    match,
    allowsFiles: files !== undefined,
    allowsLongBody: files?.(viewer) === true,
    allowsKeptForm: match !== undefined && 'keeps' in match.route,
  };
}

const EMPTY_FORM: SubmittedForm = { fields: {}, files: new Map() };

/**
 * Returns the answer to a request. Every form is checked here: it must come from a page of this site, and if a user is
 * signed in it must contain the nonce of the user's session.
 *
 * @throws errors with a name; see `deskErrorPage`
 */
export async function answerDesk({ visit, match }: RoutedRequest, form: SubmittedForm = EMPTY_FORM): Promise<DeskAnswer> {
  const { request, login, site } = visit;
  if (request.method === 'POST' && !request.sameOrigin) fail('rest_forbidden', { detail: { because: 'the form comes from another site' } });
  if (!match) fail('rest_no_route');
  if (!login && 'endsLogin' in match.route)
    return toFormAnswer({ ...visit, ...form }, await match.route.run({ ...visit, ...form }, match.params));
  if (match.route.allow !== 'anyone' && !login) {
    const keptForm = keptFormOf(visit, match, form);
    const startOverPath =
      request.method === 'POST' && !keptForm ? { path: formPagePath(request.path), cause: whyNotKept(match) } : undefined;
    return toDeskAnswer({ html: signInPage(visit, { keptForm, startOverPath }), status: 401, refusal: new ApiError('rest_not_logged_in') });
  }
  if (!isAllowed(visit, match)) refuse(visit.caller.viewer);
  const { route, params } = match;
  if (route.method === 'GET') return toDeskAnswer(await route.run(visit, params));
  // Forms for everybody contain another proof of intent: a password or a key.
  if (route.allow !== 'anyone' && login && !(await isFormNonce(site, visit.settings, login, form.fields._wpnonce))) {
    const keptForm = keptFormOf(visit, match, form);
    const notKept = { path: formPagePath(request.path), cause: whyNotKept(match) };
    const page = keptForm ? resumePage(visit, keptForm) : { html: startOverPage(visit, notKept) };
    return toDeskAnswer({ ...page, status: 403, refusal: new ApiError('rest_cookie_invalid_nonce') });
  }
  const submission = { ...visit, ...form };
  const question = route.isButton ? openQuestion(form.fields) : undefined;
  const outcome = question === undefined ? await route.run(submission, params) : { question };
  return toFormAnswer(submission, outcome);
}

/**
 * Returns the sign-in page if the user has been signed out and sent more than an anonymous visitor may, such as a
 * picture; undefined if the error has another cause.
 */
export function signInForLargeBody({ visit, match }: RoutedRequest, error: unknown): DeskAnswer | undefined {
  const isTooLarge = error instanceof ApiError && error.problem === 'body-too-large';
  if (!isTooLarge || !match || match.route.allow === 'anyone' || visit.login) return undefined;
  return toDeskAnswer({
    html: signInPage(visit, { startOverPath: { path: formPagePath(visit.request.path), cause: 'too-large' } }),
    status: 401,
    refusal: error,
  });
}

/** Returns the page for a body that is too large; undefined if the error has another cause. */
export function tooLargePage({ visit }: RoutedRequest, error: unknown): DeskAnswer | undefined {
  if (!(error instanceof ApiError) || error.problem !== 'body-too-large') return undefined;
  const { say } = visit.i18n;
  const limit = sizeInWords(visit.i18n, Number(error.details.detail?.limit));
  const html = deskPage(visit, {
    title: say('desk:problem.title'),
    notice: { tone: 'wrong', text: say('desk:problem.too-large', { most: limit }) },
    children: (
      <>
        <p>{say('desk:problem.too-large-about')}</p>
        <p>
          <Link href={deskUrl(visit, formPagePath(visit.request.path))}>{say('desk:again.not-kept.link')}</Link>
        </p>
      </>
    ),
  });
  return toDeskAnswer({ html, status: error.status });
}

/** Temporary problems after which nothing has been written, so that the same data can be sent again. */
const TEMPORARY_PROBLEMS: ReadonlySet<string> = new Set<ProblemName>(['database-unavailable', 'disk-full']);

/**
 * Returns the page for sending a form again that failed because of a temporary problem, without its secret fields;
 * undefined if the error has another cause. `message`: the sentence about the problem.
 */
export function resubmitPage(
  { visit, match }: RoutedRequest,
  form: SubmittedForm | undefined,
  { problem, status, message }: { readonly problem: ProblemName; readonly status: number; readonly message: string },
): DeskAnswer | undefined {
  if (!form || !match || !visit.login || !TEMPORARY_PROBLEMS.has(problem)) return undefined;
  const keptForm = keptFormOf(visit, match, form);
  if (!keptForm) return undefined;
  return toDeskAnswer({ ...resumePage(visit, keptForm, message), status });
}

/**
 * Returns the fields of a form to be sent again, without the secret ones; undefined if nothing else was entered, and
 * for buttons.
 */
function keptFormOf(visit: Visit, { route }: RouteMatch, { fields }: SubmittedForm): KeptForm | undefined {
  if (route.method === 'GET' || route.isButton) return undefined;
  const { path } = visit.request;
  const { secrets = [] } = route;
  const keptFields = Object.fromEntries(Object.entries(fields).filter(([name]) => name !== '_wpnonce' && !secrets.includes(name)));
  return labelledInput(visit, path, keptFields).length === 0 ? undefined : { path, fields: keptFields };
}

/** Returns why a form was not kept: it had secrets, or nothing that could be kept. */
const whyNotKept = ({ route }: RouteMatch): NotKept['cause'] => ('secrets' in route ? 'not-kept' : 'not-done');

function isAllowed({ caller: { viewer }, login }: Visit, { route: { allow } }: RouteMatch): boolean {
  if (allow === 'anyone') return true;
  return login !== undefined && (allow === 'signed-in' || allow(viewer));
}

/** Returns whether an error means that nothing exists at a URL: no such page, or no record with the id in it. */
export const isNotFound = (error: unknown): boolean =>
  error instanceof ApiError && (error.problem === 'rest_no_route' || error.details.faults?.has('id') === true);

/**
 * Returns a page about an error. It shows what was entered in `form`, to be copied. `requestId`: identifies a server
 * error in the log.
 */
export function deskErrorPage(
  { visit, match }: RoutedRequest,
  form: SubmittedForm | undefined,
  { status, message, requestId }: { readonly status: number; readonly message: string; readonly requestId: string | undefined },
): DeskAnswer {
  const { say } = visit.i18n;
  const isRefused = status === 401 || status === 403;
  const isUnsaved = isRefused || status === 404;
  const aboutKey = !isUnsaved ? 'input-only' : kindAt(visit.request.path) ? 'input' : 'input-unsaved';
  const html = deskPage(visit, {
    title: say(status === 404 ? 'desk:problem.absent' : isRefused ? 'desk:problem.forbidden' : 'desk:problem.title'),
    notice: { tone: 'wrong', text: message },
    children: (
      <>
        {status >= 500 && requestId !== undefined && <p>{say('desk:problem.id', { id: requestId })}</p>}
        <InputToCopy input={form && match ? inputToCopy(visit, match, form) : []} about={say(`desk:problem.${aboutKey}`)} />
      </>
    ),
  });
  return toDeskAnswer({ html, status });
}

/** Returns what a user entered in a form; nothing if another site may have done so. */
function inputToCopy(visit: Visit, match: RouteMatch, form: SubmittedForm): [label: string, words: string][] {
  const isFromUser = visit.login !== undefined && visit.request.sameOrigin && match.route.allow !== 'anyone';
  const { path, fields } = (isFromUser ? keptFormOf(visit, match, form) : undefined) ?? { path: '', fields: {} };
  return labelledInput(visit, path, fields);
}

const InputToCopy = ({ input, about }: { readonly input: [label: string, words: string][]; readonly about: string }): JSX.Element | null =>
  input.length === 0 ? null : (
    <>
      <p>{about}</p>
      <KeptInput input={input} />
    </>
  );

const toFormAnswer = (visit: Submission, outcome: FormOutcome): DeskAnswer =>
  toDeskAnswer('question' in outcome ? { html: confirmationPage(visit, outcome.question) } : outcome);

function toDeskAnswer(outcome: Outcome): DeskAnswer {
  const cookie = 'cookies' in outcome && outcome.cookies !== undefined ? { 'Set-Cookie': [...outcome.cookies] } : {};
  if ('to' in outcome) return { status: 303, headers: { ...HEADERS, ...cookie, Location: outcome.to }, body: '' };
  if ('json' in outcome)
    return { status: 200, headers: { ...HEADERS, 'Content-Type': 'application/json; charset=UTF-8' }, body: JSON.stringify(outcome.json) };
  const headers = {
    ...HEADERS,
    ...cookie,
    'Content-Type': 'text/html; charset=UTF-8',
    'Content-Security-Policy': policyWithImages(outcome.images ?? [], outcome.leadsTo),
  };
  return { status: outcome.status ?? 200, headers, body: outcome.html, refusal: outcome.refusal };
}

/**
 * Headers of every answer of the desk: answers are not cached and not shown in frames, and other sites neither learn
 * their URLs nor read them.
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

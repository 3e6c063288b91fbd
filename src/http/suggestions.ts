import { randomBytes } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import { attemptsOf } from '../accounts/attempts.ts';
import type { SiteSettings } from '../calendar/settings.ts';
import { fail } from '../errors.ts';
import type { Values } from '../kinds/param.ts';
import type { Page, PageContext } from '../pages/pages.tsx';
import { type AcceptedSuggestion, checkSuggestion, type SuggestForm, suggestPage, thanksPage } from '../pages/suggest.tsx';
import type { LoadedTheme } from '../pages/theme.ts';
import { appendQuery, suggestPath } from '../pages/urls.ts';
import type { Caller } from '../records/caller.ts';
import { languageSegments, type Site } from '../site.ts';
import { ANONYMOUS } from '../wordpress/viewer.ts';
import { percentDecoded } from '../wordpress/web-url.ts';
import { basePath, pathBelow, splitLanguage, splitTarget } from './addressing.ts';
import { type Answer, deliver } from './deliver.ts';
import { bodyTypeOf, parseBody, parseQuery } from './input.ts';
import { type BodyShare, readBody, SMALL_BODY_BYTES } from './limits.ts';
import { type Pages, pageAnswer } from './pages.ts';
import { toApiError, toProblemReply } from './problem.ts';
import { notesOf } from './request-notes.ts';
import { isSameOrigin } from './same-origin.ts';
import type { RequestLimits } from './turns.ts';
import { visitorOf } from './visitor.ts';

/** Cookie whose value the form must repeat, so that pages of other sites cannot submit the form. */
const COOKIE = 'fasti_suggest';
const COOKIE_SECONDS = 86_400;

/** Serves the page on which visitors suggest events, if the site has one, and passes on all other requests. */
export function serveSuggestions(site: Site, theme: LoadedTheme, pages: Pages, limits: RequestLimits): RequestHandler {
  const admit = ({ ip = '' }: Request) => {
    const wait = attemptsOf(site, 'suggestion').countFailure(ip, undefined, site.clock());
    if (wait !== undefined) fail('too-many-requests', { data: { retry_after: wait }, detail: { tried: 'suggestion' } });
  };
  return async (req, res, next) => {
    if (!['GET', 'HEAD', 'POST'].includes(req.method)) return next();
    const { path, query: text } = splitTarget(req.originalUrl);
    const settings = await site.settings();
    const query = parseQuery(text);
    const address = suggestionAddress(site, settings, path);
    if (!address || !pages.areEnabled(settings)) return next();
    notesOf(req).route = 'pages/suggest';
    const caller = visitorOf(site, settings, req, { segment: address.segment, query });
    const visit: SuggestionVisit = { context: { ...theme, site }, caller, req };
    try {
      const answer =
        req.method === 'POST'
          ? await handleForm(visit, limits, () => admit(req))
          : await limits.turns.run(req, () => showForm(visit, query.sent === '1'));
      await deliver(req, res, answer);
    } catch (error) {
      await deliver(req, res, pages.problem(site, settings, req, error));
    }
  };
}

interface SuggestionVisit {
  readonly context: PageContext;
  readonly caller: Caller;
  readonly req: Request;
}

/** Returns the language in the path of the page; undefined if the path is another one. */
function suggestionAddress(site: Site, settings: SiteSettings, path: string): { readonly segment: string | undefined } | undefined {
  const { suggestSlug, calendar, home } = settings;
  if (suggestSlug === '' || !percentDecoded(path).includes(percentDecoded(suggestSlug))) return undefined;
  const base = basePath(home);
  const segments = pathBelow(base, path)
    .split('/')
    .filter((piece) => piece !== '');
  const { language: segment, rest } = splitLanguage(
    segments[0] === 'index.php' ? segments.slice(1) : segments,
    languageSegments(site, settings),
  );
  const pageSegments = rest[0] === 'index.php' ? rest.slice(1) : rest;
  const suggestSegments = `${calendar.eventsSlug}/${suggestSlug}`.split('/');
  // Non-ASCII slugs are stored percent-encoded in lower case; browsers send either case.
  const isSuggestionPage =
    pageSegments.length === suggestSegments.length &&
    suggestSegments.every((piece, index) => percentDecoded(pageSegments[index] ?? '') === percentDecoded(piece));
  return isSuggestionPage ? { segment } : undefined;
}

async function showForm({ context, caller, req }: SuggestionVisit, wasSent: boolean): Promise<Answer> {
  if (wasSent) return answerWith(caller, await thanksPage(context, caller), {});
  const key = cookieOf(req) ?? randomBytes(16).toString('hex');
  return formAnswer({ context, caller, req }, { key });
}

async function formAnswer({ context, caller, req }: SuggestionVisit, form: SuggestForm): Promise<Answer> {
  const cookie = [
    `${COOKIE}=${form.key}`,
    `Path=${splitTarget(suggestPath(caller)).path}`,
    'HttpOnly',
    'SameSite=Strict',
    `Max-Age=${COOKIE_SECONDS}`,
  ];
  return answerWith(caller, await suggestPage(context, caller, form), {
    'Set-Cookie': [...cookie, ...(req.secure ? ['Secure'] : [])].join('; '),
  });
}

/**
 * Reads a submitted form, checks it when it is its turn, and stores it. Neither a slow client nor a suggestion that
 * waits until it can be written may hold a turn.
 */
async function handleForm(visit: SuggestionVisit, { budget, turns }: RequestLimits, admit: () => void): Promise<Answer> {
  const { context, caller, req } = visit;
  if (!isSameOrigin(req, caller.settings.home)) fail('rest_forbidden', { detail: { because: 'the form comes from another site' } });
  const share = budget.share(ANONYMOUS.id);
  try {
    const fields = await readForm(context.site, req, share);
    const checked = await turns.run(req, () => checkForm(visit, fields, admit));
    if ('answer' in checked) return checked.answer;
    try {
      await checked.accepted.store();
    } catch (error) {
      const { problem, status } = toApiError(error);
      if (problem === 'internal_server_error') throw error;
      if (status >= 500) return await againWhenAvailable(visit, fields, checked.accepted, error);
      return await turns.run(req, async () => againWith(visit, fields, await checked.accepted.explain(error)));
    }
    return thanks(caller);
  } finally {
    share.release();
  }
}

/** Returns the suggestion if it can be stored, otherwise the answer: the form again with the errors. */
async function checkForm(
  visit: SuggestionVisit,
  fields: Values,
  admit: () => void,
): Promise<{ readonly answer: Answer } | { readonly accepted: AcceptedSuggestion }> {
  const { context, caller, req } = visit;
  const key = cookieOf(req);
  if (key === undefined || fields.key !== key) {
    const notice = context.site.texts.t(caller.language, 'pages:suggest.stale');
    return { answer: await againWith(visit, fields, { notice, status: 403 }) };
  }
  const checked = await checkSuggestion(context.site, caller, fields, admit);
  if (!checked) return { answer: thanks(caller) };
  return 'store' in checked ? { accepted: checked } : { answer: await againWith(visit, fields, checked) };
}

/** Shows a submitted form again. */
const againWith = (visit: SuggestionVisit, input: Values, errors: Omit<SuggestForm, 'key' | 'input'>): Promise<Answer> =>
  formAnswer(visit, { key: cookieOf(visit.req) ?? randomBytes(16).toString('hex'), input, ...errors });

/** Shows a form again that the database could not store, or may not have stored. The database is not asked again. */
async function againWhenAvailable(visit: SuggestionVisit, input: Values, { data }: AcceptedSuggestion, error: unknown): Promise<Answer> {
  const { context, caller, req } = visit;
  const { status, headers } = toProblemReply(context.site, req, caller.language, error);
  const isUncertain = toApiError(error).problem === 'write-uncertain';
  const notice = context.site.texts.t(caller.language, `pages:suggest.${isUncertain ? 'uncertain' : 'unsaved'}`);
  const answer = await againWith(visit, input, { notice, status, data });
  return { ...answer, headers: { ...headers, ...answer.headers } };
}

const thanks = (caller: Caller): Answer => seeOther(appendQuery(suggestPath(caller), [['sent', '1']]));

async function readForm({ config }: Site, req: Request, share: BodyShare): Promise<Values> {
  const type = req.get('content-type');
  const bytes = await readBody(req, Math.min(SMALL_BODY_BYTES, config.bodyLimit), share);
  if (bodyTypeOf(type) !== 'form') return {};
  return (await parseBody(bytes, type, { fieldBytes: SMALL_BODY_BYTES, files: false })).form ?? {};
}

const cookieOf = ({ headers: { cookie = '' } }: Request): string | undefined =>
  /(?:^|;\s*)fasti_suggest=([0-9a-f]{32})(?:;|$)/.exec(cookie)?.[1];

const answerWith = (caller: Caller, page: Page, headers: Readonly<Record<string, string>>): Answer =>
  pageAnswer(page, { caller, isPersonal: true, changedAt: undefined, headers });

const seeOther = (location: string): Answer => ({
  status: 303,
  headers: { Location: location, 'Cache-Control': 'no-store' },
  body: Buffer.alloc(0),
  expiresAt: 0,
  isShareable: false,
});

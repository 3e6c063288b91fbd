import type { Request } from 'express';
import { loginOf } from '../accounts/logins.ts';
import { toViewer } from '../accounts/viewer.ts';
import type { SiteSettings } from '../calendar/settings.ts';
import { DESK_PATH } from '../desk/visit.ts';
import { ApiError } from '../errors.ts';
import { FRAMABLE_PAGE_POLICY, PAGE_POLICY } from '../html/document.tsx';
import { i18nIn } from '../html/i18n.ts';
import { plainProblemPage } from '../html/plain-problem.tsx';
import { postKind } from '../kinds/index.ts';
import { type Page, type PageContext, problemPage } from '../pages/pages.tsx';
import { type PreviewedRecord, previewPage } from '../pages/preview.tsx';
import { renderPage } from '../pages/render.ts';
import type { LoadedTheme } from '../pages/theme.ts';
import { refusalSentence } from '../refusals.ts';
import { servesPages } from '../settings-reader.ts';
import { languageSegments, type Site } from '../site.ts';
import { sayIn } from '../texts.ts';
import { basePath, languageOfAddress, splitTarget } from './addressing.ts';
import { type Answer, etagOf } from './deliver.ts';
import { discoveryHeaders } from './feeds/discovery.ts';
import type { FeedRequest } from './feeds/feed-request.ts';
import { languageOf, toApiError, toProblemReply } from './problem.ts';
import { expiryOf, modifiedHeader, NO_STORE, REVALIDATE } from './protocol.ts';
import { notesOf } from './request-notes.ts';
import { surrogateKeys } from './surrogates.ts';
import { visitorOf } from './visitor.ts';

/** The HTML pages of a site. */
export interface Pages {
  /** Whether pages are served: if WordPress serves none, unless the configuration decides otherwise. */
  readonly areEnabled: (settings: SiteSettings) => boolean;
  /** Renders the requested page. `password`: the password that the visitor entered to open it. */
  readonly answer: (request: FeedRequest, req: Request, password?: string) => Promise<Answer>;
  /**
   * Renders the preview of a record that is not public yet, for a user who may edit it. Undefined if no preview is
   * requested, or if the user may not see it.
   */
  readonly preview: (request: FeedRequest, req: Request) => Promise<Answer | undefined>;
  /** Renders the error that ended a request. */
  readonly problem: (site: Site, settings: SiteSettings, req: Request, error: unknown) => Answer;
  /**
   * Renders an error of the server without the look of the site, for forms of the desk if there are no other pages, and
   * for pages if the settings are unknown. Undefined for other errors, and if no pages are served at the address.
   */
  readonly plainProblem: (site: Site, req: Request, error: unknown) => Answer | undefined;
}

/**
 * Creates the pages of a site. They are served like other answers: with a validator, cached in memory, the same for
 * everybody.
 */
export function createPages({ config }: Site, theme: LoadedTheme): Pages {
  const problem: Pages['problem'] = (site, settings, req, error) => {
    const { path } = splitTarget(req.originalUrl);
    const segment = languageOfAddress(path, undefined, { base: basePath(settings.home), languages: languageSegments(site, settings) });
    const caller = visitorOf(site, settings, req, { segment, query: {} });
    return pageAboutProblem({ ...theme, site }, { caller, isPersonal: true, changedAt: undefined }, req, error);
  };
  return {
    areEnabled: (settings) => servesPages(config, settings),
    problem,
    plainProblem: (site, req, error) => {
      const settings = site.latestSettings();
      const arePagesServed = settings ? servesPages(config, settings) : config.pages !== 'off';
      const isServed = arePagesServed || splitTarget(req.originalUrl).path.includes(DESK_PATH);
      return isServed && toApiError(error).status >= 500 ? plainAnswer(site, req, error) : undefined;
    },
    preview: (request, req) => previewAnswer(theme, request, req),
    answer: async (request, req, password) => {
      const { site, caller, address, query } = request;
      const changedAt = site.changedAt();
      try {
        const page = await renderPage({ ...theme, site }, caller, { page: address.page, query, password });
        return pageAnswer(page, { caller, isPersonal: password !== undefined, changedAt });
      } catch (error) {
        return pageAboutProblem({ ...theme, site }, { caller, isPersonal: false, changedAt }, req, error);
      }
    },
  };
}

/** Renders the error that ended a request, with the sentence of the error if it was a form, unless that says less. */
function pageAboutProblem(context: PageContext, answerContext: PageAnswerContext, req: Request, error: unknown): Answer {
  const { site } = context;
  const { caller } = answerContext;
  const { status, headers } = toProblemReply(site, req, caller.language, error);
  const apiError = toApiError(error);
  const hasReason = req.method === 'POST' && apiError.problem !== 'internal_server_error';
  const aboutForm = hasReason ? refusalSentence(sayIn(site.texts, caller.language), apiError) : undefined;
  return pageAnswer(problemPage(context, caller, { status, request: notesOf(req).id, aboutForm }), { ...answerContext, headers });
}

const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=UTF-8',
  'Content-Security-Policy': PAGE_POLICY,
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  Vary: 'Accept, Accept-Language, Accept-Encoding',
};

function plainAnswer(site: Site, req: Request, error: unknown): Answer {
  const language = languageOf(site, req);
  const { status, headers } = toProblemReply(site, req, language, error);
  const sentence = refusalSentence(sayIn(site.texts, language), toApiError(error));
  return {
    status,
    headers: {
      ...headers,
      ...PAGE_HEADERS,
      ...NO_STORE,
    },
    body: Buffer.from(plainProblemPage(i18nIn(site.texts, language, language), sentence, notesOf(req).id)),
    expiresAt: 0,
    isShareable: false,
  };
}

/** Returns the record whose preview is requested; undefined if none is. */
function previewedRecord({ address, query }: FeedRequest): PreviewedRecord | undefined {
  const { page, format, isPath } = address;
  const isAsked = typeof query.preview === 'string' && query.preview !== '';
  if (!isAsked || format !== undefined || isPath || page.of !== 'event' || page.id === undefined) return undefined;
  return { id: page.id, type: typeof query.post_type === 'string' ? query.post_type : undefined };
}

async function previewAnswer(theme: LoadedTheme, request: FeedRequest, req: Request): Promise<Answer | undefined> {
  const { site, caller: visitor, address, query } = request;
  const record = previewedRecord(request);
  // Scripts of other sites, which could read the answer, send `Origin`; a browser that follows a link does not.
  if (!record || req.headers.origin !== undefined || !servesPages(site.config, visitor.settings)) return undefined;
  const settings = await site.settings();
  const login = await loginOf(site, settings, { cookie: req.headers.cookie });
  if (!login) return undefined;
  const viewer = toViewer(site.db, settings, login.user);
  const editor = visitorOf(site, settings, req, { segment: address.language, query, viewer });
  try {
    const page = await previewPage({ ...theme, site }, { editor, visitor }, record);
    const headers = { 'X-Robots-Tag': 'noindex, nofollow' };
    return pageAnswer(page, { caller: visitor, isPersonal: true, changedAt: undefined, headers });
  } catch (error) {
    // A user who may not preview the record gets the public page.
    if (error instanceof ApiError && error.status < 500) return undefined;
    throw error;
  }
}

interface PageAnswerContext extends Pick<FeedRequest, 'caller'> {
  /** Whether the page is only for the visitor who requested it. */
  readonly isPersonal: boolean;
  readonly changedAt: string | undefined;
  /** Additional headers of an error. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Converts a page to an answer, with a validator and the headers that lead to the API. */
export function pageAnswer(
  { status, html, framable, timeliness, records, subject }: Page,
  { caller, isPersonal, changedAt, headers }: PageAnswerContext,
): Answer {
  const body = Buffer.from(html);
  const isCacheable = status === 200 && !isPersonal;
  return {
    status,
    headers: {
      ...headers,
      ...PAGE_HEADERS,
      ...(framable && !isPersonal ? { 'Content-Security-Policy': FRAMABLE_PAGE_POLICY } : {}),
      ...(isCacheable ? REVALIDATE : NO_STORE),
      ...(isCacheable ? { ETag: etagOf(body) } : {}),
      ...(isCacheable ? modifiedHeader(timeliness, changedAt, caller.now) : {}),
      ...discoveryHeaders(caller.settings, subject),
      ...(isCacheable ? surrogateKeys(postKind('event'), records, subject) : {}),
    },
    body,
    expiresAt: expiryOf(timeliness, caller),
    isShareable: !isPersonal,
  };
}

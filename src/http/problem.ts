import type { ErrorRequestHandler, Request, RequestHandler } from 'express';
import type { SiteSettings } from '../calendar/settings.ts';
import { ApiError, type Fault, fail, type ProblemDetails, type ProblemName } from '../errors.ts';
import { LibraryUnavailable } from '../media/library.ts';
import { faultSentence, refusalSentence } from '../refusals.ts';
import { languageSegments, type Site } from '../site.ts';
import { DatabaseUnavailable, type UnavailableReason } from '../storage/engine/database.ts';
import { type Say, sayIn, type Texts } from '../texts.ts';
import { basePath, languageOfAddress, splitTarget } from './addressing.ts';
import { type Answer, deliver } from './deliver.ts';
import type { RequestHead } from './head.ts';
import { parseQuery, type RawParams } from './input.ts';
import { answerLanguage } from './language.ts';
import { NO_WRAPPING, readWrapping, toAnswer, type Wrapping } from './protocol.ts';
import { requestEntry } from './request-log.ts';
import type { Reply } from './route.ts';

/**
 * Returns the error that the caller sees: the one thrown if it has a name, otherwise one that reveals nothing of the
 * cause.
 */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof DatabaseUnavailable) return new ApiError(UNAVAILABLE[error.reason], { cause: error });
  if (error instanceof LibraryUnavailable)
    return new ApiError(error.reason === 'full' ? 'disk-full' : 'uploads-unavailable', { cause: error });
  // Express and its middleware mark client errors, such as an address that cannot be decoded.
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 500;
  return new ApiError(status >= 400 && status < 500 ? 'rest_no_route' : 'internal_server_error', { cause: error });
}

const UNAVAILABLE: Readonly<Record<UnavailableReason, ProblemName>> = {
  busy: 'database-unavailable',
  unreachable: 'database-unavailable',
  exhausted: 'database-unavailable',
  full: 'disk-full',
  'read-only': 'database-unavailable',
  replaced: 'database-unavailable',
  uncertain: 'write-uncertain',
};

/**
 * Returns the answer to an error, in a language. The log gets the reason of every refusal, and the whole error if it is
 * the server's fault.
 */
export function toProblemReply(site: Site, req: RequestHead, language: string, error: unknown): Reply {
  const refusal = toApiError(error);
  const { status, problem, details } = refusal;
  if (req.notes) req.notes.refusal = { problem, ...details.detail };
  // Some client errors have a 5xx status in WordPress; they are no fault of the server.
  const isOurs = problem === 'internal_server_error';
  if (status >= 500) site.log[isOurs ? 'error' : 'warn']({ ...requestEntry(req), err: error }, problem);
  return problemReply(site.texts, language, refusal, req.notes?.id);
}

/** Refuses all requests that no other handler has answered. Throws rest_no_route. */
export const refuseUnknownRoute: RequestHandler = () => fail('rest_no_route');

/** Renders errors as pages. */
export interface ProblemPage {
  readonly areEnabled: (settings: SiteSettings) => boolean;
  readonly problem: (site: Site, settings: SiteSettings, req: Request, error: unknown) => Answer;
  /** Renders an error of the server without the settings; undefined if no pages are served at the address. */
  readonly plainProblem: (site: Site, req: Request, error: unknown) => Answer | undefined;
}

const API_ADDRESS = /\/wp-json(?:[/?]|$)|[?&]rest_route=/;

/**
 * Whether the client wants a page. Browsers accept `text/html`; programs accept anything, or JSON. The API has no
 * pages.
 */
const wantsPage = (req: Request): boolean => req.headers.accept?.includes('text/html') === true && !API_ADDRESS.test(req.originalUrl);

/**
 * Answers errors that occur before an answer has a format: in static files, in the connection to the database, or for
 * unknown addresses.
 */
export function handleErrors(site: Site, asPage: ProblemPage): ErrorRequestHandler {
  // Express counts the parameters: only with four is it a handler of errors. It prints errors that are passed on.
  return async (error: unknown, req, res, _next) => {
    if (res.headersSent || req.socket.destroyed) return endConnection(site, req, error);
    try {
      await deliver(req, res, await answerToError(site, asPage, req, error));
    } catch (laterError) {
      endConnection(site, req, laterError);
    }
  };
}

/** Ends the connection, since there can be no answer, and logs the error if it is the server's fault. */
function endConnection(site: Site, req: Request, error: unknown): void {
  toProblemReply(site, req, languageOf(site, req), error);
  req.socket.destroy();
}

async function answerToError(site: Site, asPage: ProblemPage, req: Request, error: unknown): Promise<Answer> {
  const page = wantsPage(req) ? await pageAbout(site, asPage, req, error) : undefined;
  const wrapping = API_ADDRESS.test(req.originalUrl) ? validWrapping(queryOf(req)) : NO_WRAPPING;
  const form = { wrapping, method: req.method, sentMethod: req.method, isPersonal: true };
  return page ?? toAnswer(toProblemReply(site, req, languageOf(site, req), error), form);
}

const queryOf = (req: Request): RawParams => parseQuery(splitTarget(req.originalUrl).query);

/** Returns the wrapping that a query asks for; none if the name of the function is invalid. */
function validWrapping(query: RawParams): Wrapping {
  try {
    return readWrapping(query);
  } catch {
    return { ...NO_WRAPPING, script: true };
  }
}

/** Returns the language of a request, by the settings that were read before: the database may be away. */
export function languageOf(site: Site, req: Request): string {
  const settings = site.latestSettings();
  const query = queryOf(req);
  const segment = languageOfAddress(splitTarget(req.originalUrl).path, query.rest_route, {
    base: basePath(settings?.home ?? ''),
    languages: settings ? languageSegments(site, settings) : site.texts.languages,
  });
  return answerLanguage(site.texts, { query, body: {}, segment, ranges: req.get('accept-language') });
}

/**
 * Returns the page about an error, undefined if there is none. While the database is away, it is made from the settings
 * that were read before, without waiting for the database again.
 */
async function pageAbout(site: Site, asPage: ProblemPage, req: Request, error: unknown): Promise<Answer | undefined> {
  const settings = error instanceof DatabaseUnavailable ? site.latestSettings() : await site.settings().catch(() => site.latestSettings());
  return settings && asPage.areEnabled(settings) ? asPage.problem(site, settings, req, error) : asPage.plainProblem(site, req, error);
}

/**
 * Returns WordPress's form of an error: `{code, message, data: {status, ...}}`, in the caller's language. `requestId`
 * is included for server errors, which an administrator can look up in the log.
 */
export function problemReply(texts: Pick<Texts, 't'>, language: string, refusal: ApiError, requestId?: string): Reply {
  const { code, status, details } = refusal;
  const { data = {}, extraMembers = {} } = details;
  const say = sayIn(texts, language);
  const message = refusalSentence(say, refusal);
  const rest = refusal.shape === 'bare' ? {} : { data: { status, ...faultMembers(say, details), ...data } };
  const retryAfter = data.retry_after ?? refusal.retryAfter;
  if (refusal.shape === 'error') return { status, body: { error: message } };
  return {
    status,
    body: { code, message, ...rest, ...extraMembers, ...(status >= 500 && requestId !== undefined ? { request_id: requestId } : {}) },
    ...(retryAfter === undefined ? {} : { headers: { 'Retry-After': String(retryAfter) } }),
  };
}

/**
 * Members `params` and `details`: a sentence about each parameter, and more details for a wrong type or a value outside
 * the allowed set.
 */
function faultMembers(say: Say, { faults, sentValues }: ProblemDetails): object {
  if (!faults) return {};
  const sentences = [...faults].map(([param, fault]) => [param, faultSentence(say, param, fault, sentValues?.get(param))] as const);
  const details = sentences.flatMap(([param, message]) => {
    const fault = faults.get(param)!;
    return fault.stage === 'value' ? [] : [[param, { code: codeOf(fault), message, data: faultDetails(param, message, fault) }] as const];
  });
  return { params: Object.fromEntries(sentences), details: details.length === 0 ? [] : Object.fromEntries(details) };
}

type TypedFault = Exclude<Fault, { stage: 'value' }>;

const codeOf = (fault: TypedFault): string =>
  fault.stage === 'schema' ? fault.code : fault.stage === 'enum' ? 'rest_not_in_enum' : 'rest_invalid_type';

function faultDetails(param: string, message: string, fault: TypedFault): object | null {
  if (fault.stage === 'enum') return null;
  if (fault.stage === 'type' || fault.answerData === 'param') return { param };
  if (fault.answerData === 'argument') return { status: 400, argument: param, details: message };
  if (fault.answerData === undefined) return null;
  return 'item' in fault.answerData ? { param: `${param}[${fault.answerData.item}]` } : fault.answerData;
}

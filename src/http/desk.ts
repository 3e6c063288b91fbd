import type { Request, RequestHandler, Response } from 'express';
import {
  answerDesk,
  type DeskAnswer,
  deskErrorPage,
  isNotFound,
  type RoutedRequest,
  resubmitPage,
  routeDeskRequest,
  signInForLargeBody,
  tooLargePage,
} from '../desk/desk.tsx';
import { DESK_PATH, type DeskRequest, type SubmittedForm } from '../desk/visit.ts';
import type { ProblemName } from '../errors.ts';
import type { Assets } from '../html/assets.ts';
import type { Site } from '../site.ts';
import { basePath, pagePathBelow, splitTarget } from './addressing.ts';
import { bodyTypeOf, parseBody, parseQuery } from './input.ts';
import { type BodyBudget, disconnectSlowReader, readBody, SMALL_BODY_BYTES } from './limits.ts';
import { toApiError, toProblemReply } from './problem.ts';
import { notesOf, type RequestNotes } from './request-notes.ts';
import { isSameOrigin } from './same-origin.ts';
import { SECURITY_HEADERS } from './security.ts';
import type { RequestLimits } from './turns.ts';

/** Serves the editors' desk below `/admin`, and passes on all other requests. */
export function serveDesk(site: Site, assets: Assets, limits: RequestLimits): RequestHandler {
  return async (req, res, next) => {
    const { path, query } = splitTarget(req.originalUrl);
    if (!path.includes(DESK_PATH)) return next();
    const settings = await site.settings();
    const base = basePath(settings.home);
    const relativePath = pagePathBelow(base, path);
    if (relativePath !== DESK_PATH && !relativePath.startsWith(`${DESK_PATH}/`)) return next();
    if (!['GET', 'HEAD', 'POST'].includes(req.method)) return next();
    const asset = (name: string) => assets.urlOf(base, name);
    const request = requestOf(req, relativePath.slice(DESK_PATH.length), query, settings.home);
    const routedRequest = await routeDeskRequest(site, { base, asset }, request);
    const notes = notesOf(req);
    notes.user = routedRequest.visit.caller.viewer.id;
    notes.route = routedRequest.match && DESK_PATH + routedRequest.match.route.path.replace(/:(\w+)/g, '{$1}');
    const answer = await answerDeskRequest(site, limits, req, routedRequest);
    noteRefusal(notes, answer);
    send(res, answer, req.method === 'HEAD');
  };
}

async function answerDeskRequest(
  site: Site,
  { budget, turns }: RequestLimits,
  req: Request,
  routedRequest: RoutedRequest,
): Promise<DeskAnswer> {
  const share = budget.share(routedRequest.visit.caller.viewer.id);
  let form: SubmittedForm | undefined;
  try {
    if (req.method !== 'POST') {
      const answer = () => answerDesk(routedRequest, undefined);
      return await (takesLong(routedRequest) ? answer() : turns.run(req, answer));
    }
    form = await readForm(site, req, routedRequest, share);
    return await answerDesk(routedRequest, form);
  } catch (error) {
    const signIn = signInForLargeBody(routedRequest, error);
    if (signIn) return signIn;
    const { visit } = routedRequest;
    const { status, body, headers } = toProblemReply(site, req, visit.i18n.language, error);
    const tooLarge = tooLargePage(routedRequest, error);
    if (tooLarge) return tooLarge;
    const { id } = notesOf(req);
    if (isNotFound(error))
      return deskErrorPage(routedRequest, form, { status: 404, message: visit.i18n.say('desk:problem.absent-about'), requestId: id });
    const { message, data } = body as { readonly message?: unknown; readonly data?: { readonly params?: object } };
    const formPage = resubmitPage(routedRequest, form, { problem: toApiError(error).problem, status, message: String(message) });
    if (formPage) return { ...formPage, headers: { ...formPage.headers, ...headers } };
    const details = Object.values(data?.params ?? {}).filter((sentence) => / /.test(String(sentence)));
    const sentence = details.length > 0 ? details.join(' ') : String(message);
    const page = deskErrorPage(routedRequest, form, { status, message: sentence, requestId: id });
    return { ...page, headers: { ...page.headers, ...headers } };
  } finally {
    share.release();
  }
}

const takesLong = ({ match }: RoutedRequest): boolean => match?.route.method === 'GET' && match.route.takesLong === true;

/** Problems of pages that show a form again with sentences about it, by their status. */
const FORM_PROBLEMS: ReadonlyMap<number, ProblemName> = new Map([
  [400, 'rest_invalid_param'],
  [409, 'edit-conflict'],
  [422, 'rest_invalid_param'],
]);

/** Notes the error that a page is about, unless it has been noted already. */
function noteRefusal(notes: RequestNotes, { status, refusal }: DeskAnswer): void {
  const problem = refusal?.problem ?? FORM_PROBLEMS.get(status);
  if (problem !== undefined) notes.refusal ??= { problem, ...refusal?.details.detail };
}

/** Reads a submitted form, up to the size that its sender may send. */
async function readForm(
  { config }: Site,
  req: Request,
  { visit, allowsFiles, allowsLongBody, allowsKeptForm }: RoutedRequest,
  share: ReturnType<BodyBudget['share']>,
): Promise<SubmittedForm> {
  // A form that carries the fields of another form is longer, since each line end and each quotation mark is escaped.
  const smallLimit = allowsKeptForm ? 2 * SMALL_BODY_BYTES : SMALL_BODY_BYTES;
  const limit = allowsLongBody ? config.uploadLimit : visit.login ? config.bodyLimit : Math.min(smallLimit, config.bodyLimit);
  const type = req.get('content-type');
  const bytes = await readBody(req, limit, share);
  // Our pages send no forms of other types.
  if (!['form', 'multipart'].includes(bodyTypeOf(type))) return { fields: {}, files: new Map() };
  const { form = {}, files = new Map() } = await parseBody(bytes, type, { fieldBytes: config.bodyLimit, files: allowsFiles });
  return { fields: form, files };
}

function requestOf(req: Request, path: string, query: string, home: string): DeskRequest {
  return {
    method: req.method === 'POST' ? 'POST' : 'GET',
    path,
    query: parseQuery(query),
    cookie: req.headers.cookie,
    agent: req.get('user-agent'),
    acceptLanguage: req.get('accept-language'),
    address: req.ip ?? '',
    secure: req.secure,
    sameOrigin: isSameOrigin(req, home),
  };
}

function send(res: Response, { status, headers, body }: DeskAnswer, head: boolean): void {
  const bytes = Buffer.from(body);
  const notes = notesOf(res.req);
  notes.bytes = head ? 0 : bytes.length;
  res.writeHead(status, {
    ...SECURITY_HEADERS,
    ...headers,
    'Content-Length': bytes.length,
    'X-Request-Id': notes.id,
  });
  res.end(head ? undefined : bytes);
  disconnectSlowReader(res, bytes.length);
}

import type { Request } from 'express';
import { type Identity, readClaim } from '../accounts/credentials.ts';
import { fail } from '../errors.ts';
import { mayUpload } from '../media/images.ts';
import type { Caller } from '../records/caller.ts';
import type { Site } from '../site.ts';
import { ANONYMOUS, type Viewer } from '../wordpress/viewer.ts';
import { splitTarget } from './addressing.ts';
import { type Body, bodyTypeOf, isUtf8Form, parseBody } from './input.ts';
import { type BodyBudget, readBody, SMALL_BODY_BYTES } from './limits.ts';
import { credentialsOf, type IncomingRequest, nonceOf, toCaller } from './request.ts';
import { fileNameIn } from './upload.ts';

/** A request that was received completely, and whose caller is known. */
export interface ReceivedRequest {
  readonly incoming: IncomingRequest;
  readonly caller: Caller;
  /** A fresh nonce for callers with a cookie. */
  readonly nonce: string | undefined;
  readonly body: Body;
  /** Releases the memory that the body takes. */
  readonly release: () => void;
}

/** Methods that change nothing (RFC 9110, 9.2.1). */
export const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Identifies the caller from headers and query, and only then reads the body, up to the size that this caller may send.
 *
 * @throws incorrect_password, too-many-requests, rest_cookie_invalid_nonce, body-too-large, body-too-complex,
 * server-busy, request-aborted, form-not-utf8
 */
export async function receiveRequest(site: Site, incoming: IncomingRequest<Request>, budget: BodyBudget): Promise<ReceivedRequest> {
  const { req, method } = incoming;
  if (!SAFE_METHODS.has(method) && !isUtf8Form(splitTarget(req.originalUrl).query)) fail('form-not-utf8');
  const claim = readClaim(site, incoming.settings, credentialsOf(incoming));
  const toReceived = ({ viewer, nonce }: Identity, body: Body, release: () => void): ReceivedRequest => ({
    incoming,
    caller: toCaller(site, incoming, body, viewer),
    nonce,
    body,
    release,
  });
  if (!hasBody(req)) return toReceived(await claim.identify(nonceOf(incoming)), {}, () => undefined);

  // A login cookie counts only with a nonce, which may be in the form itself. A genuine cookie is sufficient for
  // reading the form.
  const owner = isForm(req) ? await claim.userOfCookie() : undefined;
  const earlyIdentity = owner ? undefined : await claim.identify(nonceOf(incoming));
  const sender = owner ?? earlyIdentity?.viewer ?? ANONYMOUS;
  const takesFile = incoming.match?.endpoint?.upload === true;
  const share = budget.share(sender.id);
  try {
    const type = isRawFile(incoming, sender) ? FILE_TYPE : req.get('content-type');
    const bytes = await readBody(req, bodyLimitOf(site, incoming, sender, type), share);
    const body = await parseBody(bytes, type, { fieldBytes: site.config.bodyLimit, files: takesFile }, method);
    const formNonce = typeof body.form?._wpnonce === 'string' ? body.form._wpnonce : undefined;
    const identity =
      earlyIdentity !== undefined && formNonce === undefined ? earlyIdentity : await claim.identify(nonceOf(incoming, formNonce));
    return toReceived(identity, Object.keys(body).length === 0 && bytes.length > 0 ? { bytes } : body, share.release);
  } catch (error) {
    share.release();
    throw error;
  }
}

const isForm = (req: Request): boolean => ['form', 'multipart'].includes(bodyTypeOf(req.get('content-type')));

/** Whether a request has a body. Without `Content-Length` and `Transfer-Encoding` it has none (RFC 9112, 6.3). */
const hasBody = ({ headers }: Request): boolean => headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/** Methods whose body is written. */
const BODY_METHODS: readonly string[] = ['POST', 'PUT', 'PATCH'];

/** The type of a body that is a file. */
const FILE_TYPE = 'application/octet-stream';

/**
 * Whether the body is a file although its type says that it is a form: the headers name a file, and the endpoint takes
 * one from this user. PHP's curl adds that type to any body without one, and WordPress ignores it
 * (`WP_REST_Attachments_Controller::upload_from_data`).
 */
const isRawFile = ({ req, match }: IncomingRequest<Request>, sender: Viewer): boolean =>
  match?.endpoint?.upload === true &&
  bodyTypeOf(req.get('content-type')) === 'form' &&
  fileNameIn(req.get('content-disposition')) !== undefined &&
  mayUpload(sender);

/**
 * Returns the longest body, in bytes, that a request with this type may have. Files are accepted only from users who
 * may upload.
 */
function bodyLimitOf({ config }: Site, { method, match }: IncomingRequest, sender: Viewer, type: string | undefined): number {
  if (sender.id === ANONYMOUS.id || !BODY_METHODS.includes(method)) return Math.min(SMALL_BODY_BYTES, config.bodyLimit);
  const takesFile = match?.endpoint?.upload === true && mayUpload(sender);
  return takesFile && ['multipart', 'other'].includes(bodyTypeOf(type)) ? config.uploadLimit : config.bodyLimit;
}

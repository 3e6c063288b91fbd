import type { Request } from 'express';
import { bearsLogin, type Identity, identify } from '../accounts/credentials.ts';
import type { Site } from '../site.ts';
import { type Body, bodyTypeOf, parseBody } from './input.ts';
import { type Budget, readBody, SMALL_BODY } from './limits.ts';
import { credentialsOf, type Incoming } from './request.ts';
import type { Router } from './routing.ts';

/** A request that has come in whole. */
export interface Received {
  readonly identity: Identity;
  readonly body: Body;
  /** Gives back the memory that the body takes. */
  readonly release: () => void;
}

/**
 * Settles from headers and query who calls, and only then reads the body, up to the size that this caller may send.
 *
 * @throws incorrect_password, too-many-requests, rest_cookie_invalid_nonce, body-too-large, body-too-complex, server-busy, request-aborted
 */
export async function receive(site: Site, router: Router, incoming: Incoming, budget: Budget): Promise<Received> {
  const { req, settings, address, method } = incoming;
  const credentials = credentialsOf(incoming);
  if (!hasBody(req)) return { identity: await identify(site, settings, credentials), body: {}, release: () => undefined };

  // A login cookie counts only with a nonce, which may be in the form itself. To read the form it is enough that the cookie is genuine.
  const nonceMayFollow =
    ['form', 'multipart'].includes(bodyTypeOf(req.get('content-type'))) && (await bearsLogin(site, settings, credentials));
  const early = nonceMayFollow ? undefined : await identify(site, settings, credentials);
  const known = early === undefined || early.viewer.id > 0;
  const takesFile = router.find(address.route, method)?.endpoint?.upload === true;
  const share = budget.share(known);
  try {
    const bytes = await readBody(req, limitOf(site, incoming, known, takesFile), share);
    const body = await parseBody(bytes, req.get('content-type'), { fieldBytes: site.config.bodyLimit, files: takesFile });
    const nonce = typeof body.form?._wpnonce === 'string' ? body.form._wpnonce : undefined;
    return {
      identity: early !== undefined && nonce === undefined ? early : await identify(site, settings, credentialsOf(incoming, nonce)),
      body: Object.keys(body).length === 0 && bytes.length > 0 ? { bytes } : body,
      release: share.release,
    };
  } catch (error) {
    share.release();
    throw error;
  }
}

/** A request that announces no body has none (RFC 9112, 6.3). */
const hasBody = ({ headers }: Request): boolean => headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/** Methods that write what the body says. */
const WRITING: readonly string[] = ['POST', 'PUT', 'PATCH'];

/** The longest body, in bytes, that a request may have. */
function limitOf({ config }: Site, { method, req }: Incoming, known: boolean, takesFile: boolean): number {
  if (!known || !WRITING.includes(method)) return Math.min(SMALL_BODY, config.bodyLimit);
  const mayBeFile = takesFile && ['multipart', 'other'].includes(bodyTypeOf(req.get('content-type')));
  return mayBeFile ? config.uploadLimit : config.bodyLimit;
}

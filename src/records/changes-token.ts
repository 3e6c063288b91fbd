import { createHmac } from 'node:crypto';
import { failParam } from '../errors.ts';
import type { KindName } from '../kinds/kind-names.ts';

/** The position of a client in the journal. */
export interface JournalPosition {
  /** Everything up to this number of the journal is known to the client, or was read again later. */
  readonly number: number;
  /**
   * The mark of the last entry up to that number (`markAt`). Without it, a database that was reset to an earlier state
   * cannot be detected.
   */
  readonly mark?: string | undefined;
  /** The position in the full reading: the kind and its last id; absent if the full reading is complete. */
  readonly walk?: { readonly kind: KindName; readonly after: number } | undefined;
}

/**
 * Encodes a position as a token for clients. `scope`: what they follow, since a token is only valid for the same scope;
 * `key`: the site's secret, so that only the site can issue tokens.
 */
export function encodeToken({ number, mark, walk }: JournalPosition, scope: string, key: string): string {
  const payload = Buffer.from(JSON.stringify([number, mark ?? '', ...(walk ? [walk.kind, walk.after] : [])])).toString('base64url');
  return `${payload}.${digestOf(payload, key, scope)}.${digestOf(payload, key)}`;
}

/**
 * Decodes the position in a token. Undefined if the token was issued for another scope, or under another secret: after
 * the restore of an old dump the site has a new one.
 *
 * @throws rest_invalid_param if it does not have the form of a token
 */
export function decodeToken(token: string, scope: string, key: string): JournalPosition | undefined {
  if (!TOKEN.test(token)) failParam('since', 'changes-token-invalid');
  const [payload = '', forScope, digest] = token.split('.');
  if (digest !== digestOf(payload, key) || forScope !== digestOf(payload, key, scope)) return undefined;
  const [number, mark, kind, after]: [number, string?, KindName?, number?] = JSON.parse(Buffer.from(payload, 'base64url').toString());
  return { number, mark: mark || undefined, ...(kind === undefined || after === undefined ? {} : { walk: { kind, after } }) };
}

const TOKEN = /^[\w-]+(\.[\w-]{12}){2}$/;

const digestOf = (payload: string, key: string, scope = ''): string =>
  createHmac('sha256', key).update(`changes ${scope} ${payload}`).digest('base64url').slice(0, 12);

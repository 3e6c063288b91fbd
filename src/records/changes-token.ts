import { createHmac } from 'node:crypto';
import { failParam } from '../errors.ts';
import type { KindName } from '../kinds/kind-names.ts';

/** How far a client has come. */
export interface JournalPlace {
  /** Everything up to this number of the journal is known, or was read anew since. */
  readonly number: number;
  /** The mark of the last entry up to there (`markAt`); without one nothing can be said of the database's past. */
  readonly mark?: string | undefined;
  /** Where in the full reading: which kind, and the last id of it; absent: the reading is over. */
  readonly walk?: { readonly kind: KindName; readonly after: number } | undefined;
}

/**
 * A place as a token for clients. `scope`: what they follow, which a token is good for alone; `key`: the site's, so
 * that nobody makes tokens but the site.
 */
export function tokenOf({ number, mark, walk }: JournalPlace, scope: string, key: string): string {
  const said = Buffer.from(JSON.stringify([number, mark ?? '', ...(walk ? [walk.kind, walk.after] : [])])).toString('base64url');
  return `${said}.${digestOf(said, key, scope)}.${digestOf(said, key)}`;
}

/**
 * The place that a token names. Undefined: it was given for another scope.
 *
 * @throws rest_invalid_param for what is no token of this site
 */
export function placeIn(token: string, scope: string, key: string): JournalPlace | undefined {
  const [said = '', forScope, digest] = token.split('.');
  if (digest !== digestOf(said, key)) failParam('since', 'changes-token-invalid');
  if (forScope !== digestOf(said, key, scope)) return undefined;
  const [number, mark, kind, after]: [number, string?, KindName?, number?] = JSON.parse(Buffer.from(said, 'base64url').toString());
  return { number, mark: mark || undefined, ...(kind === undefined || after === undefined ? {} : { walk: { kind, after } }) };
}

const digestOf = (said: string, key: string, scope = ''): string =>
  createHmac('sha256', key).update(`changes ${scope} ${said}`).digest('base64url').slice(0, 12);

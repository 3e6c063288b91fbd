import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { SourceFault } from '../exchange/items/items.ts';
import { ensureOwnFolder } from '../exchange/items/own-folder.ts';
import { OWN_FILE, OWN_FOLDER } from '../host/files.ts';
import { type FetchOptions, FetchRefused, fetchPublic } from '../media/safe-fetch.ts';
import type { Visit } from './visit.ts';

/*
 * Files to be imported, kept from upload until the import.
 */

/** Time after which files that were not imported are removed: a day. */
const KEPT_MS = 86_400_000;

export interface KeptFile {
  readonly token: string;
  readonly name: string;
  readonly path: string;
}

/** Name for files whose own name cannot be used, such as `..`. */
const UNNAMED = 'file';
/** In bytes; file systems allow 255. */
const LONGEST_NAME = 200;

const folder = (): string => join(tmpdir(), `fasti-imports-${process.geteuid?.() ?? 0}`);
const ownPart = ({ caller }: Pick<Visit, 'caller'>, token: string): string => `${caller.viewer.id}-${token}`;

/**
 * Stores a file that a user uploaded or named by URL, accessible to this user alone.
 *
 * @throws SourceFault `unreadable` if other users of the machine can open the folder in which such files are kept
 */
export async function keep(
  visit: Pick<Visit, 'caller'>,
  { name, bytes }: { readonly name: string; readonly bytes: Buffer },
): Promise<KeptFile> {
  const token = randomBytes(16).toString('hex');
  await ensureOwnFolder(folder());
  await forgetOld();
  await mkdir(join(folder(), ownPart(visit, token)), { mode: OWN_FOLDER });
  const kept = keptFile(visit, token, name) ?? keptFile(visit, token, UNNAMED)!;
  await writeFile(kept.path, bytes, { mode: OWN_FILE, flag: 'wx' });
  return kept;
}

/**
 * Returns a file that this user has sent before. Characters other than letters, digits and a few safe ones are replaced
 * in its name.
 */
export function keptFile(visit: Pick<Visit, 'caller'>, token: string, sent: string): KeptFile | undefined {
  const letters = basename(sent.replaceAll('\\', '/')).replace(/[^\p{L}\p{N} ._-]/gu, '_');
  // The end is kept, with the extension. A letter that is cut in half is dropped.
  const name = Buffer.from(letters)
    .subarray(-LONGEST_NAME)
    .toString()
    .replace(/^\ufffd+/, '');
  if (!/^[0-9a-f]{32}$/.test(token) || name === '' || /^\.+$/.test(name)) return undefined;
  return { token, name, path: join(folder(), ownPart(visit, token), name) };
}

async function forgetOld(): Promise<void> {
  const now = Date.now();
  for (const name of await readdir(folder())) {
    const path = join(folder(), name);
    const found = await stat(path).catch(() => undefined);
    if (found && now - found.mtimeMs > KEPT_MS) await rm(path, { recursive: true, force: true });
  }
}

/** Removes a file after its import. */
export const forget = (visit: Pick<Visit, 'caller'>, { token }: KeptFile): Promise<void> =>
  rm(join(folder(), ownPart(visit, token)), { recursive: true, force: true });

const FETCH_MS = 30_000;

/** File extensions by content type. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['text/calendar', '.ics'],
  ['text/csv', '.csv'],
  ['text/html', '.html'],
  ['application/xml', '.xml'],
  ['text/xml', '.xml'],
  ['application/rss+xml', '.xml'],
]);

/**
 * Fetches the file at a URL and stores it like an uploaded one. Only public hosts are contacted, for all users.
 * `fetching`: replaces the network in tests.
 *
 * @throws SourceFault `feed-not-fetched`; like `keep`
 */
export async function keepFetched(visit: Pick<Visit, 'site' | 'caller'>, address: string, fetching: FetchOptions = {}): Promise<KeptFile> {
  try {
    const { url, bytes, headers } = await fetchPublic(address.replace(/^webcals?:/i, 'https:'), {
      maxBytes: visit.site.config.uploadLimit,
      timeoutMs: FETCH_MS,
      ...fetching,
    });
    const type = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
    return await keep(visit, { name: fileName(new URL(url), type), bytes });
  } catch (error) {
    if (error instanceof FetchRefused) throw new SourceFault('feed-not-fetched', { address, what: error.fault }, error);
    throw error;
  }
}

/** Returns the last segment of a URL's path with the extension for its type, or the host if the path is empty. */
function fileName({ hostname, pathname }: URL, type: string): string {
  const last = pathname.split('/').findLast((piece) => piece !== '') ?? hostname;
  const ending = TYPES.get(type);
  return ending === undefined || extname(last).toLowerCase() === ending ? last : `${last}${ending}`;
}

import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { SourceFault } from '../exchange/items/items.ts';
import { ensurePrivateFolder } from '../exchange/items/private-folder.ts';
import { OWNER_ONLY_FILE_MODE, OWNER_ONLY_FOLDER_MODE } from '../host/files.ts';
import { fetchInTurn } from '../media/fetch-turns.ts';
import { type FetchOptions, FetchRefused, fetchPublic } from '../media/safe-fetch.ts';
import type { Visit } from './visit.ts';

/*
 * Files to be imported, kept from upload until the import.
 */

/** Time after which files that were not imported are removed: a day. */
const RETENTION_MS = 86_400_000;

export interface ImportFile {
  readonly token: string;
  readonly name: string;
  readonly path: string;
}

/** Name for files whose own name cannot be used, such as `..`. */
const DEFAULT_FILE_NAME = 'file';
/** In bytes; file systems allow 255. */
const MAX_NAME_BYTES = 200;

const importFolder = (): string => join(tmpdir(), `fasti-imports-${process.geteuid?.() ?? 0}`);
const ownFolderName = ({ caller }: Pick<Visit, 'caller'>, token: string): string => `${caller.viewer.id}-${token}`;

/**
 * Stores a file that a user uploaded or named by URL, accessible to this user alone.
 *
 * @throws SourceFault `folder-not-private` if other users of the machine can open the folder in which such files are
 * kept
 */
export async function storeImportFile(
  visit: Pick<Visit, 'caller'>,
  { name, bytes }: { readonly name: string; readonly bytes: Buffer },
): Promise<ImportFile> {
  const token = randomBytes(16).toString('hex');
  await ensurePrivateFolder(importFolder());
  await removeExpiredFiles();
  await mkdir(join(importFolder(), ownFolderName(visit, token)), { mode: OWNER_ONLY_FOLDER_MODE });
  const file = importFileOf(visit, token, name) ?? importFileOf(visit, token, DEFAULT_FILE_NAME)!;
  try {
    await writeFile(file.path, bytes, { mode: OWNER_ONLY_FILE_MODE, flag: 'wx' });
  } catch (error) {
    // A full disk would keep what was written.
    await removeImportFile(visit, file);
    throw error;
  }
  return file;
}

/**
 * Returns a file that this user has sent before. Characters other than letters, digits and a few safe ones are replaced
 * in its name.
 */
export function importFileOf(visit: Pick<Visit, 'caller'>, token: string, fileName: string): ImportFile | undefined {
  const letters = basename(fileName.replaceAll('\\', '/')).replace(/[^\p{L}\p{N} ._-]/gu, '_');
  // The end is kept, with the extension. A letter that is cut in half is dropped.
  const name = Buffer.from(letters)
    .subarray(-MAX_NAME_BYTES)
    .toString()
    .replace(/^\ufffd+/, '');
  if (!/^[0-9a-f]{32}$/.test(token) || name === '' || /^\.+$/.test(name)) return undefined;
  return { token, name, path: join(importFolder(), ownFolderName(visit, token), name) };
}

async function removeExpiredFiles(): Promise<void> {
  const now = Date.now();
  for (const name of await readdir(importFolder())) {
    const path = join(importFolder(), name);
    const stats = await stat(path).catch(() => undefined);
    if (stats && now - stats.mtimeMs > RETENTION_MS) await rm(path, { recursive: true, force: true });
  }
}

/** Removes a file after its import. */
export const removeImportFile = (visit: Pick<Visit, 'caller'>, { token }: ImportFile): Promise<void> =>
  rm(join(importFolder(), ownFolderName(visit, token)), { recursive: true, force: true });

const FETCH_TIMEOUT_MS = 30_000;

/** File extensions by content type. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['text/calendar', '.ics'],
  ['text/csv', '.csv'],
  ['text/html', '.html'],
  ['application/xml', '.xml'],
  ['text/xml', '.xml'],
  ['application/rss+xml', '.xml'],
]);

/**
 * Fetches the file at a URL and stores it like an uploaded one. Only public hosts are contacted, for all users.
 * `fetchOptions`: replaces the network in tests.
 *
 * @throws SourceFault `feed-not-fetched`; like `storeImportFile`
 */
export async function fetchImportFile(
  visit: Pick<Visit, 'site' | 'caller'>,
  address: string,
  fetchOptions: FetchOptions = {},
): Promise<ImportFile> {
  try {
    return await fetchInTurn(visit.caller.viewer.id, async () => {
      const { url, bytes, headers } = await fetchPublic(address.replace(/^webcals?:/i, 'https:'), {
        maxBytes: visit.site.config.uploadLimit,
        timeoutMs: FETCH_TIMEOUT_MS,
        ...fetchOptions,
      });
      const type = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
      return storeImportFile(visit, { name: fetchedFileName(new URL(url), type), bytes });
    });
  } catch (error) {
    if (error instanceof FetchRefused) throw new SourceFault('feed-not-fetched', { address, what: error.fault }, error);
    throw error;
  }
}

/** Returns the last segment of a URL's path with the extension for its type, or the host if the path is empty. */
function fetchedFileName({ hostname, pathname }: URL, type: string): string {
  const lastSegment = pathname.split('/').findLast((piece) => piece !== '') ?? hostname;
  const ending = EXTENSIONS.get(type);
  return ending === undefined || extname(lastSegment).toLowerCase() === ending ? lastSegment : `${lastSegment}${ending}`;
}

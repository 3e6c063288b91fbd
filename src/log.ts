import { unescape as percentDecode } from 'node:querystring';
import { type DestinationStream, type Logger, pino } from 'pino';
import { type OutputFormat, standardOutput } from './host/output.ts';
import { memoize } from './memo.ts';

export type Log = Logger;

/**
 * Names under which secrets come: of parameters, fields, headers and settings, in small letters. `sql`, `sqlMessage`:
 * drivers put the statement beside their errors, with the values that it binds, and the server's words about it.
 */
const SECRETS = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-wp-nonce',
  '_wpnonce',
  'password',
  'post_password',
  'user_pass',
  'pass1',
  'pass2',
  'pwd',
  'application_password',
  'token',
  'access_token',
  'databaseurl',
  'databasereadurl',
  'metricstoken',
  'sql',
  'sqlmessage',
]);
const HIDDEN = '[hidden]';

/** Where lines of the log go. `urgent`: what must not wait. */
export interface LogTarget {
  readonly write: (line: string, urgent: boolean) => void;
}

export interface LogOptions {
  readonly logLevel: string;
  readonly logFormat?: OutputFormat;
}

/**
 * The log: a line of JSON for each entry on standard output, or readable lines. Under a test runner it is silent unless
 * it is given a `target` to write to.
 */
export function createLog({ logLevel, logFormat = 'auto' }: LogOptions, target?: LogTarget): Log {
  const quiet = target === undefined && process.env.NODE_ENV === 'test';
  const options = {
    level: quiet ? 'silent' : logLevel,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {
      level: (level: string) => ({ level }),
      log: (entry: Record<string, unknown>) => withoutSecrets(entry) as Record<string, unknown>,
    },
    // What is written under this name has become a plain object before.
    serializers: { err: (error: unknown) => error },
    base: { pid: process.pid },
  };
  return pino(options, streamTo(target ?? (quiet ? { write: () => undefined } : standardOutput(logFormat))));
}

/** From this level on, entries are written at once. */
const URGENT = pino.levels.values.warn!;

/** What pino writes to. By `pino.metadata` it sets the level of each line before it writes the line. */
function streamTo({ write }: LogTarget): DestinationStream {
  const stream = {
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write: (line: string) => write(line, stream.lastLevel >= URGENT),
  };
  return stream;
}

/** No entry is nested as deep as this. */
const DEEPEST = 8;

/**
 * A value without what is under the names of secrets. What writes itself as JSON is left as it is; errors are written
 * as such under whatever name they come.
 */
function withoutSecrets(value: unknown, depth = 0): unknown {
  if (value === null || typeof value !== 'object' || 'toJSON' in value) return value;
  if (depth === DEEPEST) return HIDDEN;
  if (value instanceof Error) return withoutSecrets({ ...codesOf(value), ...pino.stdSerializers.err(value) }, depth + 1);
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, isSecret(name) ? HIDDEN : withoutSecrets(member, depth + 1)]),
  );
}

/** The codes of what led to an error: of that the log has messages and stacks alone by itself. */
function codesOf(error: Error): Record<string, unknown> {
  const { cause } = error;
  if (!(cause instanceof Error)) return {};
  const known = CODES.flatMap((name): [string, unknown][] => (name in cause ? [[name, Reflect.get(cause, name)]] : []));
  return { ...codesOf(cause), ...Object.fromEntries(known) };
}

const CODES = ['code', 'errno', 'sqlState'];

/**
 * Whether a name is that of a secret, or of a member of one, as PHP reads names: `password`, `password[]`,
 * `user[post_password]`.
 */
const isSecret = memoize((name: string): boolean =>
  name
    .split(/[[\]]/)
    .map((part) => part.trim().replace(/[ .]/g, '_').toLowerCase())
    .some((part) => SECRETS.has(part)),
);

// ------------------------------------------------------------------------------------------------- addresses
/**
 * An address as it may stand in the log: passwords and nonces in its query are blotted out, whichever way their
 * names are written, and so is who signs in before the host. Addresses within its path or its values are read in the
 * same way.
 */
export const loggedUrl = (url: string): string => (MAY_HOLD_SECRETS.test(url) ? withoutSecretsIn(url, 0) : url);

/** Without one of these it has no query, no user, and nothing that is encoded. */
const MAY_HOLD_SECRETS = /[?#@%]/;

function withoutSecretsIn(url: string, depth: number): string {
  const [place = '', query] = splitAt(url, '?');
  const [path, fragment] = query === undefined ? splitAt(place, '#') : [place, undefined];
  const [pairs, after] = query === undefined ? [undefined, fragment] : splitAt(query, '#');
  return [
    loggedPiece(path ?? '', depth),
    ...(pairs === undefined
      ? []
      : [
          '?',
          pairs
            .split('&')
            .map((pair) => loggedPair(pair, depth))
            .join('&'),
        ]),
    ...(after === undefined ? [] : ['#', loggedPiece(after, depth)]),
  ].join('');
}

function loggedPair(pair: string, depth: number): string {
  const [name = '', value] = splitAt(pair, '=');
  if (value === undefined) return loggedPiece(name, depth);
  return `${name}=${isSecret(decoded(name)) ? HIDDEN : loggedPiece(value, depth)}`;
}

/** Addresses within addresses within addresses: nobody writes them any deeper. */
const NESTED = 4;

/** A piece of an address that may hold another one, percent-encoded or not. */
function loggedPiece(piece: string, depth: number): string {
  const plain = decoded(piece);
  if (plain.includes('?') && depth === NESTED) return HIDDEN;
  const logged = plain.includes('?') ? withoutSecretsIn(plain, depth + 1) : withoutUser(plain);
  return logged === plain ? piece : logged.replaceAll('&', '%26').replaceAll('#', '%23');
}

/** Takes name and password out of `scheme://name:password@host/...`. */
function withoutUser(path: string): string {
  const [scheme = '', rest] = splitAt(path, '//');
  if (rest === undefined) return path;
  const [authority = '', after] = splitAt(rest, '/');
  const at = authority.lastIndexOf('@');
  return `${scheme}//${at < 0 ? authority : HIDDEN + authority.slice(at)}${after === undefined ? '' : `/${after}`}`;
}

/** The text before the first mark and the one after it; without a mark all of it and nothing. */
function splitAt(text: string, mark: string): [string, string | undefined] {
  const place = text.indexOf(mark);
  return place < 0 ? [text, undefined] : [text.slice(0, place), text.slice(place + mark.length)];
}

/** A piece of a query as PHP decodes it; what is no valid escape stands for itself. */
const decoded = (piece: string): string => percentDecode(piece.replaceAll('+', ' '));

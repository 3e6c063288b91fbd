import { unescape as percentDecode } from 'node:querystring';
import { LRUCache } from 'lru-cache';
import { type DestinationStream, type Logger, pino } from 'pino';
import { type OutputFormat, standardOutput } from './host/output.ts';
import { memoize } from './memo.ts';
import { isObject } from './objects.ts';

export type Log = Logger;

/**
 * Names of secret values: parameters, fields, headers and settings, in lower case. `sql`, `sqlMessage`: drivers add the
 * statement with its bound values, and the server's message about it, to their errors.
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

/** Destination of log lines. `urgent`: the line must be written without delay. */
export interface LogTarget {
  readonly write: (line: string, urgent: boolean) => void;
}

export interface LogOptions {
  readonly logLevel: string;
  readonly logFormat?: OutputFormat;
}

/**
 * Creates the log: one line of JSON per entry on standard output, or readable lines. In a test run it is silent unless
 * it has a `target`.
 */
export function createLog({ logLevel, logFormat = 'auto' }: LogOptions, target?: LogTarget): Log {
  const quiet = target === undefined && process.env.NODE_ENV === 'test';
  const withoutKnownStack = knownStacks();
  const options = {
    level: quiet ? 'silent' : logLevel,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {
      level: (level: string) => ({ level }),
      log: (entry: Record<string, unknown>) => withoutKnownStack(withoutSecrets(entry) as Record<string, unknown>),
    },
    // At this point the error has already been converted to a plain object.
    serializers: { err: (error: unknown) => error },
    base: { pid: process.pid },
  };
  return pino(options, streamTo(target ?? (quiet ? { write: () => undefined } : standardOutput(logFormat))));
}

/** Entries of this level and above are written at once. */
const URGENT_LEVEL = pino.levels.values.warn!;

/**
 * Creates the stream that pino writes to. Because of `pino.metadata`, pino sets the level of each line before it writes
 * the line.
 */
function streamTo({ write }: LogTarget): DestinationStream {
  const stream = {
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write: (line: string) => write(line, stream.lastLevel >= URGENT_LEVEL),
  };
  return stream;
}

/** A stack, or a failure of background work, is not logged again within this time. */
const REPEAT_MS = 60_000;
/** Number of stacks that are remembered. */
const MAX_STACKS = 200;
/** Number of failures with the same message that are remembered: more than there are records that fail together. */
const MAX_FAILURES = 5000;

/**
 * Returns a function that takes out of an entry the stack of its error if that was logged less than a minute ago. While
 * the database is away every request fails in the same way, and the stacks would fill the disk.
 */
function knownStacks(): (entry: Record<string, unknown>) => Record<string, unknown> {
  const recentStacks = new LRUCache<string, true>({ max: MAX_STACKS, ttl: REPEAT_MS });
  return (entry) => {
    const { err } = entry;
    if (!isObject(err) || !('stack' in err) || typeof err.stack !== 'string') return entry;
    const { stack, ...rest } = err;
    if (recentStacks.has(stack)) return { ...entry, err: rest };
    recentStacks.set(stack, true);
    return entry;
  };
}

/** A failure of work that is repeated for as long as the service runs. */
export interface BackgroundFailure {
  readonly err: unknown;
  /** The webhook that the work was for. */
  readonly hook?: number;
  /** The record that the work was for. */
  readonly id?: number;
}

/** The latest failures in each log by their messages, so that all who write it count together. */
const recentFailuresIn = new WeakMap<Log, Map<string, LRUCache<string, true>>>();

/** Returns the latest failures with a message. Those of one kind of work do not displace those of another. */
function recentFailuresOf(log: Log, message: string): LRUCache<string, true> {
  const failuresByMessage = recentFailuresIn.get(log) ?? new Map<string, LRUCache<string, true>>();
  recentFailuresIn.set(log, failuresByMessage);
  const recentFailures = failuresByMessage.get(message) ?? new LRUCache<string, true>({ max: MAX_FAILURES, ttl: REPEAT_MS });
  failuresByMessage.set(message, recentFailures);
  return recentFailures;
}

/**
 * Returns a function that logs such failures. One that continues in the same way is logged at once, and then every
 * minute.
 */
export function backgroundWarnings(log: Log): (failure: BackgroundFailure, message: string) => void {
  return (failure, message) => {
    const recentFailures = recentFailuresOf(log, message);
    const key = JSON.stringify([failure.hook, failure.id, String(failure.err)]);
    if (recentFailures.has(key)) return;
    recentFailures.set(key, true);
    log.warn(failure, message);
  };
}

/** Returns a function that logs that a connection could not be accepted (`PortErrors`). */
export function lostConnections(log: Log): (error: Error) => void {
  const warn = backgroundWarnings(log);
  return (err) => warn({ err }, 'a connection could not be accepted');
}

/** Deeper than any entry is nested. */
const MAX_DEPTH = 8;

/**
 * Replaces the values of secret names. Values with `toJSON` are left as they are; errors are serialized as errors under
 * any name.
 */
function withoutSecrets(value: unknown, depth = 0): unknown {
  if (!isObject(value) || ('toJSON' in value && typeof value.toJSON === 'function')) return value;
  if (depth === MAX_DEPTH) return HIDDEN;
  if (value instanceof Error)
    return withoutSecrets({ ...codesOf(value), ...pino.stdSerializers.err(value), ...completeMessage(value) }, depth + 1);
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, isSecret(name) ? HIDDEN : withoutSecrets(member, depth + 1)]),
  );
}

/** Returns the codes of the causes of an error, since pino only logs their messages and stacks. */
function codesOf(error: Error): Record<string, unknown> {
  const { cause } = error;
  if (!(cause instanceof Error)) return {};
  const codes = CODE_MEMBERS.flatMap((name): [string, unknown][] => (name in cause ? [[name, Reflect.get(cause, name)]] : []));
  return { ...codesOf(cause), ...Object.fromEntries(codes) };
}

/** The message of an error that already says that of its cause, which pino would add. */
const completeMessage = ({ message, cause }: Error): { readonly message?: string } =>
  cause instanceof Error && message.includes(cause.message) ? { message } : {};

const CODE_MEMBERS = ['code', 'errno', 'sqlState'];

/**
 * Whether a name is that of a secret, or of a member of one, in PHP's syntax: `password`, `password[]`,
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
 * Returns a URL for the log. Passwords and nonces in its query are hidden, however their names are encoded, and so are
 * user name and password before the host. URLs within its path or its values are treated in the same way.
 */
export const loggedUrl = (url: string): string => (MAY_HOLD_SECRETS.test(url) ? withoutSecretsIn(url, 0) : url);

/** Without one of these characters a URL has no query, no user, and no encoded parts. */
const MAY_HOLD_SECRETS = /[?#@%]/;

function withoutSecretsIn(url: string, depth: number): string {
  const [address = '', query] = splitAt(url, '?');
  const [path, fragment] = query === undefined ? splitAt(address, '#') : [address, undefined];
  const [pairs, hash] = query === undefined ? [undefined, fragment] : splitAt(query, '#');
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
    ...(hash === undefined ? [] : ['#', loggedPiece(hash, depth)]),
  ].join('');
}

function loggedPair(pair: string, depth: number): string {
  const [name = '', value] = splitAt(pair, '=');
  if (value === undefined) return loggedPiece(name, depth);
  return `${name}=${isSecret(decodePiece(name)) ? HIDDEN : loggedPiece(value, depth)}`;
}

/** Maximum depth of URLs within URLs. */
const MAX_NESTED_URLS = 4;

/** Returns a part of a URL for the log. The part may contain another URL, percent-encoded or not. */
function loggedPiece(piece: string, depth: number): string {
  const decodedPiece = decodePiece(piece);
  if (decodedPiece.includes('?') && depth === MAX_NESTED_URLS) return HIDDEN;
  const logged = decodedPiece.includes('?') ? withoutSecretsIn(decodedPiece, depth + 1) : withoutUser(decodedPiece);
  return logged === decodedPiece ? piece : logged.replaceAll('&', '%26').replaceAll('#', '%23');
}

/** Hides name and password in `scheme://name:password@host/...`. */
function withoutUser(path: string): string {
  const [scheme = '', rest] = splitAt(path, '//');
  if (rest === undefined) return path;
  const [authority = '', after] = splitAt(rest, '/');
  const at = authority.lastIndexOf('@');
  return `${scheme}//${at < 0 ? authority : HIDDEN + authority.slice(at)}${after === undefined ? '' : `/${after}`}`;
}

/** Splits a text at the first occurrence of a mark; without the mark, the second part is undefined. */
function splitAt(text: string, separator: string): [string, string | undefined] {
  const index = text.indexOf(separator);
  return index < 0 ? [text, undefined] : [text.slice(0, index), text.slice(index + separator.length)];
}

/** Decodes a part of a query as PHP does; invalid escapes are kept as they are. */
const decodePiece = (piece: string): string => percentDecode(piece.replaceAll('+', ' '));

import type { Database } from '../../src/storage/engine/database.ts';
import type { TableName } from '../../src/storage/engine/tables.ts';
import type { Answer } from '../support/running-site.ts';
import { feedFaults } from './feeds.ts';
import type { Sent } from './requests.ts';

/**
 * Traces of internals that no answer may show: call stacks, queries and their engines, files of the program, versions.
 */
const LEAKS: readonly RegExp[] = [
  /\bat (\S+ )?\(?(file:|node:|\/)\S+:\d+:\d+/,
  /node_modules|\.[cm]?[jt]s:\d+/,
  /SQLITE_[A-Z]+|\bER_[A-Z]+_|ECONN[A-Z]+|\bENOENT\b|\bE[A-Z]{4,}: /,
  /better-sqlite3|mysql2|\bknex\b|You have an error in your SQL syntax|no such (table|column)|\bsqlite/i,
  /TypeError|RangeError|ReferenceError|SyntaxError|is not a function|Cannot read propert|is not defined|is not iterable/,
  /fasti-(test|uploads)-/,
  new RegExp(process.version.replaceAll('.', '\\.')),
];

/** WordPress's refusal of an operation that a route does not support, such as a trash for terms. */
const NOT_MEANT = 501;

/** WordPress answers a file whose content does not match its type with 500, and so do we. */
const REFUSED_UPLOAD = /"code":"rest_upload_(unknown|sideload)_error"/;

/** All faults of an answer to any request. */
export function faultsOf(sent: Sent, answer: Answer): string[] {
  const { status, headers, text } = answer;
  if (status === 500 && REFUSED_UPLOAD.test(text)) return [];
  if (status >= 500 && status !== NOT_MEANT) return [`${status}`];
  const faults: string[] = [];
  const everything = `${Object.entries(headers)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join('\n')}\n${text}`;
  for (const leak of LEAKS) if (leak.test(everything)) faults.push(`shows ${leak.exec(everything)?.[0]}`);
  if ('x-powered-by' in headers || 'server' in headers) faults.push('names its program');
  if (status === 304 && text === '') return faults;
  if (!isPossible(status, sent)) faults.push(`${status}`);
  // Node's own refusal of a malformed request has no body.
  if ([400, 417, 431].includes(status) && text === '' && headers['x-request-id'] === undefined) return faults;
  if (text === '' && asksForHead(sent)) return faults;
  // Enveloped answers are the same, in an envelope.
  if (headers['content-encoding'] !== undefined) return faults;
  return [...faults, ...bodyFaults(answer)];
}

/** Whether a request may get this status. Only addresses that are not percent-encoded are redirected. */
const isPossible = (status: number, { path }: Sent): boolean =>
  (status >= 200 && status < 300) ||
  (status >= 400 && status < 500) ||
  status === NOT_MEANT ||
  (status === 308 && /[\x80-\xff]/.test(path));

/** Whether a request is a HEAD, or a POST that is treated as one. */
const asksForHead = ({ method, headers, path }: Sent) =>
  method === 'HEAD' || (method === 'POST' && (headers['X-HTTP-Method-Override'] === 'HEAD' || /[?&]_method=head\b/i.test(path)));

function bodyFaults({ status, headers, text, body }: Answer): string[] {
  const type = String(headers['content-type']);
  if (type.startsWith('application/javascript'))
    return /^\/\*\*\/[\w.]+\([^\u2028\u2029]*\)$/s.test(text) || isProblem(body, status) ? [] : ['no well-formed script'];
  const feed = feedFaults(type, text);
  if (feed) return feed;
  if (!/^application\/(ld\+)?json\b/.test(type)) return [`${status} of type ${type}`];
  if (body === undefined) return [`${status} without JSON`];
  if (status >= 400) return isProblem(body, status) ? [] : [`${status} not in the form of an error`];
  if (isObject(body) && Array.isArray(body.responses)) return body.responses.flatMap(faultsOfWrite);
  const enveloped = isObject(body) && typeof body.status === 'number' && isObject(body.headers) && 'body' in body ? body : undefined;
  if (!enveloped || (enveloped.status as number) < 400) return [];
  if (enveloped.status === 500 && REFUSED_UPLOAD.test(text)) return [];
  if ((enveloped.status as number) >= 500 && enveloped.status !== NOT_MEANT) return [`${enveloped.status as number} in an envelope`];
  return isProblem(enveloped.body, enveloped.status as number) ? [] : ['an envelope without the form of an error'];
}

/** Faults of the answer to one write of a batch; null if it was not run because others were refused. */
function faultsOfWrite(answer: unknown): string[] {
  if (answer === null) return [];
  const status = isObject(answer) ? Number(answer.status) : Number.NaN;
  if (!(status < 500 || status === NOT_MEANT)) return [`${status} in a batch`];
  return status < 400 || (isObject(answer) && isProblem(answer.body, status)) ? [] : ['a write of a batch without the form of an error'];
}

/** Errors without data: a refused function name, and, in `tec/v1`, a page after the last one. */
const WITHOUT_DATA: readonly unknown[] = ['rest_callback_invalid', 'tec_rest_organizers_page_not_found'];

/**
 * WordPress's form, `{code, message, data: {status}}`. The message is not merely the code. For a record that is gone or
 * unreadable, `tec/v1` sends only `{error}`.
 */
function isProblem(body: unknown, status: number): boolean {
  if (!isObject(body)) return false;
  const { code, message, data, error } = body;
  if ([404, 410].includes(status) && Object.keys(body).join() === 'error') return typeof error === 'string' && /\s/.test(error);
  const named = typeof code === 'string' && /^[\w-]+$/.test(code) && typeof message === 'string' && /\s/.test(message);
  return named && (WITHOUT_DATA.includes(code) ? data === undefined : isObject(data) && data.status === status);
}

const isObject = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === 'object' && !Array.isArray(value);

/** Whether a request must leave everything as it was: it was refused, or only read. */
export function mustNotWrite(sent: Sent, answer: Answer): boolean {
  const refused = answer.status >= 400 || Number((answer.body as { status?: unknown } | undefined)?.status) >= 400;
  return refused || !['POST', 'PUT', 'PATCH', 'DELETE'].includes(sent.method);
}

/** Tables that no request to the API writes: the steps of the schema, which only `fasti` itself takes. */
const NOT_COMPARED = ['fasti_migrations', 'fasti_migrations_lock'] satisfies TableName[];

/**
 * A cheap value for the present state of the whole database: SQLite counts the commits of other connections; MySQL
 * computes a sum over all rows of all tables. Two equal values mean that nothing was written between them.
 */
export function stateOf(db: Database): () => Promise<string> {
  if (db.dialect.name === 'sqlite') return async () => JSON.stringify(await db.knex.raw('PRAGMA data_version'));
  let query: Promise<string> | undefined;
  return async () => {
    query ??= checksumQuery(db);
    return JSON.stringify((await db.knex.raw(await query))[0]);
  };
}

async function checksumQuery(db: Database): Promise<string> {
  const tables = await db.rows<{ name: string }>`
    SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name`;
  const exceptions = NOT_COMPARED.map((name) => db.table(name));
  const compared = tables.filter(({ name }) => !exceptions.includes(name));
  return `CHECKSUM TABLE ${compared.map(({ name }) => `\`${name}\``).join(', ')}`;
}

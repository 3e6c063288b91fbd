import { unescape as percentDecode } from 'node:querystring';
import busboy from 'busboy';
import qs from 'qs';

/** Parameters as they came, by name. */
export type Raw = Readonly<Record<string, unknown>>;

/** What is wrong with a JSON body: PHP's `json_last_error()` and a name for the sentence about it (`json-depth`). */
export interface JsonFault {
  readonly code: 1 | 3 | 4 | 5 | 10;
  readonly reason: string;
}

/** The parameters in a body, by the way they were written; a fault of JSON is told later, in its turn. */
export interface Body {
  readonly json?: Raw;
  readonly form?: Raw;
  readonly fault?: JsonFault;
  /** Files in a multipart form, by the names of their fields. */
  readonly files?: ReadonlyMap<string, SentFile>;
  /** The body itself, where its type is none of these: it may be a file. */
  readonly bytes?: Buffer;
}

/** A file as it was sent. */
export interface SentFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** PHP's `json_decode` depth; `max_input_nesting_level` and `max_input_vars` in the range of PHP's defaults. */
const JSON_DEPTH = 512;
const FORM_DEPTH = 20;
const FORM_VARIABLES = 1000;

const NOTHING: Raw = Object.freeze({});

/**
 * A query, or a urlencoded body, as PHP reads it (`parse_str`): `a[]=1`, `a[k]=v`; of a plain name given twice the last one counts; what is no valid
 * percent escape stands for itself. Names of members that every object has are left out.
 */
export function parseQuery(text: string): Raw {
  return qs.parse(text, {
    depth: FORM_DEPTH,
    parameterLimit: FORM_VARIABLES,
    arrayLimit: FORM_VARIABLES,
    duplicates: 'last',
    decoder: (piece) => percentDecode(piece.replaceAll('+', ' ')),
  });
}

/** The parameters in a body: JSON, urlencoded or the fields of a multipart form; of any other type: none. */
export async function parseBody(body: Buffer, contentType: string | undefined): Promise<Body> {
  const type = (contentType ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (body.length === 0) return {};
  if (/^application\/([\w.!#$&^-]+\+)?json$/.test(type)) return parseJson(body);
  if (type === 'application/x-www-form-urlencoded') return { form: parseQuery(body.toString()) };
  if (type === 'multipart/form-data') return parseMultipart(body, contentType!);
  return {};
}

/**
 * One set of parameters (WordPress `WP_REST_Request::get_parameter_order`): JSON before form, before query. A form counts only with the methods
 * that have a body. The path's own parameters win over all of them (decision D6).
 */
export function mergeParams(sources: { query: Raw; body: Body; path: Raw; method: string }): Raw {
  const { query, body, path, method } = sources;
  const form = ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method) ? body.form : undefined;
  return Object.assign(Object.create(null) as Record<string, unknown>, query, form, body.json, path);
}

function parseJson(body: Buffer): Body {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return faulty(5, 'json-utf8');
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return error instanceof SyntaxError && /control character/i.test(error.message) ? faulty(3, 'json-control') : faulty(4, 'json-syntax');
  }
  return checkJson(value, 1) ?? { json: value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Raw) : NOTHING };
}

const faulty = (code: JsonFault['code'], reason: string): Body => ({ fault: { code, reason } });

/** Half a character, which neither PHP nor a database can hold. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** What PHP refuses though it is valid JSON; members named `__proto__` are taken out on the way. */
function checkJson(value: unknown, depth: number): Body | undefined {
  if (typeof value === 'string') return LONE_SURROGATE.test(value) ? faulty(10, 'json-utf16') : undefined;
  if (value === null || typeof value !== 'object') return undefined;
  if (depth > JSON_DEPTH) return faulty(1, 'json-depth');
  if (Object.hasOwn(value, '__proto__')) Reflect.deleteProperty(value, '__proto__');
  for (const [name, member] of Object.entries(value)) {
    const fault = (LONE_SURROGATE.test(name) ? faulty(10, 'json-utf16') : undefined) ?? checkJson(member, depth + 1);
    if (fault) return fault;
  }
  return undefined;
}

/** The text fields and the files of a form. What is broken ends the reading, as in PHP, and what came before counts. */
function parseMultipart(body: Buffer, contentType: string): Promise<Body> {
  return new Promise((resolve) => {
    const pairs: string[] = [];
    const files = new Map<string, SentFile>();
    const done = () => resolve({ form: parseQuery(pairs.join('&')), ...(files.size > 0 ? { files } : {}) });
    try {
      const form = busboy({
        headers: { 'content-type': contentType },
        limits: { fields: FORM_VARIABLES, fieldSize: Number.POSITIVE_INFINITY },
      });
      form.on('field', (name, value) => pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`));
      form.on('file', (field, file, { filename }) => {
        const chunks: Buffer[] = [];
        file.on('data', (chunk: Buffer) => chunks.push(chunk));
        file.on('error', () => chunks.splice(0));
        file.on('close', () => {
          if (!file.truncated && filename) files.set(field, { name: filename, bytes: Buffer.concat(chunks) });
        });
      });
      form.on('close', done);
      form.on('error', done);
      form.end(body);
    } catch {
      done();
    }
  });
}

/** The method that is meant: `_method` in the query, else the header, both on POST only (decision D40). */
export function overriddenMethod(method: string, query: Raw, header: string | undefined): string {
  if (method !== 'POST') return method;
  return (typeof query._method === 'string' ? query._method : (header ?? method)).toUpperCase();
}

import { isUtf8 } from 'node:buffer';
import { unescape as percentDecode } from 'node:querystring';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import busboy from 'busboy';
import qs from 'qs';
import { fail } from '../errors.ts';
import { type JsonFault, parseJson } from '../wordpress/json.ts';

/** Parameters as they came, by name. */
export type Raw = Readonly<Record<string, unknown>>;

/** The parameters in a body, by the way they were written; a fault of JSON is reported later, in its turn. */
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

/** What a multipart form may hold: how many bytes of text fields, and whether files are of interest at all. */
export interface FormLimits {
  readonly fieldBytes: number;
  readonly files: boolean;
}

/** How a body is written. */
export type BodyType = 'json' | 'form' | 'multipart' | 'other';

/** `max_input_nesting_level`, `max_input_vars` and `max_file_uploads` in the range of PHP's defaults. */
const FORM_DEPTH = 20;
const FORM_VARIABLES = 1000;
const FORM_FILES = 20;
/** Values in a JSON body, in all. A thousand links of each kind, as long as the longest lists, are some thousands. */
const JSON_VALUES = 50_000;
/**
 * A multipart form is parsed in pieces of this many bytes, so that one with too many parts is not parsed to its end.
 */
const PIECE_BYTES = 65_536;

/** What stands for bytes that are no character. */
const REPLACEMENT = '\ufffd';

const NOTHING: Raw = Object.freeze({});

/**
 * A query, or a urlencoded body, as PHP reads it (`parse_str`): `a[]=1`, `a[k]=v`; of a plain name given twice the last
 * one counts; what is no valid percent escape stands for itself. Names of members that every object has are left out.
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

/**
 * Whether what a query or a urlencoded body (`latin1`: its bytes, one character each) says is UTF-8, percent escapes
 * included. Bytes that are not would be stored as U+FFFD, and what they meant would be lost.
 */
export const isUtf8Form = (latin1: string): boolean =>
  isUtf8(
    Buffer.from(
      latin1.replace(/%([\da-f]{2})/gi, (_, byte: string) => String.fromCharCode(Number.parseInt(byte, 16))),
      'latin1',
    ),
  );

/** How the body of a request with this `Content-Type` is written. */
export function bodyTypeOf(contentType: string | undefined): BodyType {
  const type = (contentType ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (/^application\/([\w.!#$&^-]+\+)?json$/.test(type)) return 'json';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  return type === 'multipart/form-data' ? 'multipart' : 'other';
}

/**
 * The parameters in a body: JSON, urlencoded or the fields of a multipart form; of any other type: none.
 *
 * @throws body-too-complex, body-too-large where its texts are too long together, form-not-utf8
 */
export async function parseBody(body: Buffer, contentType: string | undefined, limits: FormLimits): Promise<Body> {
  if (body.length === 0) return {};
  switch (bodyTypeOf(contentType)) {
    case 'json':
      return jsonBody(body);
    case 'form':
      return formBody(body);
    case 'multipart':
      return parseMultipart(body, contentType!, limits);
    case 'other':
      return {};
  }
}

/**
 * One set of parameters (WordPress `WP_REST_Request::get_parameter_order`): JSON before form, before query. A form
 * counts only with the methods that have a body. The path's own parameters win over all of them (decision D6).
 */
export function mergeParams(sources: { query: Raw; body: Body; path: Raw; method: string }): Raw {
  const { query, body, path, method } = sources;
  const form = ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method) ? body.form : undefined;
  return Object.assign(Object.create(null) as Record<string, unknown>, query, form, body.json, path);
}

function jsonBody(body: Buffer): Body {
  const reading = parseJson(body, JSON_VALUES);
  if ('fault' in reading)
    return reading.fault === 'too-many' ? fail('body-too-complex', { detail: { values: JSON_VALUES } }) : { fault: reading.fault };
  const { value } = reading;
  return { json: value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Raw) : NOTHING };
}

/** A query is cut after as many variables, as in PHP; of a body nothing is lost silently. */
function formBody(body: Buffer): Body {
  if (!isUtf8Form(body.toString('latin1'))) fail('form-not-utf8');
  const text = body.toString();
  let variables = 1;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) variables += 1;
  return variables > FORM_VARIABLES ? fail('body-too-complex', { detail: { variables } }) : { form: parseQuery(text) };
}

/** The text fields and the files of a form. What is broken ends the reading, as in PHP, and what came before counts. */
async function parseMultipart(body: Buffer, contentType: string, { fieldBytes, files: wanted }: FormLimits): Promise<Body> {
  const pairs: string[] = [];
  const files = new Map<string, SentFile>();
  let room = fieldBytes;
  let excess: 'body-too-complex' | 'body-too-large' | undefined;
  let isMangled = false;
  const pieces = function* () {
    for (let at = 0; at < body.length && excess === undefined; at += PIECE_BYTES) yield body.subarray(at, at + PIECE_BYTES);
  };
  try {
    const form = busboy({
      headers: { 'content-type': contentType },
      // Browsers and PHP write names of fields and files so; without this they are taken for Latin-1.
      defParamCharset: 'utf8',
      limits: { fields: FORM_VARIABLES, files: FORM_FILES, parts: FORM_VARIABLES + FORM_FILES, fieldSize: fieldBytes },
    });
    form.on('field', (name, value, { valueTruncated }) => {
      if (!name) return;
      isMangled ||= `${name}${value}`.includes(REPLACEMENT);
      room -= Buffer.byteLength(name) + Buffer.byteLength(value);
      if (room < 0 || valueTruncated) excess ??= 'body-too-large';
      else pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
    });
    if (wanted) {
      form.on('file', (field, file, { filename }) => {
        const chunks: Buffer[] = [];
        file.on('data', (chunk: Buffer) => chunks.push(chunk));
        file.on('error', () => chunks.splice(0));
        file.on('close', () => {
          if (!file.truncated && field && filename) files.set(field, { name: filename, bytes: Buffer.concat(chunks) });
        });
      });
    }
    for (const limit of ['fieldsLimit', 'filesLimit', 'partsLimit'] as const) {
      form.on(limit, () => {
        excess ??= 'body-too-complex';
      });
    }
    await pipeline(Readable.from(pieces()), form);
  } catch {
    // What came before the fault counts.
  }
  if (excess !== undefined) fail(excess, { detail: { limit: fieldBytes } });
  // The parser has put the sign there, unless the form says it itself.
  if (isMangled && !body.includes(REPLACEMENT)) fail('form-not-utf8');
  return { form: parseQuery(pairs.join('&')), ...(files.size > 0 ? { files } : {}) };
}

/** The method that is meant: `_method` in the query, else the header, both on POST only (decision D40). */
export function overriddenMethod(method: string, query: Raw, header: string | undefined): string {
  if (method !== 'POST') return method;
  return (typeof query._method === 'string' ? query._method : (header ?? method)).toUpperCase();
}

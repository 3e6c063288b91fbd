import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import busboy from 'busboy';
import { fail } from '../errors.ts';
import { isRecord } from '../objects.ts';
import { type JsonFault, parseJson } from '../wordpress/json.ts';
import { parsePhpQuery } from '../wordpress/php/query.ts';

/** Unparsed parameters by name. */
export type RawParams = Readonly<Record<string, unknown>>;

/** The parameters in a body, by format. An error in JSON is reported later, in the order of checks. */
export interface Body {
  readonly json?: RawParams;
  readonly form?: RawParams;
  readonly fault?: JsonFault;
  /** Files in a multipart form, by field name. */
  readonly files?: ReadonlyMap<string, SentFile>;
  /** The raw body if it has another type; it may be a file. */
  readonly bytes?: Buffer;
}

/** A file as it was sent. */
export interface SentFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Limits of a multipart form: bytes of its text fields, and whether files are read at all. */
export interface FormLimits {
  readonly fieldBytes: number;
  readonly files: boolean;
}

/** Format of a body. */
export type BodyType = 'json' | 'form' | 'multipart' | 'other';

/** `max_input_nesting_level`, `max_input_vars` and `max_file_uploads`, close to PHP's defaults. */
const MAX_FORM_DEPTH = 20;
const MAX_FORM_VARIABLES = 1000;
const MAX_FORM_FILES = 20;
/**
 * Maximum number of values in a JSON body. A thousand links of each kind, the longest lists allowed, come to a few
 * thousand.
 */
const MAX_JSON_VALUES = 50_000;
/** A multipart form is parsed in chunks of this many bytes, so that parsing can stop early if it has too many parts. */
const CHUNK_BYTES = 65_536;

/** The replacement character, which decoders insert for invalid bytes. */
const REPLACEMENT_CHARACTER = '\ufffd';

const NO_PARAMS: RawParams = Object.freeze({});

/** Parses a query or a urlencoded body as PHP does. */
export const parseQuery = (text: string): RawParams => parsePhpQuery(text, { variables: MAX_FORM_VARIABLES, depth: MAX_FORM_DEPTH });

/**
 * Whether a query or a urlencoded body, percent escapes included, is UTF-8. `latin1` holds its bytes, one character
 * each. Invalid bytes would be stored as U+FFFD, and their meaning would be lost.
 */
export const isUtf8Form = (latin1: string): boolean =>
  isUtf8(
    Buffer.from(
      latin1.replace(/%([\da-f]{2})/gi, (_, byte: string) => String.fromCharCode(Number.parseInt(byte, 16))),
      'latin1',
    ),
  );

/**
 * Returns the format of a body with this `Content-Type`. Without one, or with one that is no media type, it is a form
 * if the intended method is PUT, PATCH or DELETE, even if it looks like JSON
 * (`WP_REST_Request::parse_body_params`). PHP itself reads forms of POST requests, and only with their type. A type
 * that was sent twice, or whose parameters follow without a semicolon, is understood as by `wp_is_json_media_type` and
 * PHP.
 */
export function bodyTypeOf(contentType: string | undefined, method = 'POST'): BodyType {
  const type = (contentType ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (!type.includes('/')) return ['PUT', 'PATCH', 'DELETE'].includes(method) ? 'form' : 'other';
  if (/(?:^|[\s,])application\/(?:[\w.!#$&^-]+\+)?json(?:$|[\s,])/.test(type)) return 'json';
  if (/^application\/x-www-form-urlencoded(?:$|[\s,])/.test(type)) return 'form';
  return type === 'multipart/form-data' ? 'multipart' : 'other';
}

/**
 * Parses the parameters in a body: JSON, urlencoded or the fields of a multipart form. A body of another type has none.
 * `method`: the intended one, as for `bodyTypeOf`.
 *
 * @throws body-too-complex, body-too-large if its text fields are too long together, form-not-utf8
 */
export async function parseBody(body: Buffer, contentType: string | undefined, limits: FormLimits, method = 'POST'): Promise<Body> {
  if (body.length === 0) return {};
  switch (bodyTypeOf(contentType, method)) {
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
 * Merges all parameters (WordPress `WP_REST_Request::get_parameter_order`): JSON overrides form, form overrides query.
 * A form counts only with methods that have a body. Parameters of the path override all others (decision D6).
 */
export function mergeParams(sources: { query: RawParams; body: Body; path: RawParams; method: string }): RawParams {
  const { query, body, path, method } = sources;
  const form = ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method) ? body.form : undefined;
  return Object.assign(Object.create(null) as Record<string, unknown>, query, form, body.json, path);
}

function jsonBody(body: Buffer): Body {
  const reading = parseJson(body, MAX_JSON_VALUES);
  if ('fault' in reading)
    return reading.fault === 'too-many' ? fail('body-too-complex', { detail: { values: MAX_JSON_VALUES } }) : { fault: reading.fault };
  const { value } = reading;
  return { json: isRecord(value) ? (value as RawParams) : NO_PARAMS };
}

/**
 * Parses a urlencoded body. A query is cut after `MAX_FORM_VARIABLES`, as in PHP; a body with more variables is
 * refused, so that none is dropped silently.
 */
function formBody(body: Buffer): Body {
  if (!isUtf8Form(body.toString('latin1'))) fail('form-not-utf8');
  const text = body.toString();
  let variables = 1;
  for (let index = text.indexOf('&'); index >= 0; index = text.indexOf('&', index + 1)) variables += 1;
  return variables > MAX_FORM_VARIABLES ? fail('body-too-complex', { detail: { variables } }) : { form: parseQuery(text) };
}

/**
 * Parses the text fields and the files of a multipart form. As in PHP, parsing stops at the first malformed part, and
 * the parts before it count.
 */
async function parseMultipart(body: Buffer, contentType: string, { fieldBytes, files: takesFiles }: FormLimits): Promise<Body> {
  const pairs: string[] = [];
  const files = new Map<string, SentFile>();
  let room = fieldBytes;
  let excess: 'body-too-complex' | 'body-too-large' | undefined;
  let replaced = 0;
  const bodyChunks = function* () {
    for (let offset = 0; offset < body.length && excess === undefined; offset += CHUNK_BYTES)
      yield body.subarray(offset, offset + CHUNK_BYTES);
  };
  try {
    const form = busboy({
      headers: { 'content-type': contentType },
      // Browsers and PHP write field names and file names in UTF-8; the parser's default is Latin-1.
      defParamCharset: 'utf8',
      limits: { fields: MAX_FORM_VARIABLES, files: MAX_FORM_FILES, parts: MAX_FORM_VARIABLES + MAX_FORM_FILES, fieldSize: fieldBytes },
    });
    form.on('field', (name, value, { valueTruncated }) => {
      if (!name) return;
      replaced += `${name}${value}`.split(REPLACEMENT_CHARACTER).length - 1;
      room -= Buffer.byteLength(name) + Buffer.byteLength(value);
      if (room < 0 || valueTruncated) excess ??= 'body-too-large';
      else pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
    });
    if (takesFiles) {
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
    await pipeline(Readable.from(bodyChunks()), form);
  } catch {
    // The parts before the malformed one count.
  }
  if (excess !== undefined) fail(excess, { detail: { limit: fieldBytes } });
  // The parser inserts the replacement character for invalid bytes. The form itself may contain it, too.
  if (replaced > countOccurrences(body, REPLACEMENT_CHARACTER)) fail('form-not-utf8');
  return { form: parseQuery(pairs.join('&')), ...(files.size > 0 ? { files } : {}) };
}

/** Counts the occurrences of a text. */
function countOccurrences(body: Buffer, text: string): number {
  let count = 0;
  for (let index = body.indexOf(text); index >= 0; index = body.indexOf(text, index + 1)) count += 1;
  return count;
}

/** Returns the intended method: `_method` in the query, otherwise the header; both on POST only (decision D40). */
export function overriddenMethod(method: string, query: RawParams, header: string | undefined): string {
  if (method !== 'POST') return method;
  return (typeof query._method === 'string' ? query._method : (header ?? method)).toUpperCase();
}

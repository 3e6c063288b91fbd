import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { fail } from '../errors.ts';
import { percentDecoded } from '../wordpress/web-url.ts';
import type { RequestHead } from './head.ts';
import type { Body, SentFile } from './input.ts';

/** An uploaded file in a request: the field `file` of a form, or the body, with headers that describe it. */
export interface Upload {
  readonly file?: SentFile | undefined;
  readonly body?: Buffer | undefined;
  /** Whether the body is empty. */
  readonly isEmpty: boolean;
  readonly type: string | undefined;
  readonly disposition: string | undefined;
  /** `Content-MD5`, in hexadecimal digits. */
  readonly digest: string | undefined;
}

/** Collects the parts of a request that concern an uploaded file. */
export const uploadIn = (req: Pick<RequestHead, 'get'>, body: Body): Upload => ({
  file: body.files?.get('file'),
  body: body.bytes,
  isEmpty: Object.keys(body).length === 0,
  type: req.get('content-type'),
  disposition: req.get('content-disposition'),
  digest: req.get('content-md5'),
});

/**
 * Returns the uploaded file (`WP_REST_Attachments_Controller::upload_from_file`, `upload_from_data`).
 *
 * @throws rest_upload_no_data, rest_upload_no_content_type, rest_upload_no_content_disposition,
 * rest_upload_invalid_disposition, rest_upload_hash_mismatch; raw-upload-refused for another body, such as JSON
 */
export function sentFile({ file, body, isEmpty, type, disposition, digest }: Upload): SentFile & { readonly raw?: true } {
  if (file) return checkDigest(file, digest);
  if (isEmpty || /^multipart\//i.test(type ?? '')) return fail('rest_upload_no_data');
  if (!type) return fail('rest_upload_no_content_type');
  if (!disposition) return fail('rest_upload_no_content_disposition');
  const name = fileNameIn(disposition);
  if (!name) return fail('rest_upload_invalid_disposition');
  return { ...checkDigest({ name, bytes: body ?? fail('raw-upload-refused') }, digest), raw: true };
}

function checkDigest(file: SentFile, digest: string | undefined): SentFile {
  const fileDigest = digest === undefined ? undefined : createHash('md5').update(file.bytes).digest('hex');
  return fileDigest === digest?.trim().toLowerCase() ? file : fail('rest_upload_hash_mismatch');
}

/**
 * Decodes a header as UTF-8 if possible. Node decodes headers as Latin-1, but programs send UTF-8, which PHP keeps as
 * it is.
 */
function utf8Text(header: string): string {
  const bytes = Buffer.from(header, 'latin1');
  return /^[\0-\xff]*$/.test(header) && isUtf8(bytes) ? bytes.toString('utf8') : header;
}

/**
 * Returns the name in the header `attachment; filename="image.png"`, also in the form of RFC 8187; undefined or empty
 * if there is none.
 */
export function fileNameIn(disposition: string | undefined): string | undefined {
  const parts = utf8Text(disposition ?? '')
    .split(';')
    .slice(1)
    .join(';');
  const extended = /(?:^|;)\s*filename\*\s*=\s*utf-8'[^']*'([^;]+)/i.exec(parts)?.[1]?.trim();
  if (extended !== undefined) return percentDecoded(extended);
  const match = /(?:^|;)\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))/i.exec(parts);
  return (match?.[1]?.replace(/\\(.)/g, '$1') ?? match?.[2])?.trim() || undefined;
}

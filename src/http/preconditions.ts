import type { IncomingHttpHeaders } from 'node:http';
import { parseTags } from '../records/versions.ts';
import type { Preconditions } from '../wordpress/record-version.ts';

/**
 * Reads the preconditions in the headers of a write (RFC 9110, 13.1); undefined if there are none. An invalid date is
 * ignored, as the RFC requires.
 */
export function preconditionsOf(headers: IncomingHttpHeaders): Preconditions | undefined {
  const { 'if-match': match, 'if-none-match': noneMatch, 'if-unmodified-since': since } = headers;
  const time = since !== undefined && HTTP_DATE.test(since) ? Date.parse(since) : Number.NaN;
  const conditions: Preconditions = {
    ...(match === undefined ? {} : { match: parseTags(match) }),
    // `If-None-Match` uses the weak comparison.
    ...(noneMatch === undefined ? {} : { noneMatch: parseTags(noneMatch.replaceAll('W/"', '"')) }),
    ...(Number.isNaN(time) ? {} : { unmodifiedSince: time }),
  };
  return Object.keys(conditions).length > 0 ? conditions : undefined;
}

/** Matches the weekday at the start of all three HTTP date formats. */
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/;

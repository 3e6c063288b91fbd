/** Headers of an answer that a script may read (decision D26) and of a request that it may send. */
const EXPOSED =
  'X-WP-Total, X-WP-TotalPages, X-TEC-Total, X-TEC-TotalPages, Link, Location, ETag, Last-Modified, Idempotency-Replayed, Retry-After, X-Fasti-Warning';
const ALLOWED = [
  'Authorization, X-WP-Nonce, Content-Disposition, Content-MD5, Content-Type',
  'If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, Idempotency-Key, Last-Event-ID, X-TEC-EEA',
].join(', ');

/**
 * What pages of other origins may do (`rest_send_cors_headers`). Every origin is served, as in WordPress: a cookie
 * counts only with a nonce, which pages of other origins can't get.
 */
export function corsHeaders(origin: string | undefined): Record<string, string> {
  return {
    'Access-Control-Expose-Headers': EXPOSED,
    'Access-Control-Allow-Headers': ALLOWED,
    ...(origin === undefined
      ? {}
      : {
          'Access-Control-Allow-Origin': origin,
          'Access-Control-Allow-Methods': 'OPTIONS, GET, POST, PUT, PATCH, DELETE',
          'Access-Control-Allow-Credentials': 'true',
        }),
  };
}

/** Response headers that scripts may read (decision D26); below, request headers that they may send. */
const EXPOSED_HEADERS =
  'X-WP-Total, X-WP-TotalPages, X-TEC-Total, X-TEC-TotalPages, Link, Location, ETag, Last-Modified, Idempotency-Replayed, Retry-After, X-Fasti-Warning';
const ALLOWED_HEADERS = [
  'Authorization, X-WP-Nonce, Content-Disposition, Content-MD5, Content-Type',
  'If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, Idempotency-Key, Last-Event-ID, X-TEC-EEA',
].join(', ');

/**
 * Returns the CORS headers for an origin (`rest_send_cors_headers`). Every origin is allowed, as in WordPress: a cookie
 * counts only with a nonce, which pages of other origins cannot get.
 */
export function corsHeaders(origin: string | undefined): Record<string, string> {
  return {
    'Access-Control-Expose-Headers': EXPOSED_HEADERS,
    'Access-Control-Allow-Headers': ALLOWED_HEADERS,
    ...(origin === undefined
      ? {}
      : {
          'Access-Control-Allow-Origin': origin,
          'Access-Control-Allow-Methods': 'OPTIONS, GET, POST, PUT, PATCH, DELETE',
          'Access-Control-Allow-Credentials': 'true',
        }),
  };
}

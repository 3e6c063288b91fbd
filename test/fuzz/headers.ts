import fc, { type Arbitrary } from 'fast-check';
import { often } from './values.ts';

const header = (name: string, ...values: string[]): Arbitrary<Record<string, string>> =>
  fc.constantFrom(...values).map((value) => ({ [name]: value }));

/** Wrong credentials are counted by address, so each comes from another one. */
const wrongCredentials = fc
  .tuple(
    fc.constantFrom(
      'Basic',
      'Basic ',
      'Basic !!!',
      'Basic OjpAOg==',
      `Basic ${btoa('admin:wrong')}`,
      `Basic ${btoa('admin:')}`,
      `Basic ${btoa("' OR 1=1 -- :x")}`,
      `Basic ${btoa('\0:\0')}`,
      `Basic ${btoa('admin:'.repeat(800))}`,
      `Basic ${Buffer.from('\u00ff\u00fe:x', 'latin1').toString('base64')}`,
      'Bearer x.y.z',
      'Digest username="admin"',
      '\u00e9',
      'Basic Basic YQ==',
      `basic  ${btoa('nobody@example.test:snjQ 49AF')}`,
    ),
    fc.integer({ min: 1, max: 0xff_ff_ff }),
  )
  .map(([authorization, number]) => ({
    Authorization: authorization,
    'X-Forwarded-For': `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`,
  }));

export const strangeHeaders: Arbitrary<Record<string, string>> = fc
  .array(
    fc.oneof(
      header('Accept-Language', 'it', 'it-IT,it;q=0.9', '*', ';;;', 'q=1', 'xx,'.repeat(500), '__proto__', 'en;q=abc', '\u00e9'),
      header('Accept-Encoding', 'gzip', 'br', '*', 'identity;q=0', 'deflate, gzip;q=2', ';', 'x'.repeat(3000)),
      header('Accept', 'text/html', '*/*;q=0', 'x'),
      header('Origin', 'null', 'http://evil.test', 'javascript:alert(1)', 'x'.repeat(2000), '\u00e9', 'http://[', '"><script>'),
      header(
        'Cookie',
        'a',
        '=',
        'a=b; a=c',
        'wordpress_logged_in_x=admin|1|x|y',
        'wordpress_logged_in_0=%zz%7C',
        `${'a=b;'.repeat(900)}`,
        '__proto__=1',
      ),
      header('X-WP-Nonce', 'abc', '', '0'.repeat(3000), '\u00e9'),
      header('X-HTTP-Method-Override', 'DELETE', 'PATCH', 'delete', 'FOO', 'GET', 'HEAD', 'OPTIONS', '__proto__', ''),
      header('If-None-Match', '*', '"x"', 'W/"x"', '"'),
      header('If-Match', '*', '"x"', 'W/"x"', '"', '', ',,,', `"${'a'.repeat(3000)}"`, `"${'0'.repeat(20)}"`),
      header('If-Unmodified-Since', 'Mon', 'Thu, 01 Jan 1970 00:00:00 GMT', 'Thu, 01 Jan 2099 00:00:00 GMT', '1'),
      header('Idempotency-Key', '', '"', '"k"', 'k', 'a, b', '\u00e9', 'x'.repeat(3000), '__proto__', "' OR 1=1 --"),
      header('If-Modified-Since', 'yesterday', 'Thu, 01 Jan 2099 00:00:00 GMT'),
      header('Range', 'bytes=0-0', 'bytes=-1', 'x'),
      header('Host', 'evil.test', 'a"b', '[::1', '127.0.0.1:99999', '../..', 'x'.repeat(300)),
      header('X-Forwarded-Proto', 'https', 'javascript'),
      header('X-Forwarded-Host', 'evil.test', '"'),
      header('X-Forwarded-For', 'garbage', '::1', '1.2.3.4, 5.6.7.8', ','.repeat(1000)),
      header('Content-Encoding', 'gzip', 'br', 'x'),
      header('Idempotency-Key', 'a', '', "' OR 1=1"),
      header('If-Match', '*', '"x"'),
      header('X-TEC-EEA', '', 'no', 'x'.repeat(2000)),
      header('X-Request-Id', '"\\', 'x'.repeat(1000)),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .chain((headers) =>
    often(12, fc.constant({}), wrongCredentials).map((credentials) => Object.assign({}, ...headers, credentials) as Record<string, string>),
  );

import fc, { type Arbitrary } from 'fast-check';
import { ASKED_NAMES } from './asked-names.ts';
import { INHERITED } from './inherited.ts';
import type { Json, Pairs } from './json.ts';

/** Parts of which texts with a special meaning are composed: markup, SQL, patterns, paths, control characters. */
// biome-ignore format: pieces
const PIECES = [
  '<', '>', '</', '/>', '"', "'", '&', '&amp;', '&#x3c;', '&#0;', '&#55296;', '<p>', '</div>', '<script>', '<a href=', 'javascript:',
  'style=', '<!--', '-->', '<![CDATA[', '<!-- wp:paragraph -->', '<!-- wp:gallery {"ids":[10,', '} /-->', '<!-- /wp:paragraph -->', '[',
  ']', '[gallery ids="10,11"]', '[/caption]', '[caption id=1]', '[embed]', '{', '}', '\\', '%', '_', '%s', '%1$s', '%00', '{{name}}',
  '$t(', '$&', '$1', '--', ' -- ', ';', '/*', '*/', '`', '(', ')', '||', ' OR 1=1', 'UNION SELECT', 'SLEEP(1)', '?', '??', ':name', '\0',
  '\u0001', '\u001f', '\u007f', '\u0085', '\u2028', '\u2029', '\ufeff', '\u202e', '\t', '\n', '\r\n', '\u00a0', ' ', '\ud800', '\udfff',
  '😀', '👩‍👩‍👧', 'e\u0301', 'é', 'İ', 'ß', 'ﬁ', '日本', 'ا', '١٢', '__proto__', 'constructor', 'toString', 'polluted', '../', '..%2f',
  '/etc/passwd', 'http://127.0.0.1/', '://', '@', '#', ',', '.', '...', "'s", '1', '0', '-', '+', 'e', '1e', ':)', '8-)', 'AT&T', '3x4',
  'word',
];

/** Complete texts with a special meaning. */
// biome-ignore format: texts
const TEXTS = [
  '', ' ', '0', '00', '-0', '1', '-1', '+1', '1.5', '1.', '.5', '1e3', '1e309', '-1e309', '0x1F', '0b11', '1_000', ' 12 ', '12abc', '１２',
  '2147483648', '9007199254740993', '18446744073709551616', '99999999999999999999999999', 'NaN', 'Infinity', '-Infinity', 'null',
  'undefined', 'true', 'false', 'True', 'yes', 'no', 'on', 'off', 'none', '[]', '{}', '[object Object]', 'Array', 'N;', 'a:1:{i:0;i:1;}',
  'O:8:"stdClass":0:{}', "' OR '1'='1", "1' AND SLEEP(1)#", '1) UNION SELECT user_pass FROM wp_users -- ', '(SELECT 1)',
  'ID; DROP TABLE wp_posts', 'post_title ASC, (SELECT 1)', '\\', "\\'", '%', '_', '\\%', '%%%', '1,2,3', ',', ',,', '1,', 'a,b',
  '10,11,0', '\0', 'a\0b', '\ud800', 'a\udfffb', '\u0000\u0001\u0002', '\u202eabc', '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>', '"><svg onload=alert(1)>', 'javascript:alert(1)', '{{constructor.constructor("x")()}}', '#{7*7}',
  '$t(problems:rest_no_route)', ...INHERITED, 'prototype', 'publish', 'draft', 'pending',
  'private', 'future', 'trash', 'inherit', 'auto-draft', 'any', 'publish,draft', 'admin', 'Rome', 'Konzert', 'concert', 'Free', '10',
  '10 - 20', '€ 1.234,56', '$5-$10', 'free, 10',
];

// biome-ignore format: dates
export const DATES = [
  '2031-05-01 20:00:00', '2031-05-01', '2031-05-01 20:00', '2031-05-01T20:00:00+02:00', '2031-05-01T20:00:00Z', '05/01/2031', '1.5.2031',
  '1 May 2031', 'May 1, 2031 8pm', 'tomorrow', 'today', 'yesterday noon', 'now', 'midnight', '+1 week', '-3 days',
  '+1 week 2 days 4 hours 2 seconds', 'first monday of january 2032', 'last day of february 2031', 'next friday 18:00',
  'last sat of July 2031', 'monday next week', 'third thursday of november', 'back of 7pm', 'front of 5am', '2031W05', '2031-W05-2',
  '2031.123', '2031121', '20310501', '20310501T200000', '20310501202020', '@0', '@1900000000', '@-1', '@1900000000.5', '@99999999999999',
  '@-99999999999999', '1900000000', '-62135596801', '253402300800', '1e10', '0000-00-00 00:00:00', '0000-01-01', '0001-01-01',
  '1000-01-01 00:00:00', '9999-12-31 23:59:59', '10000-01-01', '-0001-01-01', '99999-01-01', '2031-02-30', '2031-13-01', '2031-00-10',
  '2031-05-01 24:00:00', '2031-05-01 25:00', '2031-05-01 23:59:60', '2031-03-30 02:30:00', '2031-10-26 02:30:00', '+999999 years',
  '-9999 years', '+99999999999999999999 days', '2031-05-01 20:00:00 Europe/Rome', '2031-05-01 20:00 EST', '2031-05-01 20:00 GMT+25',
  'noon', 'Sat', 'eighth day', '+1 fortnight', '1 sat ago', 'P1D', '2031-05', '2031', '20:00', '8pm', '٢٠٣١-٠٥-٠١',
  '2031-05-01 20:00:00.123456', '2031-05-01\0', ' 2031-05-01 ',
];

// biome-ignore format: pieces
export const DATE_PIECES = [
  '2031', '-', '/', '.', ' ', ':', '+', '@', 'T', 'Z', 'W', '5', '05', '31', '24', '60', '999999999', 'monday', 'first', 'last', 'next',
  'of', 'day', 'weekdays', 'ago', 'year', 'sec', 'noon', 'am', 'pm', 'May', 'Europe/Rome', 'utc', '+02:00', '(', ')', ',', '1e5', '\0',
  'ſat',
];

// biome-ignore format: names
export const ZONES = [
  'Europe/Rome', 'europe/rome', 'America/New_York', 'UTC', 'UTC+2', 'UTC+5.5', 'UTC-14', '+02:00', '-0530', '+14:00', '+15:00', '+99:99',
  'EST', 'CEST', 'Z', 'GMT', 'Etc/GMT+12', 'Asia/Kathmandu', 'Mars/Base', 'Europe/', '../../etc/passwd', 'UTC+', 'localtime',
];

/** None of these URLs leads anywhere: addresses of this machine and of private networks, and the site itself. */
// biome-ignore format: addresses
export const URLS = [
  'http://127.0.0.1/x.png', 'http://127.0.0.1:1/x.png', 'http://[::1]/x.png', 'http://[::ffff:10.0.0.1]/',
  'http://169.254.169.254/latest/meta-data', 'http://10.0.0.1/a.jpg', 'http://0x7f000001/', 'http://2130706433/', 'http://0/',
  'http://127.1/x.png', 'http://user:pass@127.0.0.1/', 'http://127.0.0.1:8081/wp-content/uploads/tiny.png',
  '/wp-content/uploads/tiny.png', 'http://127.0.0.1:8081/wp-content/uploads/../../x', 'https://127.0.0.1:99999/', 'http://', 'http:///',
  '//127.0.0.1/x', 'ftp://127.0.0.1/x', 'file:///etc/passwd', 'data:image/png;base64,AAAA', 'javascript:alert(1)', 'http://127.0.0.1/%zz',
  'http://127.0.0.1/\u00e9 b', 'http://[', 'www.example.test', 'example.test/a b', 'mailto:a@example.test', 'HTTP://127.0.0.1/A',
];

// biome-ignore format: keys
const KEYS = [
  ...INHERITED, 'prototype', 'id', 'ID', 'slug', 'name', 'venue', 'organizer', 'title', 'polluted', 'length', 'then', 'toJSON', '', '0', '1', '-1', 'a[b]', 'date', 'image', 'status', 'parent', '\0',
];

/** Mostly the first, once in `weight + 1` times the other. */
export const often = <A, B>(weight: number, usual: Arbitrary<A>, other: Arbitrary<B>): Arbitrary<A | B> =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: other });

const long = fc
  .tuple(
    fc.constantFrom(...PIECES, 'a', 'a b ', '9', '\n\n', '<b>', '[a ', '&', 'a@', '&#', 'http://a.b/ '),
    fc.constantFrom(201, 256, 1000, 3000, 12_000, 66_000),
  )
  .map(([piece, length]) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length));
const pieced = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 12 }).map((pieces) => pieces.join(''));

/**
 * Any text: known troublemakers, mixtures of meaningful parts, random characters, and occasionally a very long text.
 */
export const text: Arbitrary<string> = fc.oneof(
  { weight: 60, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 50, arbitrary: pieced },
  { weight: 15, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
  { weight: 15, arbitrary: fc.string({ unit: 'grapheme', maxLength: 30 }) },
  { weight: 20, arbitrary: fc.oneof(fc.constantFrom(...DATES), fc.constantFrom(...ZONES), fc.constantFrom(...URLS)) },
  { weight: 3, arbitrary: long },
);

export const number: Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    0,
    -0,
    1,
    -1,
    1.5,
    1e21,
    1e308,
    5e-324,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    2 ** 31,
    2 ** 53,
    2 ** 63,
    10n ** 25n,
    -(10n ** 400n),
  ),
  fc.integer(),
  fc.double({ noNaN: true }),
);

/** Any JSON value, mostly small, sometimes deep. */
export const json: Arbitrary<Json> = fc.letrec<{ value: Json; list: Json; object: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    { weight: 60, arbitrary: text },
    { weight: 30, arbitrary: number },
    { weight: 20, arbitrary: fc.constantFrom<Json>(null, true, false, [], { pairs: [] }) },
    { weight: 20, arbitrary: tie('list') },
    { weight: 20, arbitrary: tie('object') },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 700 }).map(nested) },
  ),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc
    .array(fc.tuple(fc.oneof(fc.constantFrom(...KEYS), fc.constantFrom(...ASKED_NAMES), text), tie('value')), { maxLength: 4 })
    .map((pairs): Pairs => ({ pairs })),
})).value;

/** A list in a list in a list. */
function nested(depth: number): Json {
  let value: Json = depth % 2 ? 1 : 'x';
  for (let level = 0; level < depth; level += 1) value = level % 3 ? [value] : { pairs: [['__proto__', value]] };
  return value;
}

/**
 * Pairs of any value and a name that every object inherits, or that WordPress uses: these must never be merged or
 * stored.
 */
export const strangePair: Arbitrary<readonly [string, Json]> = fc.tuple(
  fc.oneof(
    fc.constantFrom(
      ...KEYS,
      'post_type',
      'post_author',
      'post_status',
      'meta',
      'meta_input',
      'tax_input',
      'guid',
      'post_name',
      'constructor[prototype]',
      'menu_order',
      'acf',
      'taxonomy',
      'term_id',
      'count',
    ),
    text,
  ),
  fc.oneof(
    { weight: 3, arbitrary: json },
    {
      weight: 1,
      arbitrary: fc.constant<Json>({
        pairs: [
          ['polluted', 'yes'],
          ['prototype', { pairs: [['polluted', 'yes']] }],
        ],
      }),
    },
  ),
);

import fc, { type Arbitrary } from 'fast-check';
import { type Pairs, writeForm, writeJson } from './json.ts';
import { json, often } from './values.ts';

/** Percent-encodes a text, and half surrogates as the three bytes that no valid text contains. */
export function encoded(value: string): string {
  const bytes = value.split(/([\ud800-\udbff][\udc00-\udfff])|([\ud800-\udfff])/).filter((part) => part !== undefined);
  return bytes.map((part) => (/^[\ud800-\udfff]$/.test(part) ? '%ED%A0%80' : encodeURIComponent(part))).join('');
}

/** A body as it is sent, with its type and disposition. */
export interface Body {
  readonly body: string | Buffer | null;
  readonly type: string | undefined;
  readonly disposition?: string;
}

export const NO_BODY: Body = { body: null, type: undefined };

const BOUNDARY = 'xyz';
// biome-ignore format: list
const WRONG_TYPES = [
  'text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'multipart/form-data', 'multipart/form-data; boundary=',
  `multipart/form-data; boundary=${'b'.repeat(200)}`, 'multipart/mixed; boundary=xyz', 'application/json; charset=utf-16',
  'application/json+x', ';', '/', 'application/\u00e9', 'x'.repeat(2000),
];

/** Damages a body: cut off, overwritten in the middle, or not text at all. */
function damageOf(at: number, way: string): (body: string) => string | Buffer {
  return (body) => {
    const bytes = Buffer.from(body);
    const place = Math.floor(at * bytes.length);
    if (way === 'cut') return bytes.subarray(0, place);
    if (way === 'empty') return '';
    if (way === 'noise') return Buffer.from(Array.from({ length: 40 }, (_, index) => (place * 7 + index * 89) % 256));
    return Buffer.concat([bytes.subarray(0, place), Buffer.from(way, 'latin1'), bytes.subarray(place)]);
  };
}
// biome-ignore format: list
const damageWays = [
  'cut', 'cut', 'empty', 'noise', '\0', '\u00ff', '\u00c3', '"', '{', ']', ',', '\\u', '\u00ef\u00bb\u00bf', 'NaN', '//', '\n', '--xyz',
  '%', '=',
];
const damage = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(...damageWays)).map(([at, way]) => damageOf(at, way));

/** Ways to send the same parameters, mostly valid JSON. */
export const bodies: Arbitrary<(params: Pairs) => Body> = fc.oneof(
  {
    weight: 30,
    arbitrary: fc
      .constantFrom('application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON', 'application/ld+json')
      .map((type) => (params: Pairs) => ({ body: writeJson(params), type })),
  },
  { weight: 6, arbitrary: fc.constant((params: Pairs) => ({ body: form(params), type: 'application/x-www-form-urlencoded' })) },
  {
    weight: 3,
    arbitrary: fc.constant((params: Pairs) => ({ body: multipart(params), type: `multipart/form-data; boundary=${BOUNDARY}` })),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(undefined, ...WRONG_TYPES).map((type) => (params: Pairs) => ({ body: writeJson(params), type })),
  },
  { weight: 2, arbitrary: json.map((value) => () => ({ body: writeJson(value), type: 'application/json' })) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(damage, fc.constantFrom('application/json', 'application/x-www-form-urlencoded', `multipart/form-data; boundary=${BOUNDARY}`))
      .map(([change, type]) => (params: Pairs) => ({
        body: change(type.endsWith('json') ? writeJson(params) : type.startsWith('m') ? multipart(params) : form(params)),
        type,
      })),
  },
);

const form = ({ pairs }: Pairs): string =>
  pairs
    .flatMap(([name, value]) => writeForm(name, value))
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .join('&');

const multipart = ({ pairs }: Pairs): string => {
  const parts = pairs.flatMap(([name, value]) => writeForm(name, value));
  const head = (name: string, at: number) =>
    `Content-Disposition: form-data; name="${name.replace(/["\r\n]/g, '%22')}"${at % 7 === 6 ? '; filename="a.png"' : ''}`;
  return `${parts.map(([name, value], at) => `--${BOUNDARY}\r\n${head(name, at)}\r\n\r\n${value}\r\n`).join('')}--${BOUNDARY}--\r\n`;
};

/** The smallest images. */
const PICTURE = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
// biome-ignore format: list
const FILE_NAMES = [
  'a.png', 'a.PNG', 'a', '.png', '.htaccess', '../../a.png', '..\\a.png', 'a.php', 'a.png.php', 'a.svg', 'a%00.png', '%2e%2e%2fa.png',
  'x'.repeat(300), '', ' ', '\u00e9.png',
];
const NOT_PICTURES = [Buffer.from('<svg onload=alert(1)>'), Buffer.from('<?php 1;'), PICTURE.subarray(0, 40)];
const DISPOSITIONS = ['attachment; filename="{}"', 'attachment; filename={}', "attachment; filename*=UTF-8''{}", 'inline', '"', ''];

/** Files for the media library, including valid images, as bodies or as parts of forms. */
export const uploads: Arbitrary<(params: Pairs) => Body> = fc
  .record({
    name: fc.constantFrom(...FILE_NAMES),
    type: fc.constantFrom('image/png', 'image/jpeg', 'image/svg+xml', 'text/html', 'application/octet-stream', 'application/x-php'),
    bytes: often(3, fc.constant(PICTURE), fc.constantFrom(...NOT_PICTURES)),
    asForm: fc.boolean(),
    disposition: fc.constantFrom(...DISPOSITIONS),
  })
  .map(({ name, type, bytes, asForm, disposition }) => () => {
    if (!asForm) return { body: bytes, type, disposition: disposition.replace('{}', name) };
    const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n`;
    return {
      body: Buffer.concat([Buffer.from(head, 'latin1'), bytes, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]),
      type: `multipart/form-data; boundary=${BOUNDARY}`,
    };
  });

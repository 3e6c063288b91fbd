import { decode } from 'html-entities';

/**
 * Which quotes `specialChars` writes as entities: both (`ENT_QUOTES`), the double ones (`ENT_COMPAT`), none
 * (`ENT_NOQUOTES`).
 */
export type Quotes = 'both' | 'double' | 'none';

/**
 * `&`, `<`, `>` and the quotes asked for as entities (`_wp_specialchars`). What is an entity already is not encoded
 * again; what only looks like one is. Without quotes this is how WordPress stores plain text as a title, a content or
 * the name of a term (`wp_filter_kses`, `pre_term_name`).
 */
export function specialChars(text: string, quotes: Quotes = 'none'): string {
  if (!/[&<>"']/.test(text)) return text;
  const out = normalizeEntities(text).replaceAll('&apos;', '&amp;apos;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  if (quotes === 'none') return out;
  const quoted = out.replaceAll('"', '&quot;');
  return quotes === 'both' ? quoted.replaceAll("'", '&#039;') : quoted;
}

/** A text made safe to stand in HTML (`esc_html`). */
export const escHtml = (text: string): string => specialChars(text, 'both');

/** A text made safe to stand in a quoted attribute (`esc_attr`). */
export const escAttr = (text: string): string => specialChars(text, 'both');

/**
 * A text made safe to stand in a quoted JavaScript string within HTML (`esc_js`): markup as entities, single quotes and
 * backslashes behind a backslash, line breaks as the two characters `\n`.
 */
export function escJs(text: string): string {
  return specialChars(text, 'double')
    .replace(/\\(.?)/gs, '$1')
    .replace(/&#(?:x0*27|0*39);?/gi, "'")
    .replaceAll('\r', '')
    .replace(/[\\'"]/g, '\\$&')
    .replaceAll('\0', '\\0')
    .replaceAll('\n', '\\n');
}

/**
 * Every `&` that does not start a known entity becomes `&amp;` (`wp_kses_normalize_entities`): named ones of HTML 4,
 * decimal ones (padded to three digits) and hexadecimal ones of characters that XML allows. Character 0 goes.
 */
export function normalizeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text
    .replaceAll('&', '&amp;')
    .replace(/&amp;([A-Za-z]{2,8}[0-9]{0,2});/g, (whole, name: string) => (isNamedEntity(name) ? `&${name};` : whole))
    .replace(/&amp;#[Xx]?0;/g, '')
    .replace(/&amp;#(0*[0-9]{1,7});/g, (whole, digits: string) =>
      isCharacter(Number(digits)) ? `&#${digits.replace(/^0+/, '').padStart(3, '0')};` : whole,
    )
    .replace(/&amp;#[Xx](0*[0-9A-Fa-f]{1,6});/g, (whole, digits: string) =>
      isCharacter(Number.parseInt(digits, 16)) ? `&#x${digits.replace(/^0+/, '')};` : whole,
    );
}

/**
 * The characters that entities stand for, HTML 5's whole table (`html_entity_decode`). The number of half a character
 * (`&#xD83C;`) stands for U+FFFD, as in browsers: no text can be encoded that holds a half alone. Both halves, as some
 * programs wrote them, are the character.
 */
export const decodeEntities = (text: string): string =>
  decode(text, { level: 'html5', scope: 'strict' }).replace(/[\ud800-\udfff]/gu, '\ufffd');

/** A lone `&` becomes `&#038;` (`convert_chars`). */
export function convertChars(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:([\0-"$-\x7f])(?![a-z1-4]{1,8};)|([^\0-\x7f]))/gi, '&#038;$1$2');
}

/**
 * Numeric entities of the Windows-1252 code page (`&#128;` to `&#159;`) as those of the characters meant
 * (`convert_invalid_entities`).
 */
export function convertInvalidEntities(text: string): string {
  return text.replace(/&#(1[2-5]\d);/g, (whole, digits: string) => {
    const code = Number(digits);
    if (code < 128 || code > 159) return whole;
    // HTML 5 reads these numbers just so; five of them mean nothing.
    const meant = decode(whole).codePointAt(0) ?? code;
    return meant === code ? '' : `&#${meant};`;
  });
}

const known = new Map<string, boolean>();

/** Whether HTML 4 (or XML) knows the name. At most as many names are remembered as the table holds. */
function isNamedEntity(name: string): boolean {
  if (known.get(name) === true) return true;
  const entity = `&${name};`;
  const named = decode(entity, { level: 'html4', scope: 'strict' }) !== entity;
  if (named) known.set(name, true);
  return named;
}

/** `valid_unicode`. */
const isCharacter = (code: number) =>
  code === 9 ||
  code === 10 ||
  code === 13 ||
  (code >= 0x20 && code <= 0xd7ff) ||
  (code >= 0xe000 && code <= 0xfffd) ||
  (code >= 0x10000 && code <= 0x10ffff);

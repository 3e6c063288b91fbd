import { decode } from 'html-entities';

/**
 * Quotes that `specialChars` writes as entities: both kinds (`ENT_QUOTES`), double ones (`ENT_COMPAT`), none
 * (`ENT_NOQUOTES`).
 */
export type Quotes = 'both' | 'double' | 'none';

/**
 * Returns the text with `&`, `<`, `>` and the given quotes as entities (`_wp_specialchars`). Existing entities are not
 * encoded again; invalid ones are. With `quotes` `none`, this is how WordPress stores plain text as a title, a content
 * or the name of a term (`wp_filter_kses`, `pre_term_name`).
 */
export function specialChars(text: string, quotes: Quotes = 'none'): string {
  if (!/[&<>"']/.test(text)) return text;
  const out = normalizeEntities(text).replaceAll('&apos;', '&amp;apos;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  if (quotes === 'none') return out;
  const quoted = out.replaceAll('"', '&quot;');
  return quotes === 'both' ? quoted.replaceAll("'", '&#039;') : quoted;
}

/**
 * Decodes the entities of HTML for a form whose text is saved as HTML again. A `<` that would begin a tag stays an
 * entity: a title that shows a tag would otherwise become one when somebody who may write HTML saves it.
 */
export const decodeForEditing = (html: string): string =>
  html.replace(/[^<>]+/g, (text) => decodeEntities(text).replace(/<(?=[a-z/!?])/gi, '&lt;'));

/** Returns a text escaped for HTML (`esc_html`). */
export const escHtml = (text: string): string => specialChars(text, 'both');

/** Returns a text escaped for a quoted attribute (`esc_attr`). */
export const escAttr = (text: string): string => specialChars(text, 'both');

/**
 * Returns a text escaped for a quoted JavaScript string within HTML (`esc_js`): markup becomes entities, single quotes
 * and backslashes are escaped by a backslash, and line breaks become the two characters `\n`.
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
 * Replaces every `&` that does not start a known entity by `&amp;` (`wp_kses_normalize_entities`). Known entities are
 * the named ones of HTML 4, and decimal (padded to three digits) and hexadecimal ones of characters that XML allows.
 * References to character 0 are removed.
 */
export function normalizeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text
    .replaceAll('&', '&amp;')
    .replace(/&amp;([A-Za-z]{2,8}[0-9]{0,2});/g, (match, name: string) => (isNamedEntity(name) ? `&${name};` : match))
    .replace(/&amp;#[Xx]?0;/g, '')
    .replace(/&amp;#(0*[0-9]{1,7});/g, (match, digits: string) =>
      isCharacter(Number(digits)) ? `&#${digits.replace(/^0+/, '').padStart(3, '0')};` : match,
    )
    .replace(/&amp;#[Xx](0*[0-9A-Fa-f]{1,6});/g, (match, digits: string) =>
      isCharacter(Number.parseInt(digits, 16)) ? `&#x${digits.replace(/^0+/, '')};` : match,
    );
}

/**
 * Decodes entities with the whole table of HTML 5 (`html_entity_decode`). A reference to a lone surrogate (`&#xD83C;`)
 * becomes U+FFFD, as in browsers, since a lone surrogate cannot be encoded. References to both surrogates of a pair, as
 * some programs write them, become the character.
 */
export const decodeEntities = (text: string): string =>
  decode(text, { level: 'html5', scope: 'strict' }).replace(/[\ud800-\udfff]/gu, '\ufffd');

/** Replaces a lone `&` by `&#038;` (`convert_chars`). */
export function convertChars(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:([\0-"$-\x7f])(?![a-z1-4]{1,8};)|([^\0-\x7f]))/gi, '&#038;$1$2');
}

/**
 * Replaces numeric entities of the Windows-1252 code page (`&#128;` to `&#159;`) by those of the characters meant
 * (`convert_invalid_entities`).
 */
export function convertInvalidEntities(text: string): string {
  return text.replace(/&#(1[2-5]\d);/g, (match, digits: string) => {
    const code = Number(digits);
    if (code < 128 || code > 159) return match;
    // HTML 5 decodes these numbers in the same way; five of them are undefined.
    const codePoint = decode(match).codePointAt(0) ?? code;
    return codePoint === code ? '' : `&#${codePoint};`;
  });
}

const knownNames = new Map<string, boolean>();

/**
 * Returns whether HTML 4 (or XML) has an entity of this name. Only valid names are cached, so the cache is never larger
 * than the table.
 */
function isNamedEntity(name: string): boolean {
  if (knownNames.get(name) === true) return true;
  const entity = `&${name};`;
  const isNamed = decode(entity, { level: 'html4', scope: 'strict' }) !== entity;
  if (isNamed) knownNames.set(name, true);
  return isNamed;
}

/** Returns whether XML allows a character (`valid_unicode`). */
const isCharacter = (code: number) =>
  code === 9 ||
  code === 10 ||
  code === 13 ||
  (code >= 0x20 && code <= 0xd7ff) ||
  (code >= 0xe000 && code <= 0xfffd) ||
  (code >= 0x10000 && code <= 0x10ffff);

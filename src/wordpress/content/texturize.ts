import { ASCII_SPACE, endOfTag, SPACES } from './html-pieces.ts';
import { SHORTCODES, shortcodeTagEnd } from './shortcode-grammar.ts';

/**
 * Replaces straight quotes, dashes, primes and the like by typographic ones (`wptexturize`, with the characters of
 * English). Tags, comments, shortcodes, entities and the contents of `pre`, `code`, `kbd`, `style`, `script` and `tt`
 * stay; a lone `&` becomes `&#038;`. Takes linear time for any text.
 */
export function texturize(raw: string): string {
  const verbatimTags: string[] = [];
  let result = '';
  for (const piece of pieces(raw)) {
    if (piece.startsWith('<!--')) result += piece;
    else if (piece.startsWith('<')) {
      result += escapeAmpersands(piece);
      followElement(piece, verbatimTags);
    } else if (verbatimTags.length > 0 || isShortcode(piece)) result += piece;
    else result += texturizeText(piece);
  }
  return result;
}

/** Replaces `&` that does not start an entity by `&#038;`; names of entities are not checked. */
const escapeAmpersands = (text: string): string => text.replace(/&(?!#(?:\d+|x[a-f0-9]+);|[a-z1-4]{1,8};)/gi, '&#038;');

const ENTITY = {
  apostrophe: '&#8217;',
  openDouble: '&#8220;',
  closeDouble: '&#8221;',
  openSingle: '&#8216;',
  closeSingle: '&#8217;',
  prime: '&#8242;',
  doublePrime: '&#8243;',
  enDash: '&#8211;',
  emDash: '&#8212;',
  ellipsis: '&#8230;',
  tradeMark: '&#8482;',
  times: '&#215;',
} as const;

/**
 * Placeholders for marks whose position matters until primes are distinguished from closing quotes. They are
 * noncharacters, which no text contains.
 */
const PLACEHOLDER = { apostrophe: '\ufdd0', openSingle: '\ufdd1', openDouble: '\ufdd2', primeOrQuote: '\ufdd3' } as const;

const VERBATIM_TAGS = new Set(['pre', 'code', 'kbd', 'style', 'script', 'tt']);
/** Words that start with an apostrophe that looks like an opening quote. */
const COCKNEY = ["'tain't", "'twere", "'twas", "'tis", "'twill", "'til", "'bout", "'nuff", "'round", "'cause", "'em"];

const FIXED_REPLACEMENTS: readonly (readonly [string, string])[] = [
  ['...', ENTITY.ellipsis],
  ['``', ENTITY.openDouble],
  ["''", ENTITY.closeDouble],
  [' (tm)', ` ${ENTITY.tradeMark}`],
  ...COCKNEY.map((word) => [word, word.replaceAll("'", ENTITY.apostrophe)] as const),
];

/** Characters that may follow a closing quote. */
const AFTER_QUOTE = `$|[.,:;!?)}\\-\\]]|&gt;|${SPACES}`;

const SINGLE_QUOTE_RULES: readonly (readonly [RegExp, string])[] = [
  // A year at the end of a quotation: '99' and '99".
  [new RegExp(`'(\\d\\d)'(?=${AFTER_QUOTE})`, 'g'), `${PLACEHOLDER.apostrophe}$1${ENTITY.closeSingle}`],
  [new RegExp(`'(\\d\\d)"(?=${AFTER_QUOTE})`, 'g'), `${PLACEHOLDER.apostrophe}$1${ENTITY.closeDouble}`],
  // A year: '99, '99s; but not '9, '99%, '999 or '99.0.
  [/'(?=\d\d(?:$|(?![%\d]|[.,]\d)))/g, PLACEHOLDER.apostrophe],
  // A quoted number: '0.42'.
  [new RegExp(`(?<=^|${SPACES})'(\\d[.,\\d]*)'`, 'g'), `${PLACEHOLDER.openSingle}$1${ENTITY.closeSingle}`],
  [new RegExp(`(?<=^|[([{"\\-]|&lt;|${SPACES})'`, 'g'), PLACEHOLDER.openSingle],
  // Within a word.
  [new RegExp(`(?<!${SPACES})'(?!$|[.,:;!?"'(){}[\\]\\-]|&[lg]t;|${SPACES})`, 'g'), PLACEHOLDER.apostrophe],
];

const DOUBLE_QUOTE_RULES: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`(?<=^|${SPACES})"(\\d[.,\\d]*)"`, 'g'), `${PLACEHOLDER.openDouble}$1${ENTITY.closeDouble}`],
  [new RegExp(`(?<=^|[([{\\-]|&lt;|${SPACES})"(?!${SPACES})`, 'g'), PLACEHOLDER.openDouble],
];

const DASH_RULES: readonly (readonly [RegExp, string])[] = [
  [/---/g, ENTITY.emDash],
  [new RegExp(`(?<=^|${SPACES})--(?=$|${SPACES})`, 'g'), ENTITY.emDash],
  // Not the prefix of internationalised host names.
  [/(?<!xn)--/g, ENTITY.enDash],
  [new RegExp(`(?<=^|${SPACES})-(?=$|${SPACES})`, 'g'), ENTITY.enDash],
];

const SINGLE_PRIMES: PrimeRules = {
  quote: "'",
  opening: PLACEHOLDER.openSingle,
  closing: ENTITY.closeSingle,
  prime: ENTITY.prime,
  candidate: new RegExp(`'(?=${AFTER_QUOTE})`, 'g'),
  afterDigit: /(?<=\d)'/g,
};
const DOUBLE_PRIMES: PrimeRules = {
  quote: '"',
  opening: PLACEHOLDER.openDouble,
  closing: ENTITY.closeDouble,
  prime: ENTITY.doublePrime,
  candidate: new RegExp(`"(?=${AFTER_QUOTE})`, 'g'),
  afterDigit: /(?<=\d)"/g,
};

function texturizeText(text: string): string {
  if (/^[ \t\n\r\0\v]*$/.test(text)) return text;
  let out = text.replace(/[\ufdd0-\ufdd3]/g, '');
  for (const [from, to] of FIXED_REPLACEMENTS) out = out.replaceAll(from, to);
  if (out.includes("'")) {
    out = primesAndQuotes(replaceEach(out, SINGLE_QUOTE_RULES), SINGLE_PRIMES);
    out = out.replaceAll(PLACEHOLDER.apostrophe, ENTITY.apostrophe).replaceAll(PLACEHOLDER.openSingle, ENTITY.openSingle);
  }
  if (out.includes('"'))
    out = primesAndQuotes(replaceEach(out, DOUBLE_QUOTE_RULES), DOUBLE_PRIMES).replaceAll(PLACEHOLDER.openDouble, ENTITY.openDouble);
  if (out.includes('-')) out = replaceEach(out, DASH_RULES);
  return escapeAmpersands(timesSigns(out));
}

const replaceEach = (text: string, rules: readonly (readonly [RegExp, string])[]) =>
  rules.reduce((out, [pattern, replacement]) => out.replace(pattern, replacement), text);

interface PrimeRules {
  readonly quote: string;
  readonly opening: string;
  readonly closing: string;
  readonly prime: string;
  /** The quote at a position where it may close a quotation, and after a digit. */
  readonly candidate: RegExp;
  readonly afterDigit: RegExp;
}

/**
 * Distinguishes primes (6'2") from closing quotes (`wptexturize_primes`). Within an open quotation one candidate
 * becomes the closing quote, and only then the others become primes: if there are several, those not after a digit,
 * else the last one before a full stop, else the last one.
 */
function primesAndQuotes(text: string, rules: PrimeRules): string {
  return text
    .split(rules.opening)
    .map((part, index) => primesOfPart(part, index > 0 && !part.includes(rules.closing), rules))
    .join(rules.opening);
}

function primesOfPart(part: string, open: boolean, { quote, closing, prime, candidate, afterDigit }: PrimeRules): string {
  if (!part.includes(quote)) return part;
  let out = part;
  if (open) {
    const flag = PLACEHOLDER.primeOrQuote;
    out = out.replace(candidate, flag);
    if (out.split(flag).length > 2) {
      const behindWords = out.replace(/(?<!\d)\ufdd3/g, closing);
      out = behindWords === out ? closeAtBestFlag(out, closing) : behindWords;
      out = out.replace(afterDigit, prime).replace(/(?<=\d)\ufdd3/g, prime);
    }
    out = out.replaceAll(flag, closing).replace(afterDigit, prime);
  } else {
    out = out.replace(afterDigit, prime).replace(candidate, closing);
  }
  return quote === '"' ? out.replaceAll('"', closing) : out;
}

function closeAtBestFlag(part: string, closing: string): string {
  const beforeStop = part.lastIndexOf(`${PLACEHOLDER.primeOrQuote}.`);
  const at = beforeStop === -1 ? part.lastIndexOf(PLACEHOLDER.primeOrQuote) : beforeStop;
  return part.slice(0, at) + closing + part.slice(at + 1);
}

/**
 * Replaces `9x9` by `9&#215;9`, but not `0x99`. Each side is a digit followed by digits, points and commas, and the
 * whole is between word boundaries. Searches from `x` to `x`, because a pattern would restart at each digit of a long
 * row of numbers.
 */
function timesSigns(text: string): string {
  if (!/\dx\d/.test(text)) return text;
  let out = '';
  let position = 0;
  for (let x = text.indexOf('x'); x !== -1; x = text.indexOf('x', x + 1)) {
    if (x < position) continue;
    const start = leftNumberStart(text, position, x);
    const end = start === -1 ? -1 : rightNumberEnd(text, x + 1);
    if (end === -1) continue;
    out += `${text.slice(position, x)}${ENTITY.times}${text.slice(x + 1, end)}`;
    position = end;
  }
  return out + text.slice(position);
}

const isNumberPart = (char: string | undefined) => char !== undefined && /[\d.,]/.test(char);
const isWord = (char: string | undefined) => char !== undefined && /\w/.test(char);

/** Returns the leftmost position in [from, x) at which a number that extends to `x` can start, or -1. */
function leftNumberStart(text: string, from: number, x: number): number {
  let start = x;
  while (start > from && isNumberPart(text[start - 1])) start--;
  for (let at = start; at < x; at++) {
    if (/\d/.test(text[at] as string) && !isWord(text[at - 1]) && !(text[at] === '0' && at === x - 1)) return at;
  }
  return -1;
}

/** Returns the rightmost position at which the number that starts at `from` ends at a word boundary, or -1. */
function rightNumberEnd(text: string, from: number): number {
  if (!/\d/.test(text[from] ?? '')) return -1;
  let end = from + 1;
  while (isNumberPart(text[end])) end++;
  while (end > from && isWord(text[end - 1]) === isWord(text[end])) end--;
  return end > from ? end : -1;
}

/** Returns the text split into tags, comments, tags of known shortcodes, and the text between. */
function* pieces(text: string): Generator<string> {
  const marks = new RegExp(MARKUP_START);
  let start = 0;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    const end = mark[0] === '<' ? endOfTag(text, mark.index) : shortcodeTagEnd(text, mark.index + mark[0].length);
    if (end === -1) {
      marks.lastIndex = mark.index + 1;
      continue;
    }
    if (mark.index > start) yield text.slice(start, mark.index);
    yield text.slice(mark.index, end);
    start = end;
    marks.lastIndex = end;
  }
  if (start < text.length) yield text.slice(start);
}

const SHORTCODE_TAG = `\\[[/[]?(?:${SHORTCODES.join('|')})(?=[${ASCII_SPACE}\\]/])`;
const SHORTCODE_START = new RegExp(`^${SHORTCODE_TAG}`);
const MARKUP_START = new RegExp(`<|${SHORTCODE_TAG}`, 'g');

function isShortcode(piece: string): boolean {
  const start = SHORTCODE_START.exec(piece);
  return start !== null && shortcodeTagEnd(piece, start[0].length) === piece.length;
}

/**
 * Maintains the stack of open elements whose content is not changed (`_wptexturize_pushpop_element`): inside one, only
 * its own closing tag counts.
 */
function followElement(tag: string, stack: string[]): void {
  const closing = tag[1] === '/';
  const name = /^<\/?([^ ]*?)(?: |.?$)/s.exec(tag)?.[1] ?? '';
  if (!VERBATIM_TAGS.has(name)) return;
  if (!closing) stack.push(name);
  else if (stack.at(-1) === name) stack.pop();
}

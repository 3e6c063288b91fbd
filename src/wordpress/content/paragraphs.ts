import { autop } from '@wordpress/autop';
import { SPACES } from './html-pieces.ts';
import { findShortcodes, type Shortcode, shortcodeReader } from './shortcode-grammar.ts';

/**
 * Paragraphs for blank lines, `<br />` for single line breaks (`wpautop`). The package does the work; here stands what
 * it does differently from PHP's function (blanks outside ASCII are not white space, each `figcaption` counts, an `hr`
 * ends a paragraph), and what keeps its patterns from going over a hostile text again and again.
 */
export function addParagraphs(text: string): string {
  const runs: string[] = [];
  const prepared = outsidePre(shieldManyPre(hideWideBlanks(text)), (part) => {
    const parted = part.replace(/<br[ \t\n\r\f\v]*\/?>[ \t\n\r\f\v]*<br[ \t\n\r\f\v]*\/?>/g, '\n\n');
    const tamed = shieldUnclosed(shieldCrowds(parted)).replace(/[ \t\n\r\f\v]+/g, (run) => {
      if (run.length < VERY_LONG) return run;
      if (/[\n\r]/.test(run)) return '\n\n';
      runs.push(run);
      return LONG_RUN;
    });
    return shieldCaptions(tamed.replace(/(<hr[ \t\n\r\f\v]*?\/?>)/g, '$1\n\n'));
  });
  const done = autop(prepared)
    .replaceAll(SHIELD, '')
    .replaceAll(SHIELDED_OPEN, '<')
    .replace(/\ufde9/g, () => runs.shift() ?? '');
  return showWideBlanks(done);
}

/** Takes the `<p>` away around a shortcode that stands alone in its paragraph (`shortcode_unautop`). */
export function unwrapShortcodes(text: string): string {
  if (findShortcodes(text).length === 0) return text;
  const read = shortcodeReader(text);
  const opening = new RegExp(OPENING);
  let result = '';
  let done = 0;
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const start = match.index + match[0].length;
    const paragraph = standsAlone(text, read(start));
    if (paragraph === null) continue;
    result += text.slice(done, match.index) + text.slice(start, paragraph.end);
    done = paragraph.behind;
    opening.lastIndex = done;
  }
  return result + text.slice(done);
}

/** What stands around a shortcode that is alone in its paragraph. */
const OPENING = new RegExp(`<p>(?:${SPACES})*(?=\\[)`, 'g');
const CLOSING = new RegExp(`(?:${SPACES})*</p>`, 'y');

/**
 * The end of the shortcode and of its paragraph, when `</p>` follows it (with all it encloses, or else behind its tag
 * alone).
 */
function standsAlone(text: string, shortcode: Shortcode | null): { end: number; behind: number } | null {
  if (shortcode === null) return null;
  const closing = new RegExp(CLOSING);
  for (const end of [shortcode.end, shortcode.tagEnd]) {
    closing.lastIndex = end;
    const match = closing.exec(text);
    if (match !== null) return { end, behind: end + match[0].length };
  }
  return null;
}

/** Applies a function to all but the `pre` elements; those the package sets aside by the same reckoning. */
function outsidePre(text: string, change: (part: string) => string): string {
  if (!text.includes('<pre')) return change(text);
  return text
    .split('</pre>')
    .map((part, index, parts) => {
      const start = index === parts.length - 1 ? -1 : part.indexOf('<pre');
      return start === -1 ? change(part) : change(part.slice(0, start)) + part.slice(start);
    })
    .join('</pre>');
}

/** A noncharacter behind a tag's name, so that the package does not know the tag. */
const SHIELD = '\ufde8';
/** Blanks of a run that is set aside. */
const VERY_LONG = 300;
/** Stands for such a run. */
const LONG_RUN = '\ufde9';
/** More `<` than this without a `>` between them are no HTML. */
const CROWD = 50;
const MOST_PRE = 1000;
const SHIELDED_OPEN = '\ufdea';

/** The package closes the gaps around the first `figcaption` only; they are closed here, and no new ones arise. */
function shieldCaptions(text: string): string {
  if (!text.includes('<figcaption')) return text;
  return text
    .replace(/(?<![ \t\n\r\f\v])[ \t\n\r\f\v]*<figcaption/g, `<figcaption${SHIELD}`)
    .replace(/<\/figcaption>[ \t\n\r\f\v]*/g, `</figcaption${SHIELD}>`);
}

/**
 * Of a crowd of `<` (and of players' shortcodes) that no `>` follows, hides all but the first: each would be taken for
 * the start of a tag that may reach to the end. The same for `<p><li...` of no list.
 */
function shieldCrowds(text: string): string {
  let allowed = CROWD;
  return text
    .split('>')
    .map((part) => {
      let count = 0;
      return part.replace(/<|\[(?=audio|video)/g, (open) => (++count > CROWD ? (open === '<' ? SHIELDED_OPEN : `[${SHIELD}`) : open));
    })
    .join('>')
    .replace(/<p><li(?![ \t\n\r\f\v/>])/g, (start) => (--allowed < 0 ? `<p>${SHIELD}<li` : start));
}

/** The package puts each `pre` back with a search of its own; those after the first thousand are no `pre` to it. */
function shieldManyPre(text: string): string {
  let opened = 0;
  return text.replace(/<(\/?)pre/g, (tag, slash: string) => {
    if (slash === '') opened++;
    return opened > MOST_PRE ? `<${slash}${SHIELD}pre` : tag;
  });
}

/**
 * Elements never closed keep no line breaks; hidden, they don't make the package look for their end from each of them.
 */
function shieldUnclosed(text: string): string {
  return ['script', 'svg', 'style', 'math'].reduce((out, name) => {
    const last = out.lastIndexOf(`</${name}>`);
    return out.slice(0, last + 1) + out.slice(last + 1).replaceAll(`<${name}`, `<${name.slice(0, 1)}${SHIELD}${name.slice(1)}`);
  }, text);
}

/** JavaScript's white space that is none in PHP, and its stand-ins. */
const WIDE_BLANKS = '\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';
const STAND_IN = 0xfdd4;

const hideWideBlanks = (text: string) =>
  text
    .replace(/[\ufdd0-\ufdef]/g, '')
    .replace(/(?![ \t\n\r\f\v])\s/g, (blank) => String.fromCharCode(STAND_IN + WIDE_BLANKS.indexOf(blank)));
const showWideBlanks = (text: string) => text.replace(/[\ufdd4-\ufde6]/g, (mark) => WIDE_BLANKS[mark.charCodeAt(0) - STAND_IN] as string);

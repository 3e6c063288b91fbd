import { tableOf } from '../table.ts';
import { htmlPieces, SPACES } from './html-pieces.ts';

/**
 * Converts text smilies between white space to emoji (`convert_smilies`), except in tags and inside `code`, `pre`,
 * `style`, `script` and `textarea`. Two of them are pictures that WordPress ships: they become an `img` if the URL of
 * their folder (`.../wp-includes/images/smilies`) is given, and otherwise stay unchanged.
 */
export function convertSmilies(text: string, pictures?: string): string {
  let verbatimTag: string | null = null;
  let result = '';
  for (const { kind, text: piece } of htmlPieces(text)) {
    verbatimTag ??= /^<(code|pre|style|script|textarea)[^>]*>/.exec(piece)?.[1] ?? null;
    result += verbatimTag === null && kind === 'text' ? piece.replace(PATTERN, (smiley) => translate(smiley, pictures)) : piece;
    if (verbatimTag !== null && piece === `</${verbatimTag}>`) verbatimTag = null;
  }
  return result;
}

/** The table of `smilies_init` in `wp-includes/functions.php`. */
const EMOJI: ReadonlyMap<string, string> = tableOf({
  ':neutral:': '😐',
  ':twisted:': '😈',
  ':arrow:': '➡',
  ':shock:': '😯',
  ':smile:': '🙂',
  ':???:': '😕',
  ':cool:': '😎',
  ':evil:': '👿',
  ':grin:': '😀',
  ':idea:': '💡',
  ':oops:': '😳',
  ':razz:': '😛',
  ':wink:': '😉',
  ':cry:': '😥',
  ':eek:': '😮',
  ':lol:': '😆',
  ':mad:': '😡',
  ':sad:': '🙁',
  '8-)': '😎',
  '8-O': '😯',
  ':-(': '🙁',
  ':-)': '🙂',
  ':-?': '😕',
  ':-D': '😀',
  ':-P': '😛',
  ':-o': '😮',
  ':-x': '😡',
  ':-|': '😐',
  ';-)': '😉',
  '8O': '😯',
  ':(': '🙁',
  ':)': '🙂',
  ':?': '😕',
  ':D': '😀',
  ':P': '😛',
  ':o': '😮',
  ':x': '😡',
  ':|': '😐',
  ';)': '😉',
  ':!:': '❗',
  ':?:': '❓',
});
const PICTURES: ReadonlyMap<string, string> = tableOf({ ':mrgreen:': 'mrgreen.png', ':roll:': 'rolleyes.png' });

const ESCAPED = [...EMOJI.keys(), ...PICTURES.keys()].map((smiley) => smiley.replace(/[?()|]/g, '\\$&'));
const PATTERN = new RegExp(`(?<=${SPACES}|^)(?:${ESCAPED.join('|')})(?=${SPACES}|$)`, 'g');

function translate(smiley: string, pictures: string | undefined): string {
  const picture = PICTURES.get(smiley);
  if (picture === undefined) return EMOJI.get(smiley) ?? smiley;
  if (pictures === undefined) return smiley;
  return `<img src="${pictures}/${picture}" alt="${smiley}" class="wp-smiley" style="height: 1em; max-height: 1em;" />`;
}

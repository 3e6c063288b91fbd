import { tableOf } from '../table.ts';
import { htmlPieces, SPACES } from './html-pieces.ts';

/**
 * Text smilies that stand between blanks become emoji (`convert_smilies`); not in tags nor inside `code`, `pre`,
 * `style`, `script` and `textarea`. Two of them are pictures that WordPress carries: they take an `img` when the
 * address of that folder (`.../wp-includes/images/smilies`) is given, else they stay as they are.
 */
export function convertSmilies(text: string, pictures?: string): string {
  let silent: string | null = null;
  let result = '';
  for (const { kind, text: piece } of htmlPieces(text)) {
    silent ??= /^<(code|pre|style|script|textarea)[^>]*>/.exec(piece)?.[1] ?? null;
    result += silent === null && kind === 'text' ? piece.replace(PATTERN, (smiley) => translate(smiley, pictures)) : piece;
    if (silent !== null && piece === `</${silent}>`) silent = null;
  }
  return result;
}

/** `wp-includes/functions.php`, `smilies_init`. */
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
const PATTERN = new RegExp(`(?<=${SPACES}|^)(?:${ESCAPED.join('|')})(?=${SPACES}|$)`, 'gm');

function translate(smiley: string, pictures: string | undefined): string {
  const picture = PICTURES.get(smiley);
  if (picture === undefined) return EMOJI.get(smiley) ?? smiley;
  if (pictures === undefined) return smiley;
  return `<img src="${pictures}/${picture}" alt="${smiley}" class="wp-smiley" style="height: 1em; max-height: 1em;" />`;
}

/*
 * Reconstruction of stored texts. A site shows its texts rendered. The stored form is guessed, and a guess counts only
 * if it renders to exactly the text that is shown; otherwise, the rendered text is stored.
 */

import { type CostRecord, costOf } from '../../calendar/cost.ts';
import { COST } from '../../kinds/events/metas.ts';
import { decodeEntities } from '../../wordpress/content/entities.ts';
import { type RenderOptions, renderContent, renderExcerpt, renderTitle } from '../../wordpress/content/render.ts';
import { tableOf } from '../../wordpress/table.ts';
import { type MetaPair, textMetas } from '../items/items.ts';

/** The text to store, and whether it renders to the text that the site shows. */
export interface Guess {
  readonly text: string;
  readonly isExact: boolean;
}

/** Returns the title that renders as this HTML. */
export function storedTitle(html: string): Guess {
  return guessText(html, [straightenTypography(html, '--'), straightenTypography(html, '-'), html, decodeEntities(html)], renderTitle);
}

/** Returns the content that renders as this HTML. */
export function storedContent(html: string, options: RenderOptions): Guess {
  return guessText(html, possibleSources(html), (text) => renderContent(text, options));
}

/** Returns the excerpt that renders as this HTML. */
export function storedExcerpt(html: string, options: RenderOptions): Guess {
  return guessText(html, possibleSources(html), (text) => renderExcerpt(text, options));
}

function guessText(html: string, guesses: readonly string[], render: (text: string) => string): Guess {
  if (html === '') return { text: '', isExact: true };
  // For most texts, several guesses are equal.
  const text = [...new Set(guesses)].find((guess) => render(guess) === html);
  return text === undefined ? { text: html, isExact: false } : { text, isExact: true };
}

const possibleSources = (html: string): string[] => {
  const plainText = withoutParagraphs(html);
  return [
    straightenTypography(plainText, '--'),
    straightenTypography(plainText, '-'),
    plainText,
    straightenTypography(html, '--'),
    straightenTypography(html, '-'),
    html,
  ];
};

const TYPOGRAPHIC_MARKS: ReadonlyMap<string, string> = tableOf({
  '&#8216;': "'", '&#8217;': "'", '&#8220;': '"', '&#8221;': '"', '&#8242;': "'", '&#8243;': '"', '&#8212;': '---', '&#8230;': '...', '&#8482;': '(tm)', '&#215;': 'x', '&#038;': '&',
}); // biome-ignore format: pairs

/** Reverses typographic quotes and dashes (`wptexturize`). */
const straightenTypography = (html: string, dash: string): string =>
  html.replace(/&#(?:\d+);/g, (entity) => (entity === '&#8211;' ? dash : (TYPOGRAPHIC_MARKS.get(entity) ?? entity)));

/** Reverses the conversion of lines to paragraphs (`wpautop`). */
const withoutParagraphs = (html: string): string =>
  // Paragraphs that an author wrote have attributes, or lack their end tag.
  html.split('<p>').length !== html.split('</p>').length
    ? html
    : html
        .replace(/<br \/>\n/g, '\n')
        .replace(/<\/p>\n<p>/g, '\n\n')
        .replace(/<p>/g, '')
        .replace(/<\/p>/g, '')
        .trim();

/** The cost that a site shows. */
export interface ShownCost {
  readonly cost: string;
  readonly symbol: string;
  readonly code: string;
  readonly position: string;
  readonly values: readonly string[];
}

/**
 * Returns the metas of a cost. `fallback`: the calendar's currency here, used if a cost names none; `freeWords`: words
 * for "free".
 */
export function storedCost(
  shownCost: ShownCost,
  fallback: { readonly symbol: string; readonly after: boolean },
  freeWords: readonly string[],
): { metas: MetaPair[]; isExact: boolean } {
  if (shownCost.cost === '' && shownCost.values.length === 0) return { metas: [], isExact: true };
  const text = decodeEntities(shownCost.cost);
  const dashedText = text.replaceAll(' – ', ' - ');
  // Amounts with a decimal comma are shown as they are stored, each with the symbol.
  const bareText = [shownCost.symbol, fallback.symbol].reduce(
    (bare, symbol) => (symbol === '' ? bare : bare.replaceAll(symbol, '')),
    dashedText,
  );
  const guesses: { costs: readonly string[]; marked: boolean }[] = [true, false].flatMap((marked) => [
    { costs: shownCost.values, marked },
    { costs: [bareText], marked },
    { costs: bareText.split(' - '), marked },
    { costs: [dashedText], marked },
    { costs: [shownCost.values.join(' - ')], marked },
    { costs: [text], marked },
  ]);
  const isShown = ({ costs, marked }: (typeof guesses)[number]): boolean =>
    costs.every((cost) => cost !== '') &&
    freeWords.some((freeText) =>
      sameCost(
        costOf(
          costs,
          { symbol: marked ? shownCost.symbol : '', position: marked ? shownCost.position : '', code: shownCost.code },
          { defaultCurrencySymbol: fallback.symbol, reverseCurrencyPosition: fallback.after, freeText },
        ),
        shownCost,
      ),
    );
  const guess = guesses.find(isShown);
  const { costs, marked } = guess ?? { costs: [dashedText], marked: false };
  const texts: [key: string, text: string][] = costs.map((cost) => [COST.amounts, cost]);
  if (marked && shownCost.symbol !== '') texts.push([COST.symbol, shownCost.symbol], [COST.position, shownCost.position]);
  if (shownCost.code !== '') texts.push([COST.code, shownCost.code]);
  return { metas: textMetas(texts), isExact: guess !== undefined };
}

const sameCost = ({ cost, cost_details: details }: CostRecord, shownCost: ShownCost): boolean =>
  cost === shownCost.cost &&
  details.values.join('\n') === shownCost.values.join('\n') &&
  details.currency_symbol === shownCost.symbol &&
  details.currency_position === shownCost.position;

/*
 * Reconstruction of stored texts. A site shows its texts rendered. The stored form is guessed, and a guess counts only
 * if it renders to exactly the text that is shown; otherwise, the rendered text is stored.
 */

import { type CostRecord, costOf } from '../../calendar/cost.ts';
import { COST } from '../../kinds/events/metas.ts';
import { decodeEntities } from '../../wordpress/content/entities.ts';
import { type RenderOptions, renderContent, renderExcerpt, renderTitle } from '../../wordpress/content/render.ts';
import { tableOf } from '../../wordpress/table.ts';

/** The text to store, and whether it renders to the text that the site shows. */
export interface Guess {
  readonly text: string;
  readonly isExact: boolean;
}

export function storedTitle(shown: string): Guess {
  return guessText(shown, [straightenTypography(shown, '--'), straightenTypography(shown, '-'), shown, decodeEntities(shown)], renderTitle);
}

export function storedContent(shown: string, options: RenderOptions): Guess {
  return guessText(shown, possibleSources(shown), (text) => renderContent(text, options));
}

export function storedExcerpt(shown: string, options: RenderOptions): Guess {
  return guessText(shown, possibleSources(shown), (text) => renderExcerpt(text, options));
}

function guessText(shown: string, guesses: readonly string[], render: (text: string) => string): Guess {
  if (shown === '') return { text: '', isExact: true };
  // For most texts, several guesses are equal.
  const text = [...new Set(guesses)].find((guess) => render(guess) === shown);
  return text === undefined ? { text: shown, isExact: false } : { text, isExact: true };
}

const possibleSources = (shown: string): string[] => {
  const plain = withoutParagraphs(shown);
  return [
    straightenTypography(plain, '--'),
    straightenTypography(plain, '-'),
    plain,
    straightenTypography(shown, '--'),
    straightenTypography(shown, '-'),
    shown,
  ];
};

const TYPOGRAPHIC_MARKS: ReadonlyMap<string, string> = tableOf({
  '&#8216;': "'", '&#8217;': "'", '&#8220;': '"', '&#8221;': '"', '&#8242;': "'", '&#8243;': '"', '&#8212;': '---', '&#8230;': '...', '&#8482;': '(tm)', '&#215;': 'x', '&#038;': '&',
}); // biome-ignore format: pairs

/** Reverses typographic quotes and dashes (`wptexturize`). */
const straightenTypography = (shown: string, dash: string): string =>
  shown.replace(/&#(?:\d+);/g, (entity) => (entity === '&#8211;' ? dash : (TYPOGRAPHIC_MARKS.get(entity) ?? entity)));

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
 * Returns the metas of a cost. `fallback`: the calendar's currency here, used if a cost names none; `free`: words for
 * "free".
 */
export function storedCost(
  shown: ShownCost,
  fallback: { readonly symbol: string; readonly after: boolean },
  free: readonly string[],
): { metas: [string, string][]; isExact: boolean } {
  if (shown.cost === '' && shown.values.length === 0) return { metas: [], isExact: true };
  const text = decodeEntities(shown.cost);
  const bare = text.replaceAll(' – ', ' - ');
  const guesses: { costs: readonly string[]; marked: boolean }[] = [true, false].flatMap((marked) => [
    { costs: shown.values, marked },
    { costs: [bare], marked },
    { costs: [shown.values.join(' - ')], marked },
    { costs: [text], marked },
  ]);
  const isShown = ({ costs, marked }: (typeof guesses)[number]): boolean =>
    costs.every((cost) => cost !== '') &&
    free.some((freeText) =>
      sameCost(
        costOf(
          costs,
          { symbol: marked ? shown.symbol : '', position: marked ? shown.position : '', code: shown.code },
          { defaultCurrencySymbol: fallback.symbol, reverseCurrencyPosition: fallback.after, freeText },
        ),
        shown,
      ),
    );
  const found = guesses.find(isShown);
  const { costs, marked } = found ?? { costs: [bare], marked: false };
  const metas: [string, string][] = costs.map((cost) => [COST.amounts, cost]);
  if (marked && shown.symbol !== '') metas.push([COST.symbol, shown.symbol], [COST.position, shown.position]);
  if (shown.code !== '') metas.push([COST.code, shown.code]);
  return { metas, isExact: found !== undefined };
}

const sameCost = ({ cost, cost_details: details }: CostRecord, shown: ShownCost): boolean =>
  cost === shown.cost &&
  details.values.join('\n') === shown.values.join('\n') &&
  details.currency_symbol === shown.symbol &&
  details.currency_position === shown.position;

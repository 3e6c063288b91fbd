import { escHtml } from '../wordpress/content/entities.ts';
import type { CostOptions, CurrencyMetas } from './cost.ts';

/**
 * An amount as the pages of The Events Calendar find it in a text: digits with at most one comma or point before and
 * one after.
 */
const AMOUNT = /[,.]?\d+[,.]?\d*/g;

/**
 * Returns the cost of an event as the pages of The Events Calendar and `tec/v1` show it (`tribe_get_cost`): the lowest
 * and the highest amount. Amounts with a comma are not recognised and are left out; if none remains the event counts as
 * free. The main interface interprets costs as people mean them (`costOf`).
 */
export function costOnPages(storedValues: readonly string[], { symbol, position }: CurrencyMetas, options: CostOptions): string {
  const pieces = [...new Set(storedValues.filter((row) => row !== '').flatMap((row) => row.match(AMOUNT) ?? [row]))];
  const [firstPiece] = pieces;
  if (firstPiece === undefined) return '';
  if (pieces.length === 1 && !isNumeric(firstPiece)) return escHtml(firstPiece);
  const amounts = pieces.filter(isNumeric).sort((a, b) => Number(a) - Number(b));
  const ends = amounts.length === 0 ? ['0'] : [amounts[0]!, amounts.at(-1)!];
  const shownAmounts = ends.map((amount) => {
    if (Number(amount) === 0) return options.freeText;
    const [sign, isAfter] =
      symbol === '' ? [options.defaultCurrencySymbol, options.reverseCurrencyPosition] : [symbol, position === 'postfix'];
    return isAfter ? `${amount}${sign}` : `${sign}${amount}`;
  });
  return [...new Set(shownAmounts.map(escHtml))].join(' – ');
}

const isNumeric = (piece: string) => /^(\d+(\.\d*)?|\.\d+)$/.test(piece);

import { costOfNumber, isFree, parseCost } from '../../calendar/amounts.ts';
import { COST } from '../../kinds/events/metas.ts';
import type { Caller } from '../../records/caller.ts';
import { type PostItem, textMetas } from '../items/items.ts';
import { isNode, listOf, type Node, textOf } from './nodes.ts';

/** The prices of an event. */
export interface PagePrices {
  /** The lowest and the highest one, as values of the field `cost`; 0 means free. */
  readonly cost: readonly string[];
  /** Texts that are no prices. */
  readonly refused: readonly string[];
}

/** Returns the prices of all offers (schema.org Offer and AggregateOffer). */
export function pricesOf(node: Node): PagePrices {
  const readPrices = listOf(node.offers)
    .filter(isNode)
    .flatMap((offer) => [offer.price, offer.lowPrice, offer.highPrice].map((price) => ({ price, code: textOf(offer.priceCurrency) })))
    .filter(({ price }) => textOf(price) !== '')
    .map(({ price, code }) => ({ text: textOf(price), amounts: amountsOf(price, code) }));
  const amounts = readPrices.flatMap((read) => read.amounts).sort((one, other) => one - other);
  const refused = readPrices.flatMap((read) => (read.amounts.length === 0 ? [read.text] : []));
  const [lowest, highest] = [amounts[0], amounts.at(-1)];
  if (lowest === undefined || highest === undefined) return { cost: node.isAccessibleForFree === true ? ['0'] : [], refused };
  return { cost: [...new Set([costOfNumber(lowest), costOfNumber(highest)])], refused };
}

/** Prices from here on are mistakes, such as telephone numbers. */
const PRICE_LIMIT = 1e9;

/**
 * Returns the amounts of a price: a number, or a text as people write it (decision D37). Numbers among other words
 * count only beside a currency. Empty if it is no price.
 */
function amountsOf(price: unknown, code: string): readonly number[] {
  const amounts = typeof price === 'number' ? [Number(price.toFixed(MAX_DECIMALS))] : amountsIn(textOf(price), code);
  return amounts.every((amount) => amount >= 0 && amount < PRICE_LIMIT) ? amounts : [];
}

/** More decimals than any currency has are errors of arithmetic. */
const MAX_DECIMALS = 4;

function amountsIn(text: string, code: string): readonly number[] {
  const { amounts, hasOtherWords, texts } = parseCost(text, code);
  if (hasOtherWords && amounts.some(({ symbol }) => symbol === undefined)) return [];
  return [...(texts.some(isFree) ? [0] : []), ...amounts.map(({ value }) => Number(value))];
}

const CURRENCY: readonly string[] = [COST.symbol, COST.code, COST.position];

/**
 * Returns the metas of an event with the currency that its offers state. Offers do not say whether it comes before the
 * amount: new events have it where the site has it.
 */
export function withCurrency(metas: PostItem['metas'], node: Node, { settings }: Caller): PostItem['metas'] {
  const code = listOf(node.offers)
    .filter(isNode)
    .map((offer) => textOf(offer.priceCurrency))
    .find((text) => /^[A-Z]{3}$/.test(text));
  const isCurrency = ([key]: PostItem['metas'][number]) => CURRENCY.includes(key);
  // Currencies come last in either case: digests in ledgers depend on the order.
  const otherMetas = metas.filter((meta) => !isCurrency(meta));
  if (code === undefined) return [...otherMetas, ...metas.filter(isCurrency)];
  const format = new Intl.NumberFormat('en', { style: 'currency', currency: code, currencyDisplay: 'narrowSymbol' });
  const symbol = format.formatToParts(0).find(({ type }) => type === 'currency')?.value ?? code;
  return [
    ...otherMetas,
    ...textMetas([
      [COST.symbol, symbol],
      [COST.code, code],
      [COST.position, settings.calendar.isCurrencyAfterAmount ? 'postfix' : 'prefix'],
    ]),
  ];
}

/**
 * Returns the metas of a cost that records keep: where its currency is shown, and if the page states only prices that
 * cannot be read, all of them.
 */
export const keptCostMetas = ({ cost, refused }: PagePrices): readonly string[] =>
  cost.length === 0 && refused.length > 0 ? Object.values(COST) : [COST.position];

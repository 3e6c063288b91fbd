import { type Amount, costOfNumber, isFree, parseCost } from '../../calendar/amounts.ts';
import { COST } from '../../kinds/events/metas.ts';
import { isRecord } from '../../objects.ts';
import type { Caller } from '../../records/caller.ts';
import { type PostItem, textMetas } from '../items/items.ts';
import { listOf, type Node, textOf } from './nodes.ts';

/** The prices of an event. */
export interface PagePrices {
  /** The lowest and the highest one, as values of the field `cost`; 0 means free. */
  readonly cost: readonly string[];
  /** Texts that are no prices. */
  readonly refused: readonly string[];
  /** Undefined: the offers state none. */
  readonly currency: PageCurrency | undefined;
}

/** The currency of offers; the code is empty if they name it only by a symbol that several currencies have. */
interface PageCurrency {
  readonly code: string;
  readonly symbol: string;
}

/** A price as read. `symbols`: the currencies that its text names. */
interface ReadPrice {
  readonly text: string;
  readonly amounts: readonly number[];
  readonly symbols: readonly string[];
}

/**
 * Returns the prices of all offers (schema.org Offer and AggregateOffer). Without a code, prices in several currencies
 * cannot be compared, so that none is read.
 */
export function pricesOf(node: Node): PagePrices {
  const offers = listOf(node.offers).filter(isRecord);
  const prices = offers.flatMap((offer) =>
    [offer.price, offer.lowPrice, offer.highPrice]
      .filter((price) => textOf(price) !== '')
      .map((price) => readPrice(price, textOf(offer.priceCurrency))),
  );
  const stated = offers.map((offer) => textOf(offer.priceCurrency)).find((text) => CODE.test(text));
  const names = stated === undefined ? [...new Set(prices.flatMap((price) => price.symbols.map(currencyName)))] : [stated];
  const isReadable = ({ amounts }: ReadPrice) => names.length < 2 && amounts.length > 0;
  const amounts = prices.flatMap((price) => (isReadable(price) ? price.amounts : [])).sort((one, other) => one - other);
  const refused = prices.flatMap((price) => (isReadable(price) ? [] : [price.text]));
  const [name] = names;
  const currency = name === undefined || names.length > 1 ? undefined : currencyOf(name);
  const [lowest, highest] = [amounts[0], amounts.at(-1)];
  if (lowest === undefined || highest === undefined) return { cost: node.isAccessibleForFree === true ? ['0'] : [], refused, currency };
  return { cost: [...new Set([costOfNumber(lowest), costOfNumber(highest)])], refused, currency };
}

const CODE = /^[A-Z]{3}$/;
const CODES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));
/** Codes of currencies that people write in only one way besides their code. */
const CODES_OF_NAMES: ReadonlyMap<string, string> = new Map([
  ['€', 'EUR'],
  ['euro', 'EUR'],
  ['euros', 'EUR'],
  ['fr.', 'CHF'],
  ['sfr.', 'CHF'],
]);

/** Returns the code of the currency that a text of a price names, or the name itself if several currencies have it. */
function currencyName(text: string): string {
  const code = CODES_OF_NAMES.get(text.toLowerCase()) ?? text.toUpperCase();
  return CODES.has(code) ? code : text;
}

/** Returns a currency by its code, or by a symbol that has none. */
function currencyOf(name: string): PageCurrency {
  if (!CODE.test(name)) return { code: '', symbol: name };
  const format = new Intl.NumberFormat('en', { style: 'currency', currency: name, currencyDisplay: 'narrowSymbol' });
  return { code: name, symbol: format.formatToParts(0).find(({ type }) => type === 'currency')?.value ?? name };
}

/** Prices from here on are mistakes, such as telephone numbers. */
const PRICE_LIMIT = 1e9;
/** The first number of a telephone without its country. People write no price like it, except `07,50`. */
const TELEPHONE = /^0\d(?![.,]\d\d$)/;

/**
 * Reads a price: a number, or a text as people write it (decision D37). Numbers among other words count only beside a
 * currency. There are no amounts if it is no price.
 */
function readPrice(price: unknown, code: string): ReadPrice {
  const text = textOf(price);
  const { amounts, symbols } =
    typeof price === 'number' ? { amounts: [Number(price.toFixed(MAX_DECIMALS))], symbols: [] } : amountsIn(text, code);
  const arePrices = amounts.length > 0 && amounts.every((amount) => amount >= 0 && amount < PRICE_LIMIT);
  return arePrices ? { text, amounts, symbols } : { text, amounts: [], symbols: [] };
}

/** More decimals than any currency has are errors of arithmetic. */
const MAX_DECIMALS = 4;

function amountsIn(text: string, code: string): Pick<ReadPrice, 'amounts' | 'symbols'> {
  const { amounts, hasOtherWords, texts } = parseCost(text, code);
  const isOther = ({ text: number, symbol }: Amount) => symbol === undefined && (hasOtherWords || TELEPHONE.test(number));
  if (amounts.some(isOther)) return { amounts: [], symbols: [] };
  return {
    amounts: [...(texts.some(isFree) ? [0] : []), ...amounts.map(({ value }) => Number(value))],
    symbols: amounts.flatMap(({ symbol }) => symbol ?? []),
  };
}

const CURRENCY: readonly string[] = [COST.symbol, COST.code, COST.position];

/**
 * Returns the metas of an event with the currency that its offers state. New events have it before or after the amount
 * where the site has it, as codes do not say it.
 */
export function withCurrency(metas: PostItem['metas'], { currency }: PagePrices, { settings }: Caller): PostItem['metas'] {
  const isCurrency = ([key]: PostItem['metas'][number]) => CURRENCY.includes(key);
  // Currencies come last in either case: digests in ledgers depend on the order.
  const otherMetas = metas.filter((meta) => !isCurrency(meta));
  if (currency === undefined) return [...otherMetas, ...metas.filter(isCurrency)];
  return [
    ...otherMetas,
    ...textMetas([
      [COST.symbol, currency.symbol],
      [COST.code, currency.code],
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

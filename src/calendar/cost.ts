import { memoize } from '../memo.ts';
import { isObject } from '../objects.ts';
import { decodeEntities, escHtml } from '../wordpress/content/entities.ts';
import { stripAllTags, stripControlCharacters } from '../wordpress/content/plain-text.ts';
import { sanitizeTitle } from '../wordpress/slug.ts';
import { type Amount, asWords, costOfNumber, isFree, type ParsedCost, parseCost, RANGE_SEPARATOR } from './amounts.ts';

/** Stored form of costs: one row for each value, one symbol for all, and its position. */
export interface CostMeta {
  readonly costs: readonly string[];
  readonly symbol: string | null;
  readonly position: 'prefix' | 'postfix' | null;
}

/** Metas with the currency of the stored costs; empty texts if there are none. */
export interface CurrencyMetas {
  readonly symbol: string;
  readonly position: string;
  readonly code: string;
}

/** The site's settings for costs, and its word for a price of zero. */
export interface CostOptions {
  readonly defaultCurrencySymbol: string;
  /** Whether the default symbol is shown after the amount. */
  readonly reverseCurrencyPosition: boolean;
  readonly freeText: string;
}

export interface CostRecord {
  /** For display, as HTML text: `€10`, `$5 – $7.50`, `Free`. */
  readonly cost: string;
  readonly cost_details: {
    readonly currency_symbol: string;
    readonly currency_code: string;
    readonly currency_position: string;
    /** Amounts with a decimal point in ascending order; words as slugs. */
    readonly values: string[];
  };
}

/** Maximum number of costs, since each is a row. */
const MAX_COSTS = 1000;
/** Maximum number of bytes of all costs together: that of one text. */
const MAX_COST_BYTES = 65_535;
/** Number of characters of all costs of an event in which prices are searched; further costs are words. */
const MAX_PARSED_TOGETHER = 10_000;

/**
 * Returns the stored form of a cost as sent (decisions D30, D37): one row for each value of a list or object, without
 * markup, and the symbol and its position if all amounts have the same. No rows for `""`, `null`, `false` and empty
 * lists. Null for an invalid cost: lists or objects within a list, and lists with more values or more text than the API
 * allows.
 */
export function costMeta(value: unknown): CostMeta | null {
  const members = isObject(value) ? Object.values(value) : [value];
  if (members.length > MAX_COSTS || members.some(isObject)) return null;
  const costs = members.map(plainCost).filter((cost) => cost !== '');
  if (costs.reduce((bytes, cost) => bytes + Buffer.byteLength(cost), 0) > MAX_COST_BYTES) return null;
  const currency = sharedSymbol(parseAll(costs).flatMap(({ amounts }) => amounts));
  return { costs, symbol: currency?.symbol ?? null, position: currency?.position ?? null };
}

/**
 * Returns the published cost of stored values (decision D37): the lowest and the highest amount, each with its
 * currency, formatted as the text or else the site does; words are unchanged.
 */
export function costOf(storedValues: readonly string[], metas: CurrencyMetas, options: CostOptions): CostRecord {
  const parsedCosts = parseAll(storedValues);
  const symbol = shownSymbol(parsedCosts, metas);
  return {
    cost: formatCost(parsedCosts, storedValues, { symbol, options }),
    cost_details: {
      currency_symbol: symbol?.symbol ?? '',
      currency_code: metas.code,
      currency_position: symbol?.position ?? '',
      values: valuesOf(parsedCosts),
    },
  };
}

/** Returns the text of `costOf`. */
export function shownCost(storedValues: readonly string[], metas: CurrencyMetas, options: CostOptions): string {
  const parsedCosts = parseAll(storedValues);
  return formatCost(parsedCosts, storedValues, { symbol: shownSymbol(parsedCosts, metas), options });
}

/**
 * Returns the price of an offer in JSON-LD: the range of amounts without currency, `0` if it is free, words unchanged.
 * Empty without a cost.
 */
export function offerPrice(storedValues: readonly string[]): string {
  const parsedCosts = parseAll(storedValues);
  const prices = endsOf(parsedCosts).map((end) => (end.free ? '0' : end.amount.value));
  if (prices.length > 0) return [...new Set(prices)].join(RANGE_SEPARATOR);
  return textsOf(parsedCosts)
    .map((text) => (isFree(text) ? '0' : text))
    .join(', ');
}

const parseCostOnce = memoize(parseCost);

/** Parses the stored values of an event, whose total length may be anything if another program wrote them. */
function parseAll(storedValues: readonly string[]): ParsedCost[] {
  let length = 0;
  return storedValues
    .map((cost) => cost.trim())
    .filter((cost) => cost !== '')
    .map((cost) => {
      length += cost.length;
      return length > MAX_PARSED_TOGETHER ? asWords(cost) : parseCostOnce(cost);
    });
}

interface Currency {
  readonly symbol: string;
  readonly position: 'prefix' | 'postfix';
}

/** Returns the currency of all amounts that have one; undefined if none has one or they differ. */
function sharedSymbol(amounts: readonly Amount[]): Currency | undefined {
  const withSymbol = amounts.filter((amount) => amount.symbol !== undefined);
  const [first] = withSymbol;
  if (!first?.symbol || !first.position) return undefined;
  const isShared = withSymbol.every(({ symbol, position }) => symbol === first.symbol && position === first.position);
  return isShared ? { symbol: first.symbol, position: first.position } : undefined;
}

/**
 * Returns the currency of a cost: the one in its text, else the stored one. A stored symbol that is only a sign is a
 * minus that was mistaken for a currency.
 */
function shownSymbol(parsedCosts: readonly ParsedCost[], { symbol, position }: CurrencyMetas): Currency | undefined {
  const textCurrency = sharedSymbol(parsedCosts.flatMap(({ amounts }) => amounts));
  if (textCurrency || symbol === '' || /^[-−+]$/.test(symbol)) return textCurrency;
  return { symbol, position: position === 'postfix' ? 'postfix' : 'prefix' };
}

/** Returns the text of a cost, as HTML. */
function formatCost(
  parsedCosts: readonly ParsedCost[],
  storedValues: readonly string[],
  { symbol, options }: { symbol: Currency | undefined; options: CostOptions },
): string {
  if (parsedCosts.length === 1 && parsedCosts[0]!.hasOtherWords) return escHtml(storedValues.find((cost) => cost.trim() !== '')!.trim());
  const fallback: Currency = symbol ?? {
    symbol: options.defaultCurrencySymbol,
    position: options.reverseCurrencyPosition ? 'postfix' : 'prefix',
  };
  const endTexts = endsOf(parsedCosts).map((end) => (end.free ? options.freeText : withCurrency(end.amount, fallback)));
  return escHtml(endTexts.length > 0 ? [...new Set(endTexts)].join(RANGE_SEPARATOR) : textsOf(parsedCosts).join(', '));
}

function withCurrency({ text, value, symbol, position }: Amount, fallback: Currency): string {
  const currency = symbol === undefined ? fallback : { symbol, position };
  const sign = value.startsWith('-') ? '-' : '';
  return sign + (currency.position === 'postfix' ? text + currency.symbol : currency.symbol + text);
}

type RangeEnd = { readonly free: true; readonly amount?: undefined } | { readonly free: false; readonly amount: Amount };

/** Returns the lowest and the highest amount; among amounts, a word for a price of zero counts as the lowest. */
function endsOf(parsedCosts: readonly ParsedCost[]): RangeEnd[] {
  const amounts = parsedCosts.flatMap((read) => read.amounts).sort((one, other) => Number(one.value) - Number(other.value));
  const lowest = amounts[0];
  const highest = amounts.at(-1);
  if (!lowest || !highest) return [];
  const includesFree = parsedCosts.some(({ texts }) => texts.some(isFree));
  return [
    includesFree ? ({ free: true } as const) : endOf(lowest),
    ...(Number(highest.value) > (includesFree ? 0 : Number(lowest.value)) ? [endOf(highest)] : []),
  ];
}

const endOf = (amount: Amount): RangeEnd => (Number(amount.value) === 0 ? { free: true } : { free: false, amount });

const textsOf = (parsedCosts: readonly ParsedCost[]) => [...new Set(parsedCosts.flatMap(({ texts }) => texts))];

function valuesOf(parsedCosts: readonly ParsedCost[]): string[] {
  const words = parsedCosts.filter(({ amounts }) => amounts.length === 0).flatMap(({ texts }) => texts.map((text) => sanitizeTitle(text)));
  const numbers = parsedCosts.flatMap(({ amounts }) => amounts.map(({ value }) => value)).sort((one, other) => Number(one) - Number(other));
  return [...new Set([...words, ...numbers])];
}

/** Returns one value in stored form: entities decoded, without tags and control characters, trimmed. */
function plainCost(member: unknown): string {
  if (member === null || member === undefined || member === false) return '';
  if (typeof member === 'number') return costOfNumber(member);
  return typeof member === 'string'
    ? stripControlCharacters(stripAllTags(decodeEntities(member))).trim()
    : member === true
      ? '1'
      : String(member);
}

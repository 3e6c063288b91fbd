import { numberText } from '../wordpress/php/number.ts';
import { tableOf } from '../wordpress/table.ts';

/** A price within a text. */
export interface Amount {
  /** The number as written: `1.000,50`. */
  readonly text: string;
  /** The number with a decimal point and without thousands separators: `1000.50`. */
  readonly value: string;
  /** The currency directly next to the number; undefined if there is none. */
  readonly symbol?: string | undefined;
  readonly position?: 'prefix' | 'postfix' | undefined;
}

/**
 * A cost, parsed. `hasOtherWords`: words beside the amounts are neither currencies nor part of a range, so
 * that the text cannot be reformatted.
 */
export interface ParsedCost {
  readonly amounts: readonly Amount[];
  readonly hasOtherWords: boolean;
  /** Items of a list without a number, such as `Donation` in `Donation, 5, 7.50`. */
  readonly texts: readonly string[];
}

/** Words for a price of zero, in languages in which calendars are often written. */
export const FREE_WORDS: readonly string[] = ['Free', 'Gratis', 'Gratuito', 'Gratuita', 'Gratuit', 'Gratuite', 'Kostenlos', 'Frei'];
const FREE = new Set(FREE_WORDS.map((word) => word.toLowerCase()));

/** Whether a text is a word for a price of zero, in any case. */
export const isFree = (text: string): boolean => FREE.has(text.toLowerCase());

/** Separator of the ends of a range, as records show it. */
export const RANGE_SEPARATOR = ' – ';

/** Length of a text in characters up to which prices are searched in it. A longer one counts as words. */
const MAX_PARSED = 2000;

/** ISO 4217 codes of currencies in use. They are recognised in any case. */
const CODES = new Set(
  `AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTC BTN BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE
  CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR
  KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN
  PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH
  UGX USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWL`.split(/\s+/),
);
/** Currencies whose prices are written with three decimals, in which `2.500` is two and a half. */
const THREE_DECIMALS = new Set(['BHD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND']);
/** Currency abbreviations made of letters, and currency names in common languages, in lower case. */
const CURRENCY_NAMES = new Set(
  'kr kr. zł kč ft lei fr fr. sfr sfr. руб руб. р. лв лв. din rs rs. rp rm r s/ kn euro euros dollar dollars pound pounds franc francs franken'.split(
    ' ',
  ),
);
/** Words and characters between the ends of a range or the items of a list. */
const CONNECTOR = /^(?:[-–—~/|;&,]|\.{2,3}|…|to|and|or|up to|a|à|al|e|o|bis|und|oder|et|ou|y|hasta|jusqu['’]à|fino a)$/i;
const LIST = /[,;|\n]/;

/** Spaces that separate thousands. */
const THOUSANDS_SPACE = '[ \\u00a0\\u2009\\u202f]';
const NUMBER = new RegExp(
  `\\d{1,3}(?:${THOUSANDS_SPACE}\\d{3})+(?!\\d)(?:[.,]\\d{1,2}(?!\\d))?|\\d+(?:[.,'’]\\d+)*|(?<![\\p{L}\\d])\\.\\d+`,
  'gu',
);

/**
 * Parses a text for prices: lists, ranges, decimal comma or point, thousands separators, a currency next to each number
 * (decision D37). The free end of a range, as records show it (`Free – $10`), is an amount of zero. `code`: the
 * currency, if it is stated beside the text (ISO 4217).
 */
export function parseCost(text: string, code = ''): ParsedCost {
  if (text.length > MAX_PARSED) return asWords(text);
  const [start, ...others] = text.split(RANGE_SEPARATOR, 2);
  if (others.length === 0 || !isFree(start!.trim())) return parseAmounts(text, code);
  const rest = parseAmounts(text.slice(start!.length + RANGE_SEPARATOR.length), code);
  return rest.amounts.length === 0 ? parseAmounts(text, code) : { ...rest, amounts: [{ text: '0', value: '0' }, ...rest.amounts] };
}

/** Returns a text without a look at its numbers. */
export const asWords = (text: string): ParsedCost => ({ amounts: [], hasOtherWords: true, texts: [text.trim()] });

/**
 * Returns a number as the text of a cost. Exactly three decimals get a zero, since they would count as thousands in a
 * text (decision D37).
 */
export const costOfNumber = (value: number): string => numberText(value).replace(/^-?\d+\.\d{3}$/, '$&0');

function parseAmounts(text: string, code: string): ParsedCost {
  const numbers = findNumbers(text);
  const amounts: Amount[] = [];
  const texts: string[] = [];
  let hasOtherWords = false;
  let before: TextBetween = parseGap(text.slice(0, numbers[0]?.from ?? text.length), 'first');
  for (const [index, number] of numbers.entries()) {
    if (number.value === undefined) hasOtherWords = true;
    const next = numbers[index + 1];
    const after = parseGap(text.slice(number.to, next?.from ?? text.length), next ? 'between' : 'last');
    const symbol = before.prefix ?? after.postfix;
    if (number.value !== undefined) {
      const position = symbol === undefined ? undefined : before.prefix === undefined ? 'postfix' : 'prefix';
      amounts.push({ text: number.text, value: before.minus ? `-${number.value}` : number.value, symbol, position });
    }
    hasOtherWords ||= before.hasOtherWords || after.hasOtherWords;
    for (const item of before.texts) texts.push(item);
    if (!next) for (const item of after.texts) texts.push(item);
    before = after;
  }
  return { amounts: inOneScale(amounts, code), hasOtherWords, texts: numbers.length === 0 ? [text.trim()] : texts };
}

/**
 * Takes the point in all amounts of a text for the decimal point if one of them names a currency with three decimals,
 * or all have this one.
 */
function inOneScale(amounts: readonly Amount[], code: string): readonly Amount[] {
  if (![code, ...amounts.map(({ symbol = '' }) => symbol)].some((currency) => THREE_DECIMALS.has(currency.toUpperCase()))) return amounts;
  return amounts.map((amount) => {
    const { text, value } = amount;
    return /^\d{1,3}\.\d{3}$/.test(text) ? { ...amount, value: value.startsWith('-') ? `-${text}` : text } : amount;
  });
}

/** A number found in a text; `value` is undefined for digits that are not a number, such as a date. */
interface FoundNumber {
  readonly text: string;
  readonly value: string | undefined;
  readonly from: number;
  readonly to: number;
}

function findNumbers(text: string): FoundNumber[] {
  return Array.from(text.matchAll(NUMBER)).flatMap((match): FoundNumber[] => {
    const matchText = match[0];
    const value = decimalOf(matchText);
    if (value !== undefined || !matchText.includes(','))
      return [{ text: matchText, value, from: match.index, to: match.index + matchText.length }];
    // If the whole is not a number, it is a list without spaces: 10,20,30.
    let position = match.index;
    return matchText.split(',').map((item) => {
      const number = { text: item, value: decimalOf(item), from: position, to: position + item.length };
      position += item.length + 1;
      return number;
    });
  });
}

const THOUSANDS: ReadonlyMap<string, RegExp> = tableOf({ ',': /^\d{1,3}(?:,\d{3})+$/, '.': /^\d{1,3}(?:\.\d{3})+$/ });
/** Spaces and apostrophes that separate thousands. */
const LOOSE_THOUSANDS = new RegExp(`(?:${THOUSANDS_SPACE}|['’])(?=\\d{3}(?!\\d))`, 'gu');
/** Groups of two digits and a last one of three: 1,00,000. */
const INDIAN = /^\d{1,2}(?:,\d{2})+,\d{3}$/;

/** Returns a number with a decimal point and without thousands separators; undefined if the text is not a number. */
function decimalOf(numberText: string): string | undefined {
  const text = numberText.replace(LOOSE_THOUSANDS, '');
  if (/^\d+$/.test(text)) return text;
  if (/^\.\d+$/.test(text)) return `0${text}`;
  if (!/^[\d.,]+$/.test(text)) return undefined;
  const decimalSeparator =
    text.includes(',') && text.includes('.') ? text[Math.max(text.lastIndexOf(','), text.lastIndexOf('.'))]! : undefined;
  if (decimalSeparator !== undefined) {
    const [integer, fraction, ...rest] = text.split(decimalSeparator) as [string, string, ...string[]];
    const thousandsSeparator = decimalSeparator === ',' ? '.' : ',';
    const isGrouped = THOUSANDS.get(thousandsSeparator)!.test(integer) || (thousandsSeparator === ',' && INDIAN.test(integer));
    return isGrouped && rest.length === 0 ? `${integer.replaceAll(thousandsSeparator, '')}.${fraction}` : undefined;
  }
  const separator = text.includes(',') ? ',' : '.';
  // A leading zero is never followed by a thousands separator: 0.500 is a half.
  if (!text.startsWith('0') && (THOUSANDS.get(separator)!.test(text) || (separator === ',' && INDIAN.test(text))))
    return text.replaceAll(separator, '');
  return text.split(separator).length === 2 ? text.replace(separator, '.') : undefined;
}

/** The text between two numbers, before the first or after the last. */
interface TextBetween {
  readonly postfix?: string | undefined;
  readonly prefix?: string | undefined;
  readonly minus: boolean;
  readonly hasOtherWords: boolean;
  readonly texts: readonly string[];
}

function parseGap(raw: string, place: 'first' | 'between' | 'last'): TextBetween {
  // "10,-" and "10.–" mean that there are no cents.
  const text = raw.replace(/^[.,][-–—]+/, '').replace(/^[.]+(?=\s|$)/, '');
  const parts = text.split(LIST);
  const [head, tail] = [parts[0]!.trim(), parts.at(-1)!.trim()];
  const isList = parts.length > 1;
  const texts = parts
    .slice(place === 'first' ? 0 : 1, place === 'last' ? undefined : -1)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (place === 'between' && !isList) return parseRangeText(text.trim());
  const postfix = place === 'first' ? '' : head;
  const [minus, prefix] = place === 'last' ? [false, ''] : splitSign(tail);
  return { ...currenciesAround(postfix, prefix), minus, texts };
}

/**
 * Returns the currencies in two texts, the one after a number and the one before the next; each may be among other
 * words.
 */
function currenciesAround(after: string, before: string): Pick<TextBetween, 'postfix' | 'prefix' | 'hasOtherWords'> {
  const currencies = { postfix: asCurrency(after), prefix: asCurrency(before) };
  const hasOtherWords = (after !== '' && currencies.postfix === undefined) || (before !== '' && currencies.prefix === undefined);
  return {
    postfix: currencies.postfix ?? certainCurrency(after.split(/\s/)[0]!),
    prefix: currencies.prefix ?? certainCurrency(before.split(/\s/).at(-1)!),
    hasOtherWords,
  };
}

/**
 * Splits the text of a range, as in `10 - 20`, `10€ to 20€`, `$10 - $20`: into the part after the first number, the
 * connector, and the part before the second number.
 */
function parseRangeText(text: string): TextBetween {
  const emptyGap = { minus: false, texts: [] };
  if (CONNECTOR.test(text)) return { ...emptyGap, hasOtherWords: false };
  const pieces = text.split(/\s+|(?<=[-–—~/&])|(?=[-–—~/&])/).filter((piece) => piece !== '');
  const connectorIndex = pieces.findIndex((_, index) => CONNECTOR.test(pieces[index]!));
  if (connectorIndex < 0) return { ...emptyGap, hasOtherWords: true };
  return { ...emptyGap, ...currenciesAround(pieces.slice(0, connectorIndex).join(' '), pieces.slice(connectorIndex + 1).join(' ')) };
}

/**
 * Splits off a minus sign before the first number or before its currency. After other words it is a dash: "Adults -
 * 10".
 */
const splitSign = (text: string): [boolean, string] => {
  if (/^[-−]/.test(text)) return [true, text.slice(1).trim()];
  if (!/[-−]$/.test(text)) return [false, text];
  const rest = text.slice(0, -1).trim();
  return [rest === '' || asCurrency(rest) !== undefined, rest];
};

/** Returns the word if it is a currency even among other words: "From $", "€ per person". */
const certainCurrency = (word: string): string | undefined =>
  /^\p{L}{0,3}\p{Sc}\p{L}{0,3}$/u.test(word) || CODES.has(word) ? word : undefined;

/**
 * Returns the text if it is a currency: a symbol with up to three letters before or after it, a code or a known
 * abbreviation.
 */
function asCurrency(text: string): string | undefined {
  if (/^\p{L}{0,3}\p{Sc}\p{L}{0,3}$/u.test(text)) return text;
  if (CODES.has(text.toUpperCase()) || CURRENCY_NAMES.has(text.toLowerCase())) return text;
  // A code together with a symbol: "US $", "EUR €".
  const [first, second, ...rest] = text.split(' ');
  return first &&
    second &&
    rest.length === 0 &&
    /\p{Sc}/u.test(text) &&
    (CODES.has(first) || CODES.has(second) || /^\p{Lu}{1,3}$/u.test(first))
    ? text
    : undefined;
}

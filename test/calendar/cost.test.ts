import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { FREE_WORDS } from '../../src/calendar/amounts.ts';
import { type CurrencyMetas, costMeta, costOf, offerPrice } from '../../src/calendar/cost.ts';

const options = { defaultCurrencySymbol: '$', reverseCurrencyPosition: false, freeText: 'Free' };
const none: CurrencyMetas = { symbol: '', position: '', code: '' };
const show = (stored: string[], metas: Partial<CurrencyMetas> = {}, other = {}) => {
  const { cost, cost_details } = costOf(stored, { ...none, ...metas }, { ...options, ...other });
  return [cost, cost_details.values, `${cost_details.currency_symbol} ${cost_details.currency_position}`.trim()];
};

describe('costOf', () => {
  it.each<[string, string, string[], string]>([
    ['', '', [], ''],
    ['10', '$10', ['10'], ''],
    ['10.5', '$10.5', ['10.5'], ''],
    ['20.50', '$20.50', ['20.50'], ''],
    ['.75', '$.75', ['0.75'], ''],
    ['0', 'Free', ['0'], ''],
    ['0.00', 'Free', ['0.00'], ''],
    ['00', 'Free', ['00'], ''],
    ['free', 'free', ['free'], ''],
    ['Free', 'Free', ['free'], ''],
    ['By donation', 'By donation', ['by-donation'], ''],
    ['-5', '-$5', ['-5'], ''],
  ])('shows %j as %s', (stored, cost, values, symbol) => expect(show([stored])).toEqual([cost, values, symbol]));

  it.each<[string, string, string[], string]>([
    ['1,000', '$1,000', ['1000'], ''],
    ['1.000', '$1.000', ['1000'], ''],
    ['1.000,50', '$1.000,50', ['1000.50'], ''],
    ['1,500.75', '$1,500.75', ['1500.75'], ''],
    ['1 000', '$1 000', ['1000'], ''],
    ['1\u202f000,50', '$1\u202f000,50', ['1000.50'], ''],
    ["1'000.50", '$1&#039;000.50', ['1000.50'], ''],
    ['1.234.567', '$1.234.567', ['1234567'], ''],
    ['₹1,00,000', '₹1,00,000', ['100000'], '₹ prefix'],
    ['10,50', '$10,50', ['10.50'], ''],
    ['0.500', '$0.500', ['0.500'], ''],
    ['10,-', '$10', ['10'], ''],
    ['CHF 10.–', 'CHF10', ['10'], 'CHF prefix'],
  ])('reads the number in %j', (stored, cost, values, symbol) => expect(show([stored])).toEqual([cost, values, symbol]));

  it('takes a point for the decimal point in currencies with three decimals', () => {
    expect(show(['KWD 2.500'])).toEqual(['KWD2.500', ['2.500'], 'KWD prefix']);
    expect(show(['2.500 – 3.500 KWD'])).toEqual(['2.500KWD – 3.500KWD', ['2.500', '3.500'], 'KWD postfix']);
    expect(offerPrice(['KWD 2.500 - 3.500'])).toBe('2.500 – 3.500');
    expect(show(['2.500 EUR'])).toEqual(['2.500EUR', ['2500'], 'EUR postfix']);
    expect(show(['25.000 IQD'])[1]).toEqual(['25000']);
  });

  it.each(['Free – $10', 'Gratis – $10', 'free – $10'])('reads %j as a range that begins at zero', (stored) =>
    expect([show([stored]), offerPrice([stored])]).toEqual([['Free – $10', ['0', '10'], '$ prefix'], '0 – 10']),
  );

  it.each(['Free – ask', 'Adults – $10'])('leaves %j as words', (stored) => expect(show([stored])[0]).toBe(stored));

  it.each<[string, string, string]>([
    ['$10', '$10', '$ prefix'],
    ['10€', '10€', '€ postfix'],
    ['€ 10,50', '€10,50', '€ prefix'],
    ['10 USD', '10USD', 'USD postfix'],
    ['EUR 10', 'EUR10', 'EUR prefix'],
    ['R$ 10', 'R$10', 'R$ prefix'],
    ['US$ 25', 'US$25', 'US$ prefix'],
    ['₿1', '₿1', '₿ prefix'],
    ['120 kr', '120kr', 'kr postfix'],
    ['120 zł', '120zł', 'zł postfix'],
    ['-$5', '-$5', '$ prefix'],
    ['$-5', '-$5', '$ prefix'],
    ['EUR -5', '-EUR5', 'EUR prefix'],
  ])('recognizes the currency in %j', (stored, cost, symbol) => expect([show([stored])[0], show([stored])[2]]).toEqual([cost, symbol]));

  it.each<[string, string, string[]]>([
    ['10 - 20', '$10 – $20', ['10', '20']],
    ['10-20', '$10 – $20', ['10', '20']],
    ['20–10', '$10 – $20', ['10', '20']],
    ['10 to 20', '$10 – $20', ['10', '20']],
    ['$10 - $20.50', '$10 – $20.50', ['10', '20.50']],
    ['£5 - £10', '£5 – £10', ['5', '10']],
    ['£5-10', '£5 – £10', ['5', '10']],
    ['10-20€', '10€ – 20€', ['10', '20']],
    ['10€/5€', '5€ – 10€', ['5', '10']],
    ['10 EUR - 20 EUR', '10EUR – 20EUR', ['10', '20']],
    ['0 - 10', 'Free – $10', ['0', '10']],
    ['10 - 10', '$10', ['10']],
    ['€10 / £9', '£9 – €10', ['9', '10']],
    ['1.000 - 2.000', '$1.000 – $2.000', ['1000', '2000']],
  ])('shows the range %j as %s', (stored, cost, values) => expect(show([stored]).slice(0, 2)).toEqual([cost, values]));

  it.each<[string, string, string[]]>([
    ['10, 20, 30', '$10 – $30', ['10', '20', '30']],
    ['10,20,30', '$10 – $30', ['10', '20', '30']],
    ['10.50,20.50', '$10.50 – $20.50', ['10.50', '20.50']],
    ['10; 20', '$10 – $20', ['10', '20']],
    ['€5, €10', '€5 – €10', ['5', '10']],
    ['Donation, 5, 7.50', '$5 – $7.50', ['5', '7.50']],
    ['Free, 10', 'Free – $10', ['10']],
    ['5, 7, Donation', '$5 – $7', ['5', '7']],
  ])('shows the list %j as %s', (stored, cost, values) => expect(show([stored]).slice(0, 2)).toEqual([cost, values]));

  it.each<[string, string[], string]>([
    ['From $5', ['5'], '$ prefix'],
    ['5€ per person', ['5'], '€ postfix'],
    ['10 EUR (children free)', ['10'], 'EUR postfix'],
    ['5 per person', ['5'], ''],
    ['2x10€', ['2', '10'], '€ postfix'],
    ['until 10.12.2026', [], ''],
    ['Adults - 10', ['10'], ''],
    ['Adults -10', ['10'], ''],
    ['Adults - 10€, children - 5€', ['5', '10'], '€ postfix'],
    ['Free - 10', ['10'], ''],
    ['50%', ['50'], ''],
  ])('shows text that is not only an amount unchanged: %j', (stored, values, symbol) =>
    expect(show([stored])).toEqual([stored, values, symbol]),
  );

  it('joins the costs of several rows', () => {
    expect(show(['1', '2'])).toEqual(['$1 – $2', ['1', '2'], '']);
    expect(show(['30', '', '5'])).toEqual(['$5 – $30', ['5', '30'], '']);
    expect(show(['Free', '10'])).toEqual(['Free – $10', ['free', '10'], '']);
    expect(show(['Adults €20', 'Children €10'])).toEqual(['€10 – €20', ['10', '20'], '€ prefix']);
    expect(show(['Donation', 'Gift'])).toEqual(['Donation, Gift', ['donation', 'gift'], '']);
    expect(show(['10', '10'])).toEqual(['$10', ['10'], '']);
  });

  it('uses the stored currency if the text names none', () => {
    expect(show(['10'], { symbol: '€', position: 'postfix' })).toEqual(['10€', ['10'], '€ postfix']);
    expect(show(['£10'], { symbol: '€', position: 'postfix' })).toEqual(['£10', ['10'], '£ prefix']);
    expect(costOf(['10'], { ...none, code: 'EUR' }, options).cost_details.currency_code).toBe('EUR');
  });
  it('does not treat a minus sign as a currency symbol', () =>
    expect(show(['-5'], { symbol: '-', position: 'prefix' })).toEqual(['-$5', ['-5'], '']));
  it("follows the site's currency settings and its word for free events", () => {
    expect(show(['10'], {}, { defaultCurrencySymbol: '€', reverseCurrencyPosition: true })[0]).toBe('10€');
    expect(show(['0'], {}, { freeText: 'Gratis' })[0]).toBe('Gratis');
  });
  it('escapes markup', () => expect(show(['<b>x</b>'])[0]).toBe('&lt;b&gt;x&lt;/b&gt;'));
});

describe('costMeta', () => {
  it.each<[unknown, string[], string | null, string | null]>([
    [10, ['10'], null, null],
    [10.5, ['10.5'], null, null],
    ['  7  ', ['7'], null, null],
    ['$10', ['$10'], '$', 'prefix'],
    ['10 USD', ['10 USD'], 'USD', 'postfix'],
    ['R$ 10', ['R$ 10'], 'R$', 'prefix'],
    ['&euro;10', ['€10'], '€', 'prefix'],
    ['£5 - £10', ['£5 - £10'], '£', 'prefix'],
    ['€5 - £10', ['€5 - £10'], null, null],
    ['<b>5</b>', ['5'], null, null],
    ['free', ['free'], null, null],
    [0, ['0'], null, null],
    ['0', ['0'], null, null],
    [true, ['1'], null, null],
    [-5, ['-5'], null, null],
    [['10', '$20'], ['10', '$20'], '$', 'prefix'],
    [[0, '', null, 5], ['0', '5'], null, null],
    [{ min: 1, max: 2 }, ['1', '2'], null, null],
    ['', [], null, null],
    ['   ', [], null, null],
    [null, [], null, null],
    [false, [], null, null],
    [[], [], null, null],
    [{}, [], null, null],
  ])('stores %j as %j', (sent, costs, symbol, position) => expect(costMeta(sent)).toEqual({ costs, symbol, position }));

  it.each([[[['10']]], [[{ a: 1 }]], [{ a: { b: 1 } }]])('refuses %j', (sent) => expect(costMeta(sent)).toBeNull());
});

describe('offerPrice', () => {
  it.each([
    [['10€'], '10'],
    [['1.000,50'], '1000.50'],
    [['20 - 35'], '20 – 35'],
    [['Donation, 5, 7.50'], '5 – 7.50'],
    [['0'], '0'],
    [['Free'], '0'],
    [['Donation'], 'Donation'],
    [[], ''],
  ])('returns the price for schema.org: %j gives %j', (stored, price) => expect(offerPrice(stored)).toBe(price));
});

it.each([
  [12.345, '12.3450'],
  [-0.125, '-0.1250'],
  [1234.5, '1234.5'],
  [2.5, '2.5'],
])('the number %d is stored as %j, whose point is a decimal point', (number, stored) => {
  expect(costMeta(number)?.costs).toEqual([stored]);
  expect(Number(costOf([stored], none, options).cost_details.values[0])).toBe(number);
});

it('costs that are longer together than one text may be are refused', () => {
  const long = 'a'.repeat(40_000);
  expect(costMeta([long])).not.toBeNull();
  expect(costMeta([long, long])).toBeNull();
});

describe('hostile texts', () => {
  it.each([
    ['blanks', `a${' '.repeat(200_000)}b 5`],
    ['commas', 'a,'.repeat(200_000)],
    ['numbers', '1,'.repeat(100_000)],
    ['dots', `1${'.1'.repeat(100_000)}`],
    ['dashes', `5 ${'- '.repeat(100_000)}6`],
  ])('are read without excessive backtracking: many %s', (_, text) => expect(costOf([text], none, options).cost).not.toBe(''));

  const dense = '0;'.repeat(450);
  it.each([
    ['a long text', [dense.repeat(3)], '$7'],
    ['long lists', Array.from({ length: 1000 }, (_, index) => `${dense}${index}`), 'Free – $10'],
  ])('no prices are searched in %s', (_, stored, cost) => expect(costOf([...stored, '7'], none, options).cost).toBe(cost));
});

it('the word for a price of zero is understood in the languages of the records', () => {
  const folder = new URL('../../locales/', import.meta.url);
  const words = readdirSync(folder).map((language) => JSON.parse(readFileSync(new URL(`${language}/site.json`, folder), 'utf8')).free);
  expect(FREE_WORDS).toEqual(expect.arrayContaining(words));
});

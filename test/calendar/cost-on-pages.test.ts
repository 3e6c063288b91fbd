import { expect, it } from '@jest/globals';
import { costOnPages } from '../../src/calendar/cost-on-pages.ts';

const OPTIONS = { defaultCurrencySymbol: '$', reverseCurrencyPosition: false, freeText: 'Free' };
const metas = (symbol = '', position = '') => ({ symbol, position, code: '' });

it.each<[string[], ReturnType<typeof metas>, string]>([
  [[], metas(), ''],
  [['15'], metas(), '$15'],
  [['€10'], metas('€', 'prefix'), '€10'],
  [['10€'], metas('€', 'postfix'), '10€'],
  [['10 - 20'], metas(), '$10 – $20'],
  [['0'], metas(), 'Free'],
  [['0', '5'], metas(), 'Free – $5'],
  [['Donation'], metas(), 'Donation'],
  [['Donation, 5, 7.50'], metas(), '$7.50'],
  [['10,20,30'], metas(), 'Free'],
  [['<b>'], metas(), '&lt;b&gt;'],
])('the cost %j with the currency %j reads %s on pages', (stored, currency, shown) =>
  expect(costOnPages(stored, currency, OPTIONS)).toBe(shown),
);

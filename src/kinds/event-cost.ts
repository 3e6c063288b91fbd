import { type CostOptions, type CurrencyMetas, costMeta, costOf } from '../calendar/cost.ts';
import { failParam } from '../errors.ts';
import { type Metas, metaOf } from '../wordpress/rows.ts';
import type { Before, RenderContext, Rows } from './kind.ts';

/** A cost is kept as sent, a row for each amount, with the symbol and its place beside it (decisions D30, D37). */
export function costChange(values: { readonly cost?: unknown }, before: Before | undefined): Rows['metas'] {
  if (!('cost' in values)) return {};
  const cleared = before ? [''] : [];
  if (values.cost === null) return { _EventCost: [], _EventCurrencySymbol: cleared, _EventCurrencyPosition: cleared };
  const read = costMeta(values.cost);
  if (read === null) return failParam('cost');
  return {
    _EventCost: read.costs,
    _EventCurrencySymbol: read.symbol === null ? cleared : [read.symbol],
    _EventCurrencyPosition: read.position === null ? cleared : [read.position],
  };
}

/** The members of a record that tell the cost. */
export const costRecord = (metas: Metas | undefined, context: Pick<RenderContext, 'settings' | 'free'>) =>
  costOf(metas?.get('_EventCost') ?? [], currencyOf(metas), costOptions(context));

/** What an event says of its currency. */
export const currencyOf = (metas: Metas | undefined): CurrencyMetas => ({
  symbol: metaOf(metas, '_EventCurrencySymbol') ?? '',
  position: metaOf(metas, '_EventCurrencyPosition') ?? '',
  code: metaOf(metas, '_EventCurrencyCode') ?? '',
});

/** How the site shows costs. */
export const costOptions = ({ settings, free }: Pick<RenderContext, 'settings' | 'free'>): CostOptions => ({
  defaultCurrencySymbol: settings.calendar.currencySymbol,
  reverseCurrencyPosition: settings.calendar.currencyAfter,
  freeText: free,
});

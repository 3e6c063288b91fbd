import { type CostOptions, type CurrencyMetas, costMeta, costOf } from '../../calendar/cost.ts';
import { failParam } from '../../errors.ts';
import { type Metas, metaOf } from '../../wordpress/rows.ts';
import type { Rows, StoredPost } from '../kind.ts';
import type { RenderContext } from '../rendering.ts';
import { COST } from './metas.ts';

/**
 * Returns the metas of a changed cost: it is stored as sent, one row for each amount, with the currency symbol and its
 * position in metas of their own (decisions D30, D37).
 */
export function costChange(values: { readonly cost?: unknown }, before: StoredPost | undefined): Rows['metas'] {
  if (!('cost' in values)) return {};
  const emptyRows = before ? [''] : [];
  if (values.cost === null) return { [COST.amounts]: [], [COST.symbol]: emptyRows, [COST.position]: emptyRows };
  const parsedCost = costMeta(values.cost);
  if (parsedCost === null) return failParam('cost', 'cost-invalid');
  return {
    [COST.amounts]: parsedCost.costs,
    [COST.symbol]: parsedCost.symbol === null ? emptyRows : [parsedCost.symbol],
    [COST.position]: parsedCost.position === null ? emptyRows : [parsedCost.position],
  };
}

/** Returns the members of a record that show the cost. */
export const costRecord = (metas: Metas | undefined, context: Pick<RenderContext, 'settings' | 'freeLabel'>) =>
  costOf(metas?.get(COST.amounts) ?? [], currencyOf(metas), costOptions(context));

/** Currency metas of an event. */
export const currencyOf = (metas: Metas | undefined): CurrencyMetas => ({
  symbol: metaOf(metas, COST.symbol) ?? '',
  position: metaOf(metas, COST.position) ?? '',
  code: metaOf(metas, COST.code) ?? '',
});

/** The site's settings for showing costs. */
export const costOptions = ({ settings, freeLabel }: Pick<RenderContext, 'settings' | 'freeLabel'>): CostOptions => ({
  defaultCurrencySymbol: settings.calendar.currencySymbol,
  reverseCurrencyPosition: settings.calendar.isCurrencyAfterAmount,
  freeText: freeLabel,
});

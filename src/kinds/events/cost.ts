import { FREE_WORDS } from '../../calendar/amounts.ts';
import { type CostOptions, type CurrencyMetas, costMeta, costOf, shownCost } from '../../calendar/cost.ts';
import type { SiteSettings } from '../../calendar/settings.ts';
import { failParam } from '../../errors.ts';
import { storedText, storedTexts } from '../../wordpress/php/serialized.ts';
import { type Metas, metaOf, textsOf } from '../../wordpress/rows.ts';
import type { Rows, StoredPost } from '../kind.ts';
import type { RenderContext, RuleContext } from '../rendering.ts';
import { COST } from './metas.ts';

/**
 * Returns the metas of a changed cost: it is stored as sent, one row for each amount, with the currency symbol and its
 * position in metas of their own (decisions D30, D37). A cost that is sent back as records show it changes nothing.
 */
export function costChange(
  values: { readonly cost?: unknown },
  before: StoredPost | undefined,
  { settings }: Pick<RuleContext, 'settings'>,
): Rows['metas'] {
  if (!('cost' in values) || isShownCost(values.cost, before?.metas, settings, shownCost)) return {};
  const emptyRows = before ? [storedText('')] : [];
  if (values.cost === null) return { [COST.amounts]: [], [COST.symbol]: emptyRows, [COST.position]: emptyRows };
  const parsedCost = costMeta(values.cost);
  if (parsedCost === null) return failParam('cost', 'cost-invalid');
  return {
    [COST.amounts]: storedTexts(parsedCost.costs),
    [COST.symbol]: parsedCost.symbol === null ? emptyRows : [storedText(parsedCost.symbol)],
    [COST.position]: parsedCost.position === null ? emptyRows : [storedText(parsedCost.position)],
  };
}

/** Returns the cost that a record shows for stored values. */
type ShowCost = (storedValues: readonly string[], currency: CurrencyMetas, options: CostOptions) => string;

/** Words for a price of zero in records of any language, and the digit that forms show instead. */
const FREE_LABELS = ['0', ...FREE_WORDS];

/** Returns whether a sent cost is the stored one as records show it, in any language. */
export function isShownCost(sent: unknown, metas: Metas | undefined, settings: SiteSettings, show: ShowCost): boolean {
  const storedValues = textsOf(metas, COST.amounts);
  if (typeof sent !== 'string' || storedValues.length === 0) return false;
  const sentText = textOf(sent);
  return (
    sentText !== undefined &&
    FREE_LABELS.some((freeLabel) => textOf(show(storedValues, currencyOf(metas), costOptions({ settings, freeLabel }))) === sentText)
  );
}

/** Returns the text of a cost without markup, as it would be stored. */
const textOf = (cost: string): string | undefined => costMeta(cost)?.costs[0];

/** Returns the members of a record that show the cost. */
export const costRecord = (metas: Metas | undefined, context: Pick<RenderContext, 'settings' | 'freeLabel'>) =>
  costOf(textsOf(metas, COST.amounts), currencyOf(metas), costOptions(context));

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

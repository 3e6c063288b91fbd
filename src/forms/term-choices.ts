import { groupedBy } from '../grouped-by.ts';
import { termKind } from '../kinds/index.ts';
import type { TermListValues } from '../kinds/kind.ts';
import type { TermKindName } from '../kinds/kind-names.ts';
import type { Values } from '../kinds/param.ts';
import type { TermRecord } from '../kinds/shapes.ts';
import { listTerms } from '../records/terms.ts';
import { withMaxPerPage } from '../site.ts';
import { decodeEntities } from '../wordpress/content/entities.ts';
import type { TermChoice } from './control.ts';
import type { FormContext } from './form-context.ts';

/*
 * Terms to choose from in forms and lists.
 */

/** Maximum number of terms that a form or a page shows as one tree. */
export const MAX_TREE_TERMS = 10_000;

/**
 * Returns the terms of a kind, children directly after their parent, those of `language` before others. If there are
 * too many, the first ones by name. Terms with these `ids` are always among them, since a form that does not show a
 * chosen term would remove it.
 */
export async function termChoices(
  context: FormContext,
  name: TermKindName,
  { ids = [], language }: { readonly ids?: readonly number[]; readonly language?: string | undefined } = {},
): Promise<TermChoice[]> {
  const { records } = await readTerms(context, name, { per_page: MAX_TREE_TERMS });
  const listedIds = new Set(records.map(({ id }) => id));
  const otherIds = records.length < MAX_TREE_TERMS ? [] : ids.filter((id) => !listedIds.has(id));
  const all = otherIds.length === 0 ? records : [...(await readTermsById(context, name, otherIds)), ...records];
  return inTree(languageFirst(all, language), context);
}

/** Returns the terms with these ids, without their places in the tree. */
export const termsById = async (context: FormContext, name: TermKindName, ids: readonly number[]): Promise<TermChoice[]> =>
  (await readTermsById(context, name, ids)).map((record) => toChoice(record, context));

const readTermsById = async (context: FormContext, name: TermKindName, ids: readonly number[]): Promise<readonly TermRecord[]> =>
  ids.length === 0 ? [] : (await readTerms(context, name, { include: [...new Set(ids)], per_page: ids.length })).records;

/** Returns one page of the terms of a kind, by name, and their number. `search`: part of a name or a slug. */
export async function termPageOf(
  context: FormContext,
  name: TermKindName,
  { search, page, size }: { readonly search: string; readonly page: number; readonly size: number },
): Promise<{ readonly terms: readonly TermChoice[]; readonly total: number }> {
  const { records, total } = await readTerms(context, name, { ...(search === '' ? {} : { search }), page, per_page: size });
  return { terms: records.map((record) => toChoice(record, context)), total };
}

const readTerms = ({ site, caller }: FormContext, name: TermKindName, values: TermListValues & { readonly per_page: number }) =>
  listTerms(withMaxPerPage(site, values.per_page), caller, termKind(name), { ...values, hide_empty: false });

function toChoice(record: TermRecord, { settings }: FormContext): TermChoice {
  const language = settings.contentLanguages?.languages.find(({ code }) => code === record.language)?.name;
  return { id: record.id, name: decodeEntities(record.name), language, depth: 0 };
}

/** Returns terms in the order of their tree, with their depths. */
function inTree(records: readonly TermRecord[], context: FormContext): TermChoice[] {
  const terms = records.map((record) => ({ ...toChoice(record, context), parent: record.parent ?? 0 }));
  const ids = new Set(terms.map(({ id }) => id));
  const byParent = groupedBy(terms, ({ parent }) => (ids.has(parent) ? parent : 0));
  const choices: TermChoice[] = [];
  const seenIds = new Set<number>();
  const childrenOf = (parent: number, depth: number) => (byParent.get(parent) ?? []).map((term) => ({ ...term, depth })).reverse();
  const stack = childrenOf(0, 0);
  for (let term = stack.pop(); term !== undefined; term = stack.pop()) {
    if (seenIds.has(term.id)) continue;
    seenIds.add(term.id);
    const { parent: _, ...choice } = term;
    choices.push(choice);
    stack.push(...childrenOf(term.id, term.depth + 1));
  }
  return choices;
}

/** Returns records with those in this language before all others, otherwise in the same order. */
export const languageFirst = <Listed extends Values>(records: readonly Listed[], language: string | undefined): readonly Listed[] =>
  language === undefined
    ? records
    : records.toSorted((one, other) => Number(other.language === language) - Number(one.language === language));

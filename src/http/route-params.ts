import { type Grammar, MAX_BYTES } from '../kinds/grammars/grammar.ts';
import { anything, passedThrough, text } from '../kinds/grammars/grammars.ts';
import { kinds } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Param, Params, Values } from '../kinds/param.ts';
import type { Caller } from '../records/caller.ts';

/**
 * Returns parameters that a list takes without declaring them: `context`, with its effect on WordPress's own routes,
 * and filters that only other lists have. The latter have no effect here, but the list's URLs repeat them.
 */
export const undeclaredListParams = (kind: Kind): Params => {
  const names = kinds.flatMap((other) => Object.keys(other.filters)).filter((name) => !Object.hasOwn(kind.filters, name));
  return undescribedParams(['context', ...names]);
};

/** Declares parameters of these names, with any value. */
export const undescribedParams = (names: readonly string[]): Params =>
  Object.fromEntries(names.map((name) => [name, { grammar: passedThrough }]));

/** Returns the parameters that the URLs of a list repeat in addition to its filters (decisions D21, D25). */
export function paramsToCarry({ settings, content }: Caller, kind: Kind, values: Values): Values {
  const carriedValues = pickValues(CARRIED_PARAMS.get(kind) ?? {}, values);
  if (!settings.contentLanguages) return carriedValues;
  // The parameter for the language of the records is repeated as it was sent, unless the address names the same
  // language.
  const { translation_language: text, ...otherValues } = carriedValues;
  const { parameter, isChosen } = content;
  const isInAddress = isChosen && parameter === undefined && text === content.code;
  return {
    ...otherValues,
    ...(text === undefined || isInAddress ? {} : { translation_language: text }),
    ...(parameter ? Object.fromEntries([parameter]) : {}),
  };
}

const CARRIED_PARAMS = new Map(kinds.map((kind) => [kind, { ...undeclaredListParams(kind), translation_language: true, password: true }]));

/** The password that opens protected records. */
export const PASSWORD_PARAM = { password: { grammar: text(MAX_BYTES.password) } } satisfies Params;

/** Parameters for reading single records. */
export const READ_PARAMS = { ...PASSWORD_PARAM, context: { grammar: anything(MAX_BYTES.word) } } satisfies Params;

/** Returns the parameter for the id in the path of a route. */
export const requiredId = (grammar: Grammar): Params => ({ id: { grammar, required: true } });

/** Returns the parameters that a site has in addition to the declared ones. */
export const addedBySite = (params: Params, siteParams: Params): Params =>
  params === siteParams ? {} : Object.fromEntries(Object.entries(siteParams).filter(([name]) => !Object.hasOwn(params, name)));

/** Returns the same fields, none of them required, since an update names only what it changes. */
export const optional = (fields: Params): Params =>
  Object.fromEntries(Object.entries(fields).map(([name, { required: _, ...field }]): [string, Param] => [name, field]));

/** Returns only the values of these fields. */
export const pickValues = (fields: Readonly<Record<string, unknown>>, values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(fields, name)));

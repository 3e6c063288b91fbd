import { isDeepStrictEqual } from 'node:util';
import { isYesOrNo } from '../kinds/editable.ts';
import { isLinks } from '../kinds/fields.ts';
import type { PostKind } from '../kinds/kind.ts';
import type { Field, Values } from '../kinds/param.ts';
import { type ControlData, textOf } from './control.ts';
import { resolveLinks } from './control-data.ts';
import { controlOf } from './controls.ts';
import type { FormContext } from './form-context.ts';

/** The fields in a form of a kind. */
export interface FormFields {
  readonly kind: PostKind;
  readonly names: readonly string[];
}

/**
 * Returns the values of a form that differ from the stored ones, in the form that the API takes; for a new record, all
 * values that were entered. `initial`: initial values in the form of a new record. If one of them was emptied, the
 * empty value is included, so that it is not copied from the source.
 */
export async function changedValues(
  context: FormContext,
  { kind, names }: FormFields,
  {
    before,
    begun: initial = {},
    typed,
    data,
  }: { readonly before: Values | undefined; readonly begun?: Values; readonly typed: Values; readonly data: ControlData },
): Promise<Values> {
  const raw: Record<string, unknown> = {};
  const language = textOf({ ...before, ...typed }.language);
  for (const name of names) {
    const field = kind.fields[name]!;
    const control = controlOf(name, field);
    const same = isDeepStrictEqual(typed[name], control.toFormValue(before?.[name], data));
    const emptied = same && name in initial && !isDeepStrictEqual(typed[name], control.toFormValue(initial[name], data));
    if (same && !emptied && (before !== undefined || !isAlwaysIncluded(field))) continue;
    raw[name] = isLinks(field)
      ? await resolveLinks(context, field.place.kind, typed[name], language)
      : control.toApiValue(typed[name], data, (before ?? initial)[name]);
  }
  return raw;
}

/** Returns whether a field of a new record is always included: an unticked checkbox means no. */
const isAlwaysIncluded = (field: Field | undefined): boolean => field !== undefined && isYesOrNo(field.grammar);

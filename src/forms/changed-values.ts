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
    initial = {},
    input,
    data,
  }: { readonly before: Values | undefined; readonly initial?: Values; readonly input: Values; readonly data: ControlData },
): Promise<Values> {
  const raw: Record<string, unknown> = {};
  const language = textOf({ ...before, ...input }.language);
  for (const name of names) {
    const field = kind.fields[name]!;
    const control = controlOf(name, field);
    const isUnchanged = isDeepStrictEqual(input[name], control.toFormValue(before?.[name], data));
    const isEmptied = isUnchanged && name in initial && !isDeepStrictEqual(input[name], control.toFormValue(initial[name], data));
    if (isUnchanged && !isEmptied && (before !== undefined || !isAlwaysIncluded(field))) continue;
    raw[name] = isLinks(field)
      ? await resolveLinks(context, field.place.kind, input[name], language)
      : control.toApiValue(input[name], data, (before ?? initial)[name]);
  }
  return raw;
}

/** Returns whether a field of a new record is always included: an unticked checkbox means no. */
const isAlwaysIncluded = (field: Field | undefined): boolean => field !== undefined && isYesOrNo(field.grammar);

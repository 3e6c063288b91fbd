import type { CustomField } from '../../calendar/custom-fields.ts';
import { customFieldRows, storedValue } from '../../kinds/custom-fields.ts';

/** A value in a file for one of the site's own fields. */
export interface CustomValue {
  readonly field: CustomField;
  readonly value: string;
}

/**
 * Returns the metas for values of the site's own fields; `refused` lists the values that are invalid for their field.
 */
export function customRows(sent: readonly CustomValue[]): { readonly rows: [string, string][]; readonly refused: readonly CustomValue[] } {
  const read = sent.map((one) => ({ one, stored: storedValue(one.field, one.value) }));
  return {
    rows: read.flatMap(({ one, stored }) => (stored ? customFieldRows(one.field, stored) : [])),
    refused: read.flatMap(({ one, stored }) => (stored ? [] : [one])),
  };
}

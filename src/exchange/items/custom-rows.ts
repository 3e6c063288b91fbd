import type { CustomField } from '../../calendar/custom-fields.ts';
import { customFieldRows, storedValue } from '../../kinds/custom-fields.ts';

/** A value that a file has for a field that the site defines. */
export interface CustomValue {
  readonly field: CustomField;
  readonly value: string;
}

/** Metas of the fields that the site defines, and those of the values that are none of their field. */
export function customRows(sent: readonly CustomValue[]): { readonly rows: [string, string][]; readonly refused: readonly CustomValue[] } {
  const read = sent.map((one) => ({ one, stored: storedValue(one.field, one.value) }));
  return {
    rows: read.flatMap(({ one, stored }) => (stored ? customFieldRows(one.field, stored) : [])),
    refused: read.flatMap(({ one, stored }) => (stored ? [] : [one])),
  };
}

import type { CustomField } from '../../calendar/custom-fields.ts';
import { customFieldRows, storedValue } from '../../kinds/custom-fields.ts';
import type { MetaPair } from './items.ts';

/** A value in a file for one of the site's own fields. */
export interface CustomValue {
  readonly field: CustomField;
  readonly value: string;
}

/**
 * Returns the metas for values of the site's own fields; `refused` lists the values that are invalid for their field.
 */
export function customRows(values: readonly CustomValue[]): {
  readonly rows: readonly MetaPair[];
  readonly refused: readonly CustomValue[];
} {
  const readings = values.map((custom) => ({ custom, stored: storedValue(custom.field, custom.value) }));
  return {
    rows: readings.flatMap(({ custom, stored }) => (stored ? customFieldRows(custom.field, stored) : [])),
    refused: readings.flatMap(({ custom, stored }) => (stored ? [] : [custom])),
  };
}

import { ApiError } from '../../errors.ts';
import type { Field } from '../../kinds/param.ts';

/**
 * Returns an error about a value of a new venue or organizer as one about the field of the record that brings it along,
 * with the answer that the field gets if such a value is refused before anything is written (`acceptParams`). Other
 * errors are returned as they are.
 */
export function errorOfField<Thrown>(error: Thrown, name: string, { grammar: { hint } }: Pick<Field, 'grammar'>): Thrown | ApiError {
  if (!(error instanceof ApiError) || !error.details.faults) return error;
  const faults = new Map([[name, { stage: 'value', reason: hint.unknownReason ?? hint.reason } as const]]);
  return new ApiError('rest_invalid_param', { faults, sentValues: new Map(), cause: error });
}

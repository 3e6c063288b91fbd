import { ApiError, type Fault } from '../errors.ts';

/**
 * Does work that may fail because of a calendar field, on routes that call fields by other names. Renames the field in
 * the error to the name under which it was sent. `nameOf`: returns that name.
 *
 * @throws the errors of `work`
 */
export async function withRouteNames<Result>(
  nameOf: (field: string, fault: Fault) => string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw withRenamedFaults(error, nameOf);
  }
}

function withRenamedFaults(error: unknown, nameOf: (field: string, fault: Fault) => string): unknown {
  if (!(error instanceof ApiError) || !error.details.faults) return error;
  const { faults, sentValues } = error.details;
  const namedFaults = [...faults].map(([field, fault]) => ({ name: nameOf(field, fault), fault, value: sentValues?.get(field) }));
  return new ApiError(error.problem, {
    ...error.details,
    faults: new Map(namedFaults.map(({ name, fault }) => [name, fault])),
    ...(sentValues && { sentValues: new Map(namedFaults.flatMap(({ name, value }) => (value ? [[name, value] as const] : []))) }),
  });
}

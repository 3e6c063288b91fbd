import type { AccountError } from '../accounts/account-error.ts';
import type { FieldErrors } from './new-password.tsx';
import type { Visit } from './visit.ts';

/**
 * Returns the sentence about an `AccountError` by the field that it refers to, which is the first word of the error's
 * name. An error about something unknown refers to no field.
 */
export function accountErrors(visit: Pick<Visit, 'i18n'>, error: AccountError): FieldErrors {
  const [field = '', ...rest] = error.problem.split('-');
  return new Map([[rest.includes('unknown') ? '' : field, accountSentence(visit, error)]]);
}

/** Returns the sentence about an `AccountError`. */
export const accountSentence = ({ i18n }: Pick<Visit, 'i18n'>, { problem, values }: AccountError): string =>
  i18n.say(`desk:people.${problem}`, values);

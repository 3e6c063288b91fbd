import type { JSX } from 'preact';
import { MIN_PASSWORD_LENGTH } from '../accounts/password-links.ts';
import { Input } from '../html/form-fields.tsx';
import type { I18n } from '../html/i18n.ts';

/** The messages about invalid fields of a form, by field name. */
export type FieldErrors = ReadonlyMap<string, string>;

/** The fields for choosing a password: `password`, and `again` to detect typing errors. `errors`: by field. */
export function NewPassword({ i18n: { say }, errors }: { readonly i18n: I18n; readonly errors: FieldErrors | undefined }): JSX.Element {
  return (
    <>
      <Input
        name="password"
        type="password"
        label={say('desk:welcome.password')}
        hint={say('desk:welcome.hint', { letters: MIN_PASSWORD_LENGTH })}
        error={errors?.get('password')}
        autocomplete="new-password"
        required
      />
      <Input
        name="again"
        type="password"
        label={say('desk:welcome.again')}
        error={errors?.get('again')}
        autocomplete="new-password"
        required
      />
    </>
  );
}

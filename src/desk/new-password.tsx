import type { JSX } from 'preact';
import { FEWEST_LETTERS } from '../accounts/password-links.ts';
import { Input } from '../html/form-fields.tsx';
import type { I18n } from '../html/i18n.ts';

/** The fields by which somebody chooses a password: `password`, and `again` against slips. */
export function NewPassword({ i18n: { say } }: { readonly i18n: I18n }): JSX.Element {
  return (
    <>
      <Input
        name="password"
        type="password"
        label={say('desk:welcome.password')}
        hint={say('desk:welcome.hint', { letters: FEWEST_LETTERS })}
        autocomplete="new-password"
        required
      />
      <Input name="again" type="password" label={say('desk:welcome.again')} autocomplete="new-password" required />
    </>
  );
}

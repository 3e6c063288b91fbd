import type { JSX } from 'preact';
import { FEWEST_LETTERS } from '../accounts/password-links.ts';
import { Input } from '../html/form-fields.tsx';
import type { Speech } from '../html/words.ts';

/** The fields by which somebody chooses a password: `password`, and `again` against slips. */
export function NewPassword({ speech: { say } }: { readonly speech: Speech }): JSX.Element {
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

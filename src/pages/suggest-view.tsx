import type { ComponentChildren, JSX } from 'preact';
import { FieldOf, type FormState } from '../forms/fields.tsx';
import { Input, TextArea } from '../html/form-fields.tsx';
import type { I18n } from '../html/i18n.ts';
import { Link } from '../html/links.tsx';

export interface SuggestProps {
  readonly i18n: I18n;
  readonly form: FormState;
  /** Names of the event's fields in the form. */
  readonly names: readonly string[];
  /** The visitor's own details. */
  readonly visitorDetails: Readonly<Record<'name' | 'email' | 'note', string>>;
  /** The URL to which the form is sent. */
  readonly address: string;
  readonly hiddenFields: { readonly key: string; readonly honeypot: string };
  readonly notice: string | undefined;
  /** The errors, with links to the fields. */
  readonly summary: ComponentChildren;
}

/** The form for suggesting an event. */
export function SuggestView({ i18n, form, names, visitorDetails, address, hiddenFields, notice, summary }: SuggestProps): JSX.Element {
  const { say } = i18n;
  const visitorField = (name: 'name' | 'email' | 'note') => ({
    name: `from_${name}`,
    label: say(`pages:suggest.${name}`),
    value: visitorDetails[name],
    error: form.errors?.get(`from_${name}`),
  });
  return (
    <>
      <h1>{say('pages:suggest.title')}</h1>
      <p>{say('pages:suggest.about')}</p>
      {notice !== undefined && (
        <p class="notice" role="alert">
          {notice}
        </p>
      )}
      {summary}
      <form method="post" action={address} class="suggest-form">
        <input type="hidden" name="key" value={hiddenFields.key} />
        <p class="trap">
          <label for={hiddenFields.honeypot}>{say('pages:suggest.trap')}</label>
          <input type="text" id={hiddenFields.honeypot} name={hiddenFields.honeypot} autocomplete="off" tabIndex={-1} />
        </p>
        {names.map((name) => (
          <FieldOf key={name} form={form} i18n={i18n} name={name} />
        ))}
        <h2>{say('pages:suggest.you')}</h2>
        <p class="quiet">{say('pages:suggest.you-about')}</p>
        <Input {...visitorField('name')} autocomplete="name" required />
        <Input {...visitorField('email')} type="email" autocomplete="email" required />
        <TextArea {...visitorField('note')} rows={3} />
        <button type="submit" class="button-main">
          {say('pages:suggest.send')}
        </button>
      </form>
    </>
  );
}

/** The page after a suggestion has been sent. */
export function ThanksView({ i18n: { say }, address }: { readonly i18n: I18n; readonly address: string }): JSX.Element {
  return (
    <>
      <h1>{say('pages:suggest.title')}</h1>
      <p role="status">{say('pages:suggest.thanks')}</p>
      <p>
        <Link href={address}>{say('pages:suggest.another')}</Link>
      </p>
    </>
  );
}

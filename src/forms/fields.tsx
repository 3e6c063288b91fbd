import type { JSX } from 'preact';
import type { I18n } from '../html/i18n.ts';
import { Link } from '../html/links.tsx';
import { isImage } from '../kinds/fields.ts';
import type { PostKind } from '../kinds/kind.ts';
import type { ControlData, FormImage, FormValue } from './control.ts';
import { controlOf } from './controls.ts';
import { hintOf, labelOf } from './labels.ts';

/** Texts of the same record in another language, shown next to the fields of a form. */
export interface TranslationTexts {
  /** The name of the language. */
  readonly languageName: string;
  /** Its language tag, such as `it-IT`. */
  readonly languageTag: string | undefined;
  readonly texts: ReadonlyMap<string, string>;
}

/** The data of a form of a kind. */
export interface FormState {
  readonly kind: PostKind;
  readonly formValues: Readonly<Record<string, FormValue>>;
  readonly data: ControlData;
  /** Labels of fields that are not fields of the kind. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Errors, by field. */
  readonly errors?: ReadonlyMap<string, string>;
  /** Stored values in words, for fields that another user has saved with other values in the meantime. */
  readonly savedTexts?: ReadonlyMap<string, string>;
  /** The image that another user has saved in the meantime. */
  readonly savedImage?: FormImage | undefined;
  readonly translation?: TranslationTexts | undefined;
}

/** The list of errors with links to the fields. It comes first, for users of screen readers. */
export function ErrorSummary({
  form,
  i18n,
}: {
  readonly form: Pick<FormState, 'errors' | 'kind' | 'labels'>;
  readonly i18n: I18n;
}): JSX.Element | null {
  const { errors, kind, labels = {} } = form;
  if (!errors || errors.size === 0) return null;
  return (
    <ul class="error-summary">
      {[...errors].map(([name, text]) => (
        <li key={name}>
          <Link href={`#${name}`}>{labels[name] ?? labelOf(i18n, kind.name, name)}</Link>: {text}
        </li>
      ))}
    </ul>
  );
}

/** One field of a form with its error, and with the value that another user saved in the meantime. */
export function FieldOf({ form, name, i18n }: { readonly form: FormState; readonly name: string; readonly i18n: I18n }): JSX.Element {
  const { kind, formValues, data, errors, savedTexts, savedImage, translation } = form;
  const field = kind.fields[name]!;
  const { Component } = controlOf(name, field);
  const savedText = savedTexts?.get(name);
  const text = translation?.texts.get(name);
  return (
    <div class={savedText === undefined ? (text === undefined ? undefined : 'with-beside') : 'conflict'}>
      <Component
        name={name}
        field={field}
        label={labelOf(i18n, kind.name, name)}
        hint={hintOf(i18n, kind.name, name)}
        error={errors?.get(name)}
        required={field.required === true}
        formValue={formValues[name]}
        data={data}
      />
      {savedText !== undefined && <SavedNow i18n={i18n} text={savedText} image={isImage(field) ? savedImage : undefined} />}
      {text !== undefined && (
        <div class="beside">
          <p class="quiet">{translation?.languageName}</p>
          <p class="saved-now" lang={translation?.languageTag}>
            {text === '' ? i18n.say('desk:form.nothing') : text}
          </p>
        </div>
      )}
    </div>
  );
}

/** The stored value of a field in words, saved by another user in the meantime. */
export const SavedNow = ({ i18n, text, image }: SavedNowProps): JSX.Element => (
  <p class="theirs">
    {i18n.say('desk:form.theirs')} <span class="saved-now">{text === '' ? i18n.say('desk:form.nothing') : text}</span>
    {image && <img src={image.address} alt={image.alt} class="form-image" />}
  </p>
);

interface SavedNowProps {
  readonly i18n: I18n;
  readonly text: string;
  readonly image?: FormImage | undefined;
}

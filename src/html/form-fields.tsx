import type { ComponentChildren, JSX } from 'preact';

/** What every field of a form has. */
export interface FieldProps {
  /** Its name in the form; its id too, unless `id` says another. */
  readonly name: string;
  readonly id?: string;
  readonly label: string;
  /** What helps to fill it in. */
  readonly hint?: string | undefined;
  /** What is wrong with its value. */
  readonly error?: string | undefined;
  readonly required?: boolean | undefined;
}

/** What ties an input to its label, hint and error. */
interface Ties {
  readonly id: string;
  readonly name: string;
  readonly required: boolean | undefined;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': 'true' | undefined;
}

/** What is said of a field below it. `id`: of its input. */
type Said = Pick<FieldProps, 'hint' | 'error'> & { readonly id: string };

/** The ids of the remarks of a field, which its input names for those who cannot see them. */
export const describing = ({ id, hint, error }: Said): string | undefined =>
  [...(hint ? [`${id}-hint`] : []), ...(error ? [`${id}-error`] : [])].join(' ') || undefined;

/** What helps to fill a field in, and what is wrong with it. */
export function Remarks({ id, hint, error }: Said): JSX.Element {
  return (
    <>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </>
  );
}

/** Several inputs that are one field: its name above, hint and error below, where a summary of errors leads to. */
export function FieldGroup({ children, name, id = name, label, hint, error, ...more }: FieldGroupProps): JSX.Element {
  return (
    <fieldset class={error ? 'field field-wrong' : 'field'} id={id} aria-describedby={describing({ id, hint, error })} {...more}>
      <legend>{label}</legend>
      {children}
      <Remarks id={id} hint={hint} error={error} />
    </fieldset>
  );
}

interface FieldGroupProps extends Omit<FieldProps, 'required'> {
  readonly children: ComponentChildren;
  /** What its script needs to know. */
  readonly [data: `data-${string}`]: string | boolean | undefined;
}

/** A field around whatever input: label above, hint and error below, tied to it for those who cannot see them. */
export function Field({ children, ...props }: FieldProps & { readonly children: (ties: Ties) => ComponentChildren }): JSX.Element {
  const { name, id = name, label, hint, error, required } = props;
  return (
    <div class={error ? 'field field-wrong' : 'field'}>
      <label for={id}>{label}</label>
      {children({ id, name, required, 'aria-describedby': describing({ id, hint, error }), 'aria-invalid': error ? 'true' : undefined })}
      <Remarks id={id} hint={hint} error={error} />
    </div>
  );
}

export interface InputProps extends FieldProps {
  readonly value?: string | undefined;
  readonly type?: 'text' | 'search' | 'email' | 'url' | 'tel' | 'number' | 'password' | 'date' | 'time' | 'datetime-local' | undefined;
  readonly autocomplete?: string | undefined;
  readonly list?: string | undefined;
  readonly step?: string | undefined;
}

/** One line of text, a date, a number. */
export function Input({ value, type = 'text', autocomplete, list, step, ...field }: InputProps): JSX.Element {
  // Which attributes go together depends on the type, which is not known here.
  const own = { value, type, autocomplete, list, step } as JSX.IntrinsicElements['input'];
  return <Field {...field}>{(ties) => <input {...own} {...ties} />}</Field>;
}

/** Several lines of text. */
export function TextArea({ value, rows = 8, ...field }: FieldProps & { readonly value?: string; readonly rows?: number }): JSX.Element {
  return (
    <Field {...field}>
      {(ties) => (
        <textarea {...ties} rows={rows}>
          {/* Browsers take the first line end for one of the page's. */}
          {value?.startsWith('\n') ? `\n${value}` : value}
        </textarea>
      )}
    </Field>
  );
}

export interface Option {
  readonly value: string;
  readonly text: string;
}

/** One out of a few. */
export function Select({
  value,
  options,
  ...field
}: FieldProps & { readonly value?: string; readonly options: readonly Option[] }): JSX.Element {
  return (
    <Field {...field}>
      {(ties) => (
        <select {...ties}>
          {options.map(({ value: own, text }) => (
            <option key={own} value={own} selected={own === value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Yes or no. An unticked box is not sent at all. */
export function Checkbox({
  name,
  id = name,
  label,
  hint,
  value = '1',
  checked,
}: FieldProps & { readonly value?: string; readonly checked?: boolean }) {
  return (
    <div class="field field-check">
      <input type="checkbox" id={id} name={name} value={value} checked={checked} aria-describedby={describing({ id, hint })} />
      <label for={id}>{label}</label>
      <Remarks id={id} hint={hint} />
    </div>
  );
}

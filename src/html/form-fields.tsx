import type { ComponentChildren, JSX } from 'preact';

/** Properties of every field in a form. */
export interface FieldProps {
  /** Its name in the form, also used as id unless `id` is given. */
  readonly name: string;
  readonly id?: string;
  readonly label: string;
  /** Help for filling it in. */
  readonly hint?: string | undefined;
  /** The error about its value. */
  readonly error?: string | undefined;
  readonly required?: boolean | undefined;
}

/** Attributes that connect an input with its label, hint and error. */
interface InputAttributes {
  readonly id: string;
  readonly name: string;
  readonly required: boolean | undefined;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': 'true' | undefined;
}

/** The hint and error of a field. `id`: the id of its input. */
type FieldRemarks = Pick<FieldProps, 'hint' | 'error'> & { readonly id: string };

/** Returns the ids of a field's hint and error, for `aria-describedby` of its input. */
export const describedBy = ({ id, hint, error }: FieldRemarks): string | undefined =>
  [...(hint ? [`${id}-hint`] : []), ...(error ? [`${id}-error`] : [])].join(' ') || undefined;

/** The hint and the error of a field. */
export function HintAndError({ id, hint, error }: FieldRemarks): JSX.Element {
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

/**
 * Several inputs as one field: label above, hint and error below. Its id is the target of links in a summary of errors.
 */
export function FieldGroup({ children, name, id = name, label, hint, error, ...attributes }: FieldGroupProps): JSX.Element {
  return (
    <fieldset class={error ? 'field field-wrong' : 'field'} id={id} aria-describedby={describedBy({ id, hint, error })} {...attributes}>
      <legend>{label}</legend>
      {children}
      <HintAndError id={id} hint={hint} error={error} />
    </fieldset>
  );
}

interface FieldGroupProps extends Omit<FieldProps, 'required'> {
  readonly children: ComponentChildren;
  /** Data attributes for its script. */
  readonly [data: `data-${string}`]: string | boolean | undefined;
}

/** A field around any input: label above, hint and error below, connected with the input for screen readers. */
export function Field({
  children,
  ...props
}: FieldProps & { readonly children: (attributes: InputAttributes) => ComponentChildren }): JSX.Element {
  const { name, id = name, label, hint, error, required } = props;
  return (
    <div class={error ? 'field field-wrong' : 'field'}>
      <label for={id}>{label}</label>
      {children({ id, name, required, 'aria-describedby': describedBy({ id, hint, error }), 'aria-invalid': error ? 'true' : undefined })}
      <HintAndError id={id} hint={hint} error={error} />
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

/** A single-line input: text, a date, a number. */
export function Input({ value, type = 'text', autocomplete, list, step, ...field }: InputProps): JSX.Element {
  // The direction of a text follows from its own letters.
  const dir = type === 'text' || type === 'search' ? 'auto' : undefined;
  // The allowed combinations of attributes depend on the type, which is unknown here.
  const inputProps = { value, type, dir, autocomplete, list, step } as JSX.IntrinsicElements['input'];
  return <Field {...field}>{(attributes) => <input {...inputProps} {...attributes} />}</Field>;
}

/** A multi-line text input. */
export function TextArea({ value, rows = 8, ...field }: FieldProps & { readonly value?: string; readonly rows?: number }): JSX.Element {
  return (
    <Field {...field}>
      {(attributes) => (
        <textarea dir="auto" {...attributes} rows={rows}>
          {/* Browsers ignore a line break directly after the opening tag, also one of two characters. */}
          {value !== undefined && /^\r?\n/.test(value) ? `\n${value}` : value}
        </textarea>
      )}
    </Field>
  );
}

export interface Option {
  readonly value: string;
  readonly text: string;
}

/**
 * Returns options with the current value among them. Without it, a browser would select and send the first one, and so
 * change a value that another program has set.
 */
export const withCurrentValue = (options: readonly Option[], value: string | undefined): readonly Option[] =>
  value === undefined || value === '' || options.some((option) => option.value === value) ? options : [{ value, text: value }, ...options];

/** A choice of one option. */
export function Select({
  value,
  options,
  ...field
}: FieldProps & { readonly value?: string; readonly options: readonly Option[] }): JSX.Element {
  return (
    <Field {...field}>
      {(attributes) => (
        <select {...attributes}>
          {options.map(({ value: optionValue, text }) => (
            <option key={optionValue} value={optionValue} selected={optionValue === value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** A checkbox. An unticked one is not sent. */
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
      <input type="checkbox" id={id} name={name} value={value} checked={checked} aria-describedby={describedBy({ id, hint })} />
      <label for={id}>{label}</label>
      <HintAndError id={id} hint={hint} />
    </div>
  );
}

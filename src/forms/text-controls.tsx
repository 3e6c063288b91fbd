import type { JSX } from 'preact';
import { Checkbox, Field as FieldBox, TextArea } from '../html/form-fields.tsx';
import { type Control, type ControlProps, fieldPropsOf, onOneLine, textOf, textOrEmpty } from './control.ts';

/*
 * Controls for texts and booleans.
 */

/**
 * A single-line text. Browsers remove the line breaks that a stored value may contain, so they are shown as spaces, and
 * an unchanged value is left as it is.
 */
export const singleLine: Control = {
  toFormValue: (value) => onOneLine(textOf(value)),
  read: textOf,
  toApiValue: (formValue) => formValue,
  toText: textOrEmpty,
  Component: LineInput,
};

export const yesOrNo: Control = {
  toFormValue: (value) => value === true,
  read: (input) => typeof input === 'string' && input !== '',
  toApiValue: (formValue) => formValue,
  toText: (formValue, { say }) => say(formValue === true ? 'desk:yes' : 'desk:no'),
  Component: (props) => <Checkbox {...fieldPropsOf(props)} checked={props.formValue === true} />,
};

/** Returns a single-line control with a hint for on-screen keyboards. */
const singleLineWith = (inputMode: 'decimal' | 'url', placeholder?: string): Control => ({
  ...singleLine,
  Component: (props) => <LineInput {...props} inputMode={inputMode} placeholder={placeholder} />,
});

/** Converts a number with a decimal comma, as in most of Europe, to the form that the API takes. */
export const withDecimalPoint = (text: string): string => text.trim().replace(/^([-+]?\d+),(\d+)$/, '$1.$2');

export const number: Control = { ...singleLineWith('decimal'), toApiValue: (formValue) => withDecimalPoint(textOrEmpty(formValue)) };

/**
 * Adds the scheme to a web address that begins with its host, as people write it (`www.example.org/fair`). Other texts
 * are returned unchanged.
 */
export const withScheme = (text: string): string =>
  /^[\p{L}\p{N}.-]+\.\p{L}{2,}(?:[/?#]|$)/u.test(text.trim()) ? `https://${text.trim()}` : text;

export const webAddress: Control = {
  ...singleLineWith('url', 'https://'),
  toApiValue: (formValue) => withScheme(textOrEmpty(formValue)),
};

/** Returns the control for a text of several lines. `rows`: number of lines shown initially. */
export const multiLine = (rows: number): Control => ({
  ...singleLine,
  toFormValue: textOf,
  Component: (props) => <TextArea {...fieldPropsOf(props)} value={textOrEmpty(props.formValue)} rows={rows} />,
});

function LineInput({
  inputMode,
  placeholder,
  ...props
}: ControlProps & { readonly inputMode?: 'decimal' | 'url'; readonly placeholder?: string | undefined }): JSX.Element {
  return (
    <FieldBox {...fieldPropsOf(props)}>
      {(attributes) => (
        <input
          type="text"
          dir="auto"
          {...attributes}
          value={textOrEmpty(props.formValue)}
          inputMode={inputMode}
          placeholder={placeholder}
        />
      )}
    </FieldBox>
  );
}

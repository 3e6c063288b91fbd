import type { JSX } from 'preact';
import { Checkbox, Field as FieldBox, TextArea } from '../html/form-fields.tsx';
import { asText, boxOf, type Control, type ControlProps, onOneLine, textOf } from './control.ts';

/*
 * Controls for texts and booleans.
 */

/**
 * A single-line text. Browsers remove the line breaks that a stored value may contain, so they are shown as spaces, and
 * an unchanged value is left as it is.
 */
export const line: Control = {
  show: (value) => onOneLine(textOf(value)),
  read: textOf,
  raw: (shown) => shown,
  words: asText,
  Show: LineInput,
};

export const yesOrNo: Control = {
  show: (value) => value === true,
  read: (sent) => typeof sent === 'string' && sent !== '',
  raw: (shown) => shown,
  words: (shown, { say }) => say(shown === true ? 'desk:yes' : 'desk:no'),
  Show: (props) => <Checkbox {...boxOf(props)} checked={props.shown === true} />,
};

/** Returns a single-line control with a hint for on-screen keyboards. */
export const lineOf = (inputMode: 'decimal' | 'url', placeholder?: string): Control => ({
  ...line,
  Show: (props) => <LineInput {...props} inputMode={inputMode} placeholder={placeholder} />,
});

/** Converts a number with a decimal comma, as in most of Europe, to the form that the API takes. */
export const withPoint = (text: string): string => text.trim().replace(/^([-+]?\d+),(\d+)$/, '$1.$2');

export const number: Control = { ...lineOf('decimal'), raw: (shown) => withPoint(asText(shown)) };

/** Returns the control for a text of several lines. `rows`: number of lines shown initially. */
export const paragraphs = (rows: number): Control => ({
  ...line,
  show: textOf,
  Show: (props) => <TextArea {...boxOf(props)} value={asText(props.shown)} rows={rows} />,
});

function LineInput({
  inputMode,
  placeholder,
  ...props
}: ControlProps & { readonly inputMode?: 'decimal' | 'url'; readonly placeholder?: string | undefined }): JSX.Element {
  return (
    <FieldBox {...boxOf(props)}>
      {(ties) => <input type="text" dir="auto" {...ties} value={asText(props.shown)} inputMode={inputMode} placeholder={placeholder} />}
    </FieldBox>
  );
}

import type { JSX } from 'preact';
import { Checkbox, Field as FieldBox, TextArea } from '../html/form-fields.tsx';
import { asText, boxOf, type Control, type ControlProps, onOneLine, textOf } from './control.ts';

/*
 * Texts, and what is either so or not.
 */

/** Browsers send a line without the line ends that may be stored in it: it shows spaces there, and is left as it is. */
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

/** A line with a hint for on-screen keyboards. */
export const lineOf = (inputMode: 'decimal' | 'url', placeholder?: string): Control => ({
  ...line,
  Show: (props) => <LineInput {...props} inputMode={inputMode} placeholder={placeholder} />,
});

/** A number as most of Europe writes it, with a comma, as the API takes it. */
export const withPoint = (text: string): string => text.trim().replace(/^([-+]?\d+),(\d+)$/, '$1.$2');

export const number: Control = { ...lineOf('decimal'), raw: (shown) => withPoint(asText(shown)) };

/** A text of several lines, of which this many are shown at first. */
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
      {(ties) => <input type="text" {...ties} value={asText(props.shown)} inputMode={inputMode} placeholder={placeholder} />}
    </FieldBox>
  );
}

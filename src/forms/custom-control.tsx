import type { JSX } from 'preact';
import { type CustomField, choiceLabel } from '../calendar/custom-fields.ts';
import { FieldGroup, Input, Select, TextArea } from '../html/form-fields.tsx';
import type { Values } from '../kinds/param.ts';
import { type Control, groupPropsOf, onOneLine, textOf } from './control.ts';
import { membersIn, textsIn } from './form-values.ts';
import { withDecimalPoint } from './text-controls.tsx';

/*
 * Control for the custom fields of a site.
 */

const splitValues = (value: unknown): string[] =>
  textOf(value)
    .split('|')
    .filter((part) => part !== '');

/** Returns the choices of a field, followed by selected values that the site no longer offers. */
const offeredChoices = ({ type, choices }: CustomField, value: string): string[] => {
  const chosen = type === 'checkbox' ? splitValues(value) : [value];
  return [...new Set([...choices, ...chosen.filter((one) => one !== '')])];
};

/**
 * Returns the value of a field as its inputs send it: ticked choices in the order of the boxes, a line without line
 * breaks.
 */
function toInputValue(field: CustomField, value: string): string {
  if (field.type === 'text') return onOneLine(value);
  return field.type === 'checkbox'
    ? offeredChoices(field, value)
        .filter((one) => splitValues(value).includes(one))
        .join('|')
    : value;
}

/** Returns a value for display: ticked choices separated by commas. `yes`: the word for a single box. */
const displayText = ({ type, choices }: CustomField, value: string, yes: string): string =>
  type === 'checkbox'
    ? splitValues(value)
        .map((one) => choiceLabel(one, choices, yes))
        .join(', ')
    : value;

const inputValues = (value: unknown, defined: readonly CustomField[]): Values =>
  Object.fromEntries(defined.map((field) => [field.name, toInputValue(field, textOf(membersIn(value)[field.name]))]));

export const customFields: Control = {
  toFormValue: (value, { customFields: defined }) => inputValues(value, defined),
  read: (sent) => {
    const form: Values = membersIn(sent);
    return Object.fromEntries(
      Object.keys(form).map((name) => [name, typeof form[name] === 'string' ? textOf(form[name]) : textsIn(form, name).join('|')]),
    );
  },
  // Values that are no longer offered would be refused, so only changed fields are sent.
  toApiValue: (shown, { customFields: defined }, stored) => {
    const before = inputValues(stored, defined);
    const sent = membersIn(shown);
    const changed = defined.filter(({ name }) => Object.hasOwn(sent, name) && sent[name] !== before[name]);
    return Object.fromEntries(
      changed.map(({ name, type }) => [name, type === 'number' ? withDecimalPoint(textOf(sent[name])) : sent[name]]),
    );
  },
  toText: (shown, { customFields: defined, say }) => {
    const values = membersIn(shown);
    const filled = defined.filter(({ name }) => textOf(values[name]) !== '');
    return filled.map((field) => `${field.label}: ${displayText(field, textOf(values[field.name]), say('pages:yes'))}`).join('; ');
  },
  Component: (props) => (
    <FieldGroup {...groupPropsOf(props)}>
      {props.data.customFields.map((field) => (
        <CustomInput
          key={field.name}
          field={field}
          name={`${props.name}[${field.name}]`}
          value={textOf(membersIn(props.shown)[field.name])}
          yes={props.data.say('pages:yes')}
        />
      ))}
    </FieldGroup>
  ),
};

interface CustomInputProps {
  readonly field: CustomField;
  readonly name: string;
  readonly value: string;
  /** The label of a single box. */
  readonly yes: string;
}

function CustomInput({ field, name, value, yes }: CustomInputProps): JSX.Element {
  const { label, type } = field;
  const choices = offeredChoices(field, value);
  const id = `custom-${field.name}`;
  if (type === 'textarea') return <TextArea name={name} id={id} label={label} value={value} rows={4} />;
  if (type === 'choice')
    return <Select name={name} id={id} label={label} value={value} options={['', ...choices].map((one) => ({ value: one, text: one }))} />;
  if (type === 'checkbox')
    return (
      <fieldset class="field">
        <legend>{label}</legend>
        <input type="hidden" name={`${name}[]`} value="" />
        {choices.map((choice) => (
          <label key={choice} class="choice">
            <input type="checkbox" name={`${name}[]`} value={choice} checked={splitValues(value).includes(choice)} />
            {choiceLabel(choice, choices, yes)}
          </label>
        ))}
      </fieldset>
    );
  return <Input name={name} id={id} label={label} value={value} />;
}

import type { JSX } from 'preact';
import { type CustomField, choiceLabel } from '../calendar/custom-fields.ts';
import { FieldGroup, Input, Select, TextArea } from '../html/form-fields.tsx';
import type { Values } from '../kinds/param.ts';
import { type Control, groupPropsOf, onOneLine, textOf } from './control.ts';
import { membersIn, textsIn } from './form-values.ts';
import { withDecimalPoint, withScheme } from './text-controls.tsx';

/*
 * Control for the custom fields of a site.
 */

const splitValues = (value: unknown): string[] =>
  textOf(value)
    .split('|')
    .filter((part) => part !== '');

/** Returns the choices of a field, followed by selected values that the site no longer offers. */
const offeredChoices = ({ type, choices }: CustomField, value: string): string[] => {
  const values = type === 'checkbox' ? splitValues(value) : [value];
  return [...new Set([...choices, ...values.filter((one) => one !== '')])];
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

/** Conversions of values as people write them, by type. */
const COMPLETIONS: Partial<Record<CustomField['type'], (text: string) => string>> = { number: withDecimalPoint, url: withScheme };

/** Returns a value for display: ticked choices separated by commas. `yesText`: the word for a single box. */
const displayText = ({ type, choices }: CustomField, value: string, yesText: string): string =>
  type === 'checkbox'
    ? splitValues(value)
        .map((one) => choiceLabel(one, choices, yesText))
        .join(', ')
    : value;

const inputValues = (value: unknown, fields: readonly CustomField[]): Values =>
  Object.fromEntries(fields.map((field) => [field.name, toInputValue(field, textOf(membersIn(value)[field.name]))]));

export const customFields: Control = {
  toFormValue: (value, { customFields: fields }) => inputValues(value, fields),
  read: (input) => {
    const form: Values = membersIn(input);
    return Object.fromEntries(
      Object.keys(form).map((name) => [name, typeof form[name] === 'string' ? textOf(form[name]) : textsIn(form, name).join('|')]),
    );
  },
  // Values that are no longer offered would be refused, so only changed fields are sent.
  toApiValue: (formValue, { customFields: fields }, stored) => {
    const before = inputValues(stored, fields);
    const input = membersIn(formValue);
    const changedFields = fields.filter(({ name }) => Object.hasOwn(input, name) && input[name] !== before[name]);
    return Object.fromEntries(changedFields.map(({ name, type }) => [name, COMPLETIONS[type]?.(textOf(input[name])) ?? input[name]]));
  },
  toText: (formValue, { customFields: fields, say }) => {
    const values = membersIn(formValue);
    const filledFields = fields.filter(({ name }) => textOf(values[name]) !== '');
    return filledFields.map((field) => `${field.label}: ${displayText(field, textOf(values[field.name]), say('pages:yes'))}`).join('; ');
  },
  Component: (props) => (
    <FieldGroup {...groupPropsOf(props)}>
      {props.data.customFields.map((field) => (
        <CustomInput
          key={field.name}
          field={field}
          name={`${props.name}[${field.name}]`}
          value={textOf(membersIn(props.formValue)[field.name])}
          yesText={props.data.say('pages:yes')}
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
  readonly yesText: string;
}

function CustomInput({ field, name, value, yesText }: CustomInputProps): JSX.Element {
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
            {choiceLabel(choice, choices, yesText)}
          </label>
        ))}
      </fieldset>
    );
  return <Input name={name} id={id} label={label} value={value} />;
}

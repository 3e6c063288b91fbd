import { groupedBy } from '../grouped-by.ts';
import { FieldGroup, Input, Select, withCurrentValue } from '../html/form-fields.tsx';
import { type Control, type ControlData, type FormValue, fieldPropsOf, groupPropsOf, termText, textOf, textOrEmpty } from './control.ts';
import { idIn, membersIn, textsIn } from './form-values.ts';
import { singleLine } from './text-controls.tsx';

/*
 * Controls for choices from a list: status, author, terms.
 */

export const status: Control = {
  ...singleLine,
  toText: (formValue, { statuses }) => statuses.find(({ value }) => value === formValue)?.text ?? textOrEmpty(formValue),
  Component: (props) => <Select {...fieldPropsOf(props)} value={textOrEmpty(props.formValue)} options={props.data.statuses} />,
};

/** Returns the control for a closed set; languages are shown by name, other values as they are. */
export const oneOf = (values: readonly string[]): Control => ({
  ...singleLine,
  toText: (formValue, { languages }) => languages.get(textOrEmpty(formValue)) ?? textOrEmpty(formValue),
  Component: (props) => (
    <Select
      {...fieldPropsOf(props)}
      value={textOrEmpty(props.formValue)}
      options={withCurrentValue(
        ['', ...values].flatMap((value) =>
          value === '' && props.formValue !== '' ? [] : [{ value, text: props.data.languages.get(value) ?? value }],
        ),
        textOrEmpty(props.formValue),
      )}
    />
  ),
});

export const author: Control = {
  ...singleLine,
  toText: (formValue, { authors }) => authors.find(({ value }) => value === formValue)?.text ?? textOrEmpty(formValue),
  Component: (props) => <Select {...fieldPropsOf(props)} value={textOrEmpty(props.formValue)} options={props.data.authors} />,
};

interface ChosenTerms {
  readonly ids: readonly number[];
  /** Names of new terms, separated by commas. */
  readonly fresh: string;
}

const readChosenTerms = (formValue: FormValue): ChosenTerms => {
  const { ids, fresh } = membersIn(formValue);
  return { ids: Array.isArray(ids) ? ids.map(Number) : [], fresh: textOrEmpty(fresh) };
};

/** Returns comma-separated names; a name containing a comma is in quotes, and quotes within it are doubled. */
export const parseNames = (text: string): string[] => {
  const names = Array.from(text.matchAll(NAME_PATTERN), ([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain);
  return [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))];
};
const NAME_PATTERN = /[^\S,]*"([^"]*(?:""[^"]*)*)"[^\S,]*(?:,|$)|([^,]+)(?:,|$)/g;

/** Joins names in the form that `parseNames` reads. */
export const formatNames = (names: readonly string[]): string =>
  names.map((name) => (/^"|,/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(', ');

export const categories: Control = {
  toFormValue: (value) => ({ ids: idsOf(value).sort((one, other) => one - other), fresh: '' }),
  read: (input) => ({
    ids: textsIn(membersIn(input), 'ids')
      .map(idIn)
      .filter((id) => id > 0)
      .sort((one, other) => one - other),
    fresh: textOf(membersIn(input).fresh).trim(),
  }),
  toApiValue: (formValue) => [
    ...readChosenTerms(formValue).ids.map((id) => ({ id })),
    ...parseNames(readChosenTerms(formValue).fresh).map((name) => ({ name })),
  ],
  toText: (formValue, { terms }) => {
    const { ids, fresh } = readChosenTerms(formValue);
    const choices = Object.values(terms).flat();
    return [...ids.map((id) => choices.find((term) => term.id === id)?.name ?? String(id)), ...parseNames(fresh)].join(', ');
  },
  Component: (props) => {
    const { name, formValue, data } = props;
    const { ids, fresh } = readChosenTerms(formValue);
    const choices = data.terms[name] ?? [];
    const shownIds = new Set(choices.map(({ id }) => id));
    return (
      <FieldGroup {...groupPropsOf(props)}>
        <div class="choices">
          {ids.map((id) => !shownIds.has(id) && <input key={id} type="hidden" name={`${name}[ids][]`} value={String(id)} />)}
          {choices.map((term) => (
            <label key={term.id} class={`choice depth-${Math.min(term.depth, 4)}`}>
              <input type="checkbox" name={`${name}[ids][]`} value={String(term.id)} checked={ids.includes(term.id)} />
              {termText(term)}
            </label>
          ))}
        </div>
        {data.newTermFields.has(name) && (
          <label>
            <span class="quiet">{data.say('desk:form.new-terms')}</span>
            <input type="text" dir="auto" name={`${name}[fresh]`} value={fresh} />
          </label>
        )}
      </FieldGroup>
    );
  },
};

/**
 * Tags by name, separated by commas. The tags that a record already has keep their ids, since several tags can have the
 * same name. Those without a name, which the input cannot show, stay.
 */
export const tags: Control = {
  toFormValue: (value, { terms }) => formatNames([...new Set(termsOf(value, terms).map(({ name }) => name))]),
  read: (input) => formatNames(parseNames(textOf(input))),
  toApiValue: (formValue, { terms }, storedValue) => {
    const shownTags = termsOf(storedValue, terms);
    const shownIds = new Set(shownTags.map(({ id }) => id));
    const storedTags = groupedBy(shownTags, ({ name }) => name);
    return [
      ...idsOf(storedValue).flatMap((id) => (shownIds.has(id) ? [] : [{ id }])),
      ...parseNames(textOrEmpty(formValue)).flatMap((name): object[] => storedTags.get(name)?.map(({ id }) => ({ id })) ?? [{ name }]),
    ];
  },
  toText: textOrEmpty,
  Component: (props) => <Input {...fieldPropsOf(props)} value={textOrEmpty(props.formValue)} />,
};

const idsOf = (value: unknown): number[] => (Array.isArray(value) ? value.map(Number) : []);

function termsOf(value: unknown, terms: ControlData['terms']): { readonly id: number; readonly name: string }[] {
  const namesById = new Map(Object.values(terms).flatMap((list) => list.map(({ id, name }) => [id, name.trim()])));
  return idsOf(value).flatMap((id) => {
    const name = namesById.get(id) ?? '';
    return name === '' ? [] : [{ id, name }];
  });
}

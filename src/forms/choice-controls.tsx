import { groupedBy } from '../grouped-by.ts';
import { FieldGroup, Input, Select } from '../html/form-fields.tsx';
import { asText, boxOf, type Control, type ControlData, groupOf, type Shown, termText, textOf } from './control.ts';
import { membersIn, textsIn } from './form-values.ts';
import { line } from './text-controls.tsx';

/*
 * Controls for choices from a list: status, author, terms.
 */

export const status: Control = {
  ...line,
  words: (shown, { say }) => say(`statuses:${asText(shown)}`),
  Show: (props) => <Select {...boxOf(props)} value={asText(props.shown)} options={props.data.statuses} />,
};

/** Returns the control for a closed set; languages are shown by name, other values as they are. */
export const oneOf = (values: readonly string[]): Control => ({
  ...line,
  words: (shown, { languages }) => languages.get(asText(shown)) ?? asText(shown),
  Show: (props) => (
    <Select
      {...boxOf(props)}
      value={asText(props.shown)}
      options={['', ...values].flatMap((value) =>
        value === '' && props.shown !== '' ? [] : [{ value, text: props.data.languages.get(value) ?? value }],
      )}
    />
  ),
});

export const author: Control = {
  ...line,
  words: (shown, { authors }) => authors.find(({ value }) => value === shown)?.text ?? asText(shown),
  Show: (props) => <Select {...boxOf(props)} value={asText(props.shown)} options={props.data.authors} />,
};

interface Chosen {
  readonly ids: readonly number[];
  /** Names of new terms, separated by commas. */
  readonly fresh: string;
}

const chosenIn = (shown: Shown): Chosen => {
  const { ids, fresh } = membersIn(shown);
  return { ids: Array.isArray(ids) ? ids.map(Number) : [], fresh: asText(fresh) };
};

/** Returns comma-separated names; a name containing a comma is in quotes, and quotes within it are doubled. */
export const namesIn = (text: string): string[] => {
  const names = Array.from(text.matchAll(NAME), ([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain);
  return [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))];
};
const NAME = /[^\S,]*"([^"]*(?:""[^"]*)*)"[^\S,]*(?:,|$)|([^,]+)(?:,|$)/g;

/** Joins names in the form that `namesIn` reads. */
export const namesText = (names: readonly string[]): string =>
  names.map((name) => (/^"|,/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(', ');

export const categories: Control = {
  show: (value) => ({ ids: (Array.isArray(value) ? value.map(Number) : []).sort((one, other) => one - other), fresh: '' }),
  read: (sent) => ({
    ids: textsIn(membersIn(sent), 'ids')
      .map(Number)
      .filter((id) => Number.isSafeInteger(id) && id > 0)
      .sort((one, other) => one - other),
    fresh: textOf(membersIn(sent).fresh).trim(),
  }),
  raw: (shown) => [...chosenIn(shown).ids.map((id) => ({ id })), ...namesIn(chosenIn(shown).fresh).map((name) => ({ name }))],
  words: (shown, { terms }) => {
    const { ids, fresh } = chosenIn(shown);
    const known = Object.values(terms).flat();
    return [...ids.map((id) => known.find((term) => term.id === id)?.name ?? String(id)), ...namesIn(fresh)].join(', ');
  },
  Show: (props) => {
    const { name, shown, data } = props;
    const { ids, fresh } = chosenIn(shown);
    return (
      <FieldGroup {...groupOf(props)}>
        <div class="choices">
          {(data.terms[name] ?? []).map((term) => (
            <label key={term.id} class={`choice depth-${Math.min(term.depth, 4)}`}>
              <input type="checkbox" name={`${name}[ids][]`} value={String(term.id)} checked={ids.includes(term.id)} />
              {termText(term)}
            </label>
          ))}
        </div>
        {data.freshTerms.has(name) && (
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
 * same name.
 */
export const tags: Control = {
  show: (value, { terms }) => namesText([...new Set(termsOf(value, terms).map(({ name }) => name))]),
  read: (sent) => namesText(namesIn(textOf(sent))),
  raw: (shown, { terms }, stored) => {
    const had = groupedBy(termsOf(stored, terms), ({ name }) => name);
    return namesIn(asText(shown)).flatMap((name): object[] => had.get(name)?.map(({ id }) => ({ id })) ?? [{ name }]);
  },
  words: asText,
  Show: (props) => <Input {...boxOf(props)} value={asText(props.shown)} />,
};

function termsOf(value: unknown, terms: ControlData['terms']): { readonly id: number; readonly name: string }[] {
  const known = new Map(Object.values(terms).flatMap((list) => list.map(({ id, name }) => [id, name.trim()])));
  return (Array.isArray(value) ? value.map(Number) : []).flatMap((id) => {
    const name = known.get(id) ?? '';
    return name === '' ? [] : [{ id, name }];
  });
}

import { FieldGroup, Input } from '../html/form-fields.tsx';
import { stripControlCharacters } from '../wordpress/content/plain-text.ts';
import { type Control, type FormValue, groupPropsOf, textOrEmpty } from './control.ts';
import { idIn, membersIn, textIn, textsIn } from './form-values.ts';

/*
 * Controls for links to other records: an event's venue and organizers.
 */

/** Links in a form: the records that stay, the texts in the boxes for more, and the details of a new record. */
export interface LinkForm {
  readonly keep: readonly number[];
  readonly add: readonly string[];
  readonly fresh: Readonly<Record<string, string>>;
}

/** Reads the links in a form: those that stay, those that are added, and the details of a new record. */
export const readLinkForm = (formValue: FormValue): LinkForm => {
  const { keep, add, fresh } = membersIn(formValue);
  return {
    keep: Array.isArray(keep) ? keep.map(Number) : [],
    add: Array.isArray(add) ? add.map(textOrEmpty) : [],
    fresh: Object.fromEntries(Object.entries(membersIn(fresh)).map(([name, value]) => [name, textOrEmpty(value)])),
  };
};

/** Returns the name of a record in a list of choices, which ends with its id. */
export const formatChoice = (name: string, id: number): string => `${name} (#${id})`;

/** Returns the id at the end of such a name; 0 if there is none. */
export const parseChoiceId = (text: string): number => Number(/\(#([1-9]\d{0,14})\)\s*$/.exec(text)?.[1] ?? 0);

/** Returns such a name without its id. */
export function withoutChoiceId(text: string): string {
  let name = text.trim();
  while (parseChoiceId(name) > 0) name = name.slice(0, name.lastIndexOf('(#')).trim();
  return name;
}

/** Maximum number of names in the boxes for more: each is looked up. */
export const MAX_NAMES = 20;

export const links: Control = {
  toFormValue: (value) => ({ keep: Array.isArray(value) ? value.map(Number) : [], add: [], fresh: {} }),
  read: (input) => {
    const form = membersIn(input);
    return {
      keep: textsIn(form, 'keep')
        .map(idIn)
        .filter((id) => id > 0),
      add: [...new Set(textsIn(form, 'add').map((text) => stripControlCharacters(text).trim()))]
        .filter((text) => text !== '')
        .slice(0, MAX_NAMES),
      fresh: Object.fromEntries(
        Object.keys(membersIn(form.fresh))
          .map((name) => [name, textIn(membersIn(form.fresh), name).trim()] as const)
          .filter(([, value]) => value !== ''),
      ),
    };
  },
  toApiValue: (formValue) => readLinkForm(formValue).keep,
  toText: (formValue, { links: linkChoices }) => {
    const { keep, add } = readLinkForm(formValue);
    const namesById = new Map(Object.values(linkChoices).flatMap(({ names }) => [...names]));
    return [...keep.map((id) => namesById.get(id) ?? `#${id}`), ...add].join(', ');
  },
  Component: (props) => {
    const { name, error, formValue, data } = props;
    const { keep, add, fresh } = readLinkForm(formValue);
    const choices = data.links[name];
    if (!choices) return null;
    const boxes = [...add, ...(add.length === 0 || choices.allowsSeveral ? [''] : [])];
    return (
      <FieldGroup {...groupPropsOf(props)} data-links={choices.path}>
        {keep.map((id) => (
          <label key={id} class="choice">
            <input type="checkbox" name={`${name}[keep][]`} value={String(id)} checked />
            {choices.names.get(id) ?? data.say('desk:form.unnamed', { id })}
          </label>
        ))}
        {boxes.map((text, index) => (
          <label key={index}>
            <span class="quiet">{data.say(choices.mayCreate ? 'desk:form.find-or-new' : 'desk:form.find')}</span>
            <input
              type="text"
              dir="auto"
              name={`${name}[add][]`}
              value={text}
              list={`${name}-choices`}
              autocomplete="off"
              aria-invalid={error ? 'true' : undefined}
            />
          </label>
        ))}
        <datalist id={`${name}-choices`}>
          {[...choices.names].map(([id, text]) => (
            <option key={id} value={formatChoice(text, id)} />
          ))}
        </datalist>
        {choices.mayCreate && choices.newRecordFields.length > 0 && (
          <details open={Object.keys(fresh).length > 0}>
            <summary>{data.say('desk:form.new-details')}</summary>
            {choices.newRecordFields.map((field) => (
              <Input
                key={field.name}
                name={`${name}[fresh][${field.name}]`}
                id={`${name}-${field.name}`}
                label={field.label}
                value={fresh[field.name] ?? ''}
              />
            ))}
          </details>
        )}
      </FieldGroup>
    );
  },
};

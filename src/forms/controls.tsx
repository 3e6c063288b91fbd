import type { JSX } from 'preact';
import type { CustomField } from '../calendar/custom-fields.ts';
import {
  Checkbox,
  describing,
  Field as FieldBox,
  type FieldProps,
  Input,
  type Option,
  Remarks,
  Select,
  TextArea,
} from '../html/form-fields.tsx';
import { isYesOrNo } from '../kinds/editable.ts';
import { isImage, isLinks, isTerms } from '../kinds/fields.ts';
import { decimal, LENGTHS, timeText, timezone, url } from '../kinds/grammar.ts';
import type { Field, Values } from '../kinds/kind.ts';
import { membersIn, textIn, textsIn } from './form-values.ts';

/*
 * How each field of a kind is shown in a form, and read from one. The form of a value is plain data, so that what was
 * sent can be compared with what is stored: only what somebody changed is written.
 */

/** A value as a form shows and sends it. */
export type Shown = unknown;

/** What inputs need to know besides the value: choices, and names of what values name by id. */
export interface About {
  readonly say: (key: string, values?: Readonly<Record<string, string | number>>) => string;
  /** Terms that can be chosen, by field. */
  readonly terms: Readonly<Record<string, readonly TermChoice[]>>;
  /** What can be linked to, by field, and the fields of a new record of that kind. */
  readonly links: Readonly<Record<string, LinkChoices>>;
  readonly statuses: readonly Option[];
  /** People who may be authors; empty where that is not the caller's to say. */
  readonly authors: readonly Option[];
  readonly image: ImageShown | undefined;
  readonly mayUpload: boolean;
  readonly customFields: readonly CustomField[];
  readonly zones: readonly string[];
}

/** What inputs need to know that offer no choices. */
export const NOTHING_ABOUT: Omit<About, 'say'> = {
  terms: {},
  links: {},
  statuses: [],
  authors: [],
  image: undefined,
  mayUpload: false,
  customFields: [],
  zones: [],
};

export interface TermChoice {
  readonly id: number;
  readonly name: string;
  /** How far below the root. */
  readonly depth: number;
}

export interface LinkChoices {
  readonly path: string;
  /** Names of records that can be linked, by id. */
  readonly known: ReadonlyMap<number, string>;
  /** Fields of a new record, with their labels. */
  readonly fresh: readonly { readonly name: string; readonly label: string }[];
  readonly several: boolean;
  readonly mayCreate: boolean;
}

export interface ImageShown {
  readonly address: string;
  readonly alt: string;
  readonly mayDescribe: boolean;
}

export interface ControlProps extends FieldProps {
  readonly field: Field;
  readonly shown: Shown;
  readonly about: About;
}

export interface Control {
  /** A stored value (undefined: none yet) as the form shows it. */
  readonly show: (value: unknown, about: About) => Shown;
  /** What a form sent under the name of the field. */
  readonly read: (sent: unknown) => Shown;
  /** A value of the form as the API takes it. */
  readonly raw: (shown: Shown, about: About) => unknown;
  /** A value in words, for comparing two versions. */
  readonly words: (shown: Shown, about: About) => string;
  readonly Show: (props: ControlProps) => JSX.Element | null;
}

/** The control of a field, from its grammar and its place. */
export function controlOf(name: string, field: Field): Control {
  const { grammar } = field;
  if (name === 'status') return status;
  if (name === 'author') return author;
  if (name === 'custom_fields') return customFields;
  if (isYesOrNo(grammar)) return yesOrNo;
  if (isTerms(field)) return field.place.kind === 'category' ? categories : tags;
  if (isLinks(field)) return links;
  if (isImage(field)) return image;
  if (grammar === timeText) return moment;
  if (grammar === timezone) return zone;
  if (grammar === decimal) return { ...line, Show: (props) => <LineInput {...props} inputMode="decimal" /> };
  if (grammar === url) return { ...line, Show: (props) => <LineInput {...props} inputMode="url" placeholder="https://" /> };
  if (grammar.longest === LENGTHS.content) return { ...line, Show: (props) => <Paragraphs {...props} rows={12} /> };
  if (field.place.in === 'column' && field.place.column === 'post_excerpt')
    return { ...line, Show: (props) => <Paragraphs {...props} rows={3} /> };
  const { enum: choices } = grammar.json;
  if (Array.isArray(choices)) return oneOf(choices.map(String));
  return line;
}

const textOf = (value: unknown): string => (value === undefined || value === null ? '' : String(value).replace(/\r\n?/g, '\n'));
const asText = (shown: Shown): string => (typeof shown === 'string' ? shown : '');

function boxOf({ name, id, label, hint, error, required }: ControlProps): FieldProps {
  return { name, label, hint, error, required, ...(id === undefined ? {} : { id }) };
}

// ------------------------------------------------------------------------------------------------- texts
function LineInput({
  inputMode,
  placeholder,
  ...props
}: ControlProps & { readonly inputMode?: 'decimal' | 'url'; readonly placeholder?: string }): JSX.Element {
  return (
    <FieldBox {...boxOf(props)}>
      {(ties) => <input type="text" {...ties} value={asText(props.shown)} inputMode={inputMode} placeholder={placeholder} />}
    </FieldBox>
  );
}

const Paragraphs = ({ rows, ...props }: ControlProps & { readonly rows: number }): JSX.Element => (
  <TextArea {...boxOf(props)} value={asText(props.shown)} rows={rows} />
);

const line: Control = {
  show: textOf,
  read: textOf,
  raw: (shown) => shown,
  words: asText,
  Show: LineInput,
};

const yesOrNo: Control = {
  show: (value) => value === true,
  read: (sent) => typeof sent === 'string' && sent !== '',
  raw: (shown) => shown,
  words: (shown, { say }) => say(shown === true ? 'desk:yes' : 'desk:no'),
  Show: (props) => <Checkbox {...boxOf(props)} checked={props.shown === true} />,
};

// ------------------------------------------------------------------------------------------------- dates
interface Moment {
  readonly date: string;
  readonly time: string;
}

const momentIn = (shown: Shown): Moment => {
  const { date, time } = membersIn(shown);
  return { date: asText(date), time: asText(time) };
};

/** `31/12/2026` and `31.12.2026` as `2026-12-31`: browsers without an input of dates send what is typed. */
function dayFirst(typed: string): string {
  const [, day = '', month = '', year = ''] = /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})$/.exec(typed.trim()) ?? [];
  return year === '' ? typed.trim() : `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}

const moment: Control = {
  show: (value) => {
    const [date = '', time = ''] = textOf(value).split(' ');
    return /^\d{4}-\d\d-\d\d$/.test(date) && !date.startsWith('0000') ? { date, time: time.slice(0, 5) } : { date: '', time: '' };
  },
  read: (sent) => {
    const { date, time } = membersIn(sent);
    return { date: dayFirst(textOf(date)), time: textOf(time).trim().slice(0, 8) };
  },
  raw: (shown) => {
    const { date, time } = momentIn(shown);
    return date === '' ? '' : `${date} ${time === '' ? '00:00' : time}`;
  },
  words: (shown) => `${momentIn(shown).date} ${momentIn(shown).time}`.trim(),
  Show: ({ shown, about, ...props }) => {
    const { name, id = name, label, hint, error, required } = props;
    const { date, time } = momentIn(shown);
    const described = describing({ id, hint, error });
    return (
      <fieldset class={error ? 'field field-moment field-wrong' : 'field field-moment'}>
        <legend>{label}</legend>
        <label>
          <span class="quiet">{about.say('desk:form.day')}</span>
          <input
            type="date"
            name={`${name}[date]`}
            id={id}
            value={date}
            required={required}
            aria-describedby={described}
            aria-invalid={error ? 'true' : undefined}
          />
        </label>
        <label class="moment-time">
          <span class="quiet">{about.say('desk:form.time')}</span>
          <input type="time" name={`${name}[time]`} value={time} aria-describedby={described} />
        </label>
        <Remarks id={id} hint={hint} error={error} />
      </fieldset>
    );
  },
};

const zone: Control = {
  ...line,
  Show: (props) => (
    <>
      <Input {...boxOf(props)} value={asText(props.shown)} list="zones" />
      <datalist id="zones">
        {props.about.zones.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  ),
};

// ------------------------------------------------------------------------------------------------- choices
const status: Control = {
  ...line,
  words: (shown, { say }) => say(`statuses:${asText(shown)}`),
  Show: (props) => <Select {...boxOf(props)} value={asText(props.shown)} options={props.about.statuses} />,
};

/** One of a closed set, by the values themselves. */
const oneOf = (values: readonly string[]): Control => ({
  ...line,
  Show: (props) => (
    <Select
      {...boxOf(props)}
      value={asText(props.shown)}
      options={['', ...values].flatMap((value) => (value === '' && props.shown !== '' ? [] : [{ value, text: value }]))}
    />
  ),
});

const author: Control = {
  ...line,
  words: (shown, { authors }) => authors.find(({ value }) => value === shown)?.text ?? asText(shown),
  Show: (props) => <Select {...boxOf(props)} value={asText(props.shown)} options={props.about.authors} />,
};

interface Chosen {
  readonly ids: readonly number[];
  /** Names of new ones, with commas between them. */
  readonly fresh: string;
}

const chosenIn = (shown: Shown): Chosen => {
  const { ids, fresh } = membersIn(shown);
  return { ids: Array.isArray(ids) ? ids.map(Number) : [], fresh: asText(fresh) };
};

const namesIn = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  ),
];

const categories: Control = {
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
  Show: ({ name, label, hint, error, shown, about }) => {
    const { ids, fresh } = chosenIn(shown);
    return (
      <fieldset class={error ? 'field field-wrong' : 'field'}>
        <legend>{label}</legend>
        <div class="choices">
          {(about.terms[name] ?? []).map(({ id, name: term, depth }) => (
            <label key={id} class={`choice depth-${Math.min(depth, 4)}`}>
              <input type="checkbox" name={`${name}[ids][]`} value={String(id)} checked={ids.includes(id)} />
              {term}
            </label>
          ))}
        </div>
        <label>
          <span class="quiet">{about.say('desk:form.new-terms')}</span>
          <input type="text" name={`${name}[fresh]`} value={fresh} />
        </label>
        {hint && <p class="hint">{hint}</p>}
        {error && <p class="error">{error}</p>}
      </fieldset>
    );
  },
};

/** Tags by their names, with commas between them. */
const tags: Control = {
  show: (value, { terms }) => {
    const known = new Map(Object.values(terms).flatMap((list) => list.map((term) => [term.id, term.name])));
    return namesIn((Array.isArray(value) ? value : []).map((id) => known.get(Number(id)) ?? '').join(',')).join(', ');
  },
  read: (sent) => namesIn(textOf(sent)).join(', '),
  raw: (shown) => namesIn(asText(shown)).map((name) => ({ name })),
  words: asText,
  Show: (props) => (
    <>
      <Input {...boxOf(props)} value={asText(props.shown)} list={undefined} />
    </>
  ),
};

// ------------------------------------------------------------------------------------------------- links
/** Records to link to: those that stay, what was typed into the boxes for more, and what is said of a new one. */
export interface LinkForm {
  readonly keep: readonly number[];
  readonly add: readonly string[];
  readonly fresh: Readonly<Record<string, string>>;
}

export const linkFormIn = (shown: Shown): LinkForm => {
  const { keep, add, fresh } = membersIn(shown);
  return {
    keep: Array.isArray(keep) ? keep.map(Number) : [],
    add: Array.isArray(add) ? add.map(asText) : [],
    fresh: Object.fromEntries(Object.entries(membersIn(fresh)).map(([name, value]) => [name, asText(value)])),
  };
};

/** How a record is named in a list to choose from: its id stands at the end. */
export const choiceText = (name: string, id: number): string => `${name} (#${id})`;

/** The id at the end of such a name. */
export const choiceId = (typed: string): number => Number(/\(#([1-9]\d{0,14})\)\s*$/.exec(typed)?.[1] ?? 0);

const links: Control = {
  show: (value) => ({ keep: Array.isArray(value) ? value.map(Number) : [], add: [], fresh: {} }),
  read: (sent) => {
    const form = membersIn(sent);
    return {
      keep: textsIn(form, 'keep')
        .map(Number)
        .filter((id) => Number.isSafeInteger(id) && id > 0),
      add: textsIn(form, 'add')
        .map((text) => text.trim())
        .filter((text) => text !== ''),
      fresh: Object.fromEntries(
        Object.keys(membersIn(form.fresh))
          .map((name) => [name, textIn(membersIn(form.fresh), name).trim()] as const)
          .filter(([, value]) => value !== ''),
      ),
    };
  },
  raw: (shown) => linkFormIn(shown).keep,
  words: (shown, { links: all }) => {
    const { keep, add } = linkFormIn(shown);
    const known = new Map(Object.values(all).flatMap(({ known: names }) => [...names]));
    return [...keep.map((id) => known.get(id) ?? `#${id}`), ...add].join(', ');
  },
  Show: ({ name, label, hint, error, shown, about }) => {
    const { keep, add, fresh } = linkFormIn(shown);
    const choices = about.links[name];
    if (!choices) return null;
    const boxes = [...add, ...(add.length === 0 || choices.several ? [''] : [])];
    return (
      <fieldset class={error ? 'field field-wrong' : 'field'} data-links={choices.path}>
        <legend>{label}</legend>
        {keep.map((id) => (
          <label key={id} class="choice">
            <input type="checkbox" name={`${name}[keep][]`} value={String(id)} checked />
            {choices.known.get(id) ?? about.say('desk:form.unnamed', { id })}
          </label>
        ))}
        {boxes.map((text, place) => (
          <label key={place}>
            <span class="quiet">{about.say(choices.mayCreate ? 'desk:form.find-or-new' : 'desk:form.find')}</span>
            <input
              type="text"
              name={`${name}[add][]`}
              value={text}
              list={`${name}-choices`}
              autocomplete="off"
              aria-invalid={error ? 'true' : undefined}
            />
          </label>
        ))}
        <datalist id={`${name}-choices`}>
          {[...choices.known].map(([id, text]) => (
            <option key={id} value={choiceText(text, id)} />
          ))}
        </datalist>
        {choices.mayCreate && choices.fresh.length > 0 && (
          <details open={Object.keys(fresh).length > 0}>
            <summary>{about.say('desk:form.new-details')}</summary>
            {choices.fresh.map((field) => (
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
        {hint && <p class="hint">{hint}</p>}
        {error && <p class="error">{error}</p>}
      </fieldset>
    );
  },
};

// ------------------------------------------------------------------------------------------------- the image
const image: Control = {
  show: (value) => Number(value) || 0,
  read: (sent) => {
    const form = membersIn(sent);
    return textIn(form, 'remove') === '' ? Number(textIn(form, 'id')) || 0 : 0;
  },
  raw: (shown) => (shown === 0 ? '' : shown),
  words: (shown, { say }) => (shown === 0 ? say('desk:form.no-image') : `#${String(shown)}`),
  Show: ({ name, label, hint, error, shown, about }) => (
    <fieldset class={error ? 'field field-wrong' : 'field'} data-drop>
      <legend>{label}</legend>
      <input type="hidden" name={`${name}[id]`} value={String(shown)} />
      {shown !== 0 && about.image && (
        <>
          <img src={about.image.address} alt={about.image.alt} class="form-image" />
          <Checkbox name={`${name}[remove]`} id={`${name}-remove`} label={about.say('desk:form.remove-image')} />
        </>
      )}
      {about.mayUpload && (
        <label>
          <span class="quiet">{about.say(shown === 0 ? 'desk:form.upload' : 'desk:form.replace')}</span>
          <input type="file" name={`${name}_file`} accept="image/*" />
        </label>
      )}
      {(about.mayUpload || about.image?.mayDescribe) && (
        <Input
          name={`${name}[alt]`}
          id={`${name}-alt`}
          label={about.say('desk:form.alt')}
          hint={about.say('desk:form.alt-hint')}
          value={about.image?.alt ?? ''}
        />
      )}
      {hint && <p class="hint">{hint}</p>}
      {error && <p class="error">{error}</p>}
    </fieldset>
  ),
};

// ------------------------------------------------------------------------------------------------- fields of a site
const listOf = (value: unknown): string[] =>
  textOf(value)
    .split('|')
    .filter((part) => part !== '');

const customFields: Control = {
  show: (value, { customFields: defined }) => Object.fromEntries(defined.map(({ name }) => [name, textOf(membersIn(value)[name])])),
  read: (sent) => {
    const form: Values = membersIn(sent);
    return Object.fromEntries(
      Object.keys(form).map((name) => [name, typeof form[name] === 'string' ? textOf(form[name]) : textsIn(form, name).join('|')]),
    );
  },
  raw: (shown, { customFields: defined }) =>
    Object.fromEntries(defined.flatMap(({ name }) => (Object.hasOwn(membersIn(shown), name) ? [[name, membersIn(shown)[name]]] : []))),
  words: (shown) =>
    Object.entries(membersIn(shown))
      .map(([name, value]) => `${name}: ${String(value)}`)
      .join('; '),
  Show: ({ name, label, error, shown, about }) => (
    <fieldset class={error ? 'field field-wrong' : 'field'}>
      <legend>{label}</legend>
      {about.customFields.map((field) => (
        <CustomInput key={field.name} field={field} name={`${name}[${field.name}]`} value={textOf(membersIn(shown)[field.name])} />
      ))}
      {error && <p class="error">{error}</p>}
    </fieldset>
  ),
};

function CustomInput({ field, name, value }: { readonly field: CustomField; readonly name: string; readonly value: string }): JSX.Element {
  const { label, type, choices } = field;
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
            <input type="checkbox" name={`${name}[]`} value={choice} checked={listOf(value).includes(choice)} />
            {choice}
          </label>
        ))}
      </fieldset>
    );
  return <Input name={name} id={id} label={label} value={value} />;
}

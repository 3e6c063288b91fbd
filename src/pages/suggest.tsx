import { ApiError } from '../errors.ts';
import { changedValues } from '../forms/changed-values.ts';
import { formatNames } from '../forms/choice-controls.tsx';
import type { ControlData } from '../forms/control.ts';
import { loadControlData } from '../forms/control-data.ts';
import { controlOf } from '../forms/controls.ts';
import { dateErrors } from '../forms/date-errors.ts';
import { allFieldErrors, errorSentence, fieldErrors } from '../forms/error-sentences.ts';
import { ErrorSummary, type FormState } from '../forms/fields.tsx';
import type { FormContext } from '../forms/form-context.ts';
import { textIn } from '../forms/form-values.ts';
import { kindOnSite } from '../kinds/custom-fields.ts';
import { MAX_BYTES } from '../kinds/grammars/grammar.ts';
import { postKind } from '../kinds/index.ts';
import type { PostKind } from '../kinds/kind.ts';
import type { Field, Values } from '../kinds/param.ts';
import { SUGGESTION_PARTS, type Suggestion } from '../kinds/suggestion.ts';
import { isObject } from '../objects.ts';
import type { Caller } from '../records/caller.ts';
import { acceptParams } from '../records/input.ts';
import { storeSuggestion } from '../records/suggestions.ts';
import type { Site } from '../site.ts';
import { stripControlCharacters } from '../wordpress/content/plain-text.ts';
import { isEmail } from '../wordpress/email.ts';
import { i18nFor } from './i18n-for.ts';
import { type Page, type PageContext, toPage } from './pages.tsx';
import { SuggestView, ThanksView } from './suggest-view.tsx';
import { suggestPath, suggestUrl } from './urls.ts';

/*
 * The page on which visitors without an account suggest an event. Suggestions are pending until an editor publishes
 * them.
 */

/**
 * Fields of an event that visitors can fill in, in the order of the form. The texts of the kind and the custom fields
 * of the site are added. All other fields are for editors.
 */
const SUGGESTION_FIELDS = [
  'title',
  'start_date',
  'end_date',
  'all_day',
  'venue',
  'organizer',
  'description',
  'cost',
  'website',
  'categories',
  'custom_fields',
];

/** Texts of the kind that are only for editors. */
const EDITOR_ONLY_TEXTS: ReadonlySet<string> = new Set(['external_id']);

/** A field hidden from people: a form in which it is filled in was sent by a bot. */
const HONEYPOT_FIELD = 'homepage';

/** Maximum lengths of name, e-mail address and note, in characters. */
const MAX_LENGTHS: Readonly<Record<'name' | 'email' | 'note', number>> = { name: 100, email: 100, note: 2000 };
type VisitorField = keyof typeof MAX_LENGTHS;

/** A submitted form, and the reasons why it was not accepted. */
export interface SuggestForm {
  /** The key that proves that the form was made for its sender. */
  readonly key: string;
  readonly input?: Values;
  readonly errors?: ReadonlyMap<string, string>;
  readonly notice?: string;
  /** The choices of the form, if they were loaded before the database became unavailable. */
  readonly data?: ControlData;
  /** The status code of the response. */
  readonly status?: number;
}

/** Returns the form, empty or as submitted. */
export async function suggestPage(
  context: PageContext,
  caller: Caller,
  { key, input = {}, errors, notice, status = 200, data: loadedData }: SuggestForm,
): Promise<Page> {
  const formContext = formContextOf(context.site, caller);
  const { kind, names } = suggestionFields(formContext);
  const formValues = readFields(kind, names, input);
  const data = loadedData ?? (await loadControlData(formContext, kind, names, formValues));
  const labels = Object.fromEntries(
    Object.keys(MAX_LENGTHS).map((name) => [`from_${name}`, formContext.i18n.say(`pages:suggest.${name}`)]),
  );
  const form: FormState = { kind, formValues, data, labels, ...(errors ? { errors } : {}) };
  const visitorDetails = Object.fromEntries(Object.keys(MAX_LENGTHS).map((name) => [name, textIn(input, `from_${name}`)])) as Record<
    VisitorField,
    string
  >;
  const body = (
    <SuggestView
      i18n={formContext.i18n}
      form={form}
      names={names}
      visitorDetails={visitorDetails}
      address={suggestPath(caller)}
      hiddenFields={{ key, honeypot: HONEYPOT_FIELD }}
      notice={notice}
      summary={<ErrorSummary form={form} i18n={formContext.i18n} />}
    />
  );
  return formPage(context, caller, body, status);
}

/** Returns the page shown after a suggestion was accepted. */
export async function thanksPage(context: PageContext, caller: Caller): Promise<Page> {
  const i18n = i18nFor(context.site, caller);
  return formPage(context, caller, <ThanksView i18n={i18n} address={suggestPath(caller)} />, 200);
}

function formPage(context: PageContext, caller: Caller, body: Parameters<typeof toPage>[2]['body'], status: number): Page {
  const title = i18nFor(context.site, caller).say('pages:suggest.title');
  return toPage(
    context,
    caller,
    {
      body,
      name: 'suggest',
      title,
      description: '',
      address: suggestUrl(caller) ?? '',
      styles: ['forms.css'],
      records: [],
      subject: {},
      timeliness: 'always',
    },
    status,
  );
}

/** The sentences that a form is shown again with. */
type FormErrors = Pick<SuggestForm, 'errors' | 'notice' | 'status'>;

/** A suggestion without errors, which can be stored. */
export interface AcceptedSuggestion {
  /**
   * Stores it, as soon as it can be written.
   *
   * @throws suggestions-full; any error about the values
   */
  readonly store: () => Promise<void>;
  /** Returns the errors to show for one that `store` has thrown. Throws it if it is none of the sender's. */
  readonly explain: (error: unknown) => Promise<FormErrors>;
  /** The choices of its form. */
  readonly data: ControlData;
}

/**
 * Checks a suggestion. `checkAllowed`: called if there are no other errors; may throw.
 *
 * @returns the errors by field, or the suggestion; undefined: it was sent by a bot, and is not stored
 */
export async function checkSuggestion(
  site: Site,
  caller: Caller,
  input: Values,
  checkAllowed: () => void,
): Promise<FormErrors | AcceptedSuggestion | undefined> {
  const formContext = formContextOf(site, caller);
  const { kind, names } = suggestionFields(formContext);
  const { i18n } = formContext;
  if (textIn(input, HONEYPOT_FIELD) !== '') return undefined;
  const formValues = readFields(kind, names, input);
  const data = await loadControlData(formContext, kind, names, formValues);
  const raw = await changedValues(formContext, { kind, names }, { before: undefined, input: formValues, data });
  const detailErrors = [...dateErrors(formContext, raw), ...visitorErrors(formContext, input)];
  const { knownValues, unknownNames } = splitLinks(raw, kind);
  const allErrors = async () => {
    const inFields = await allFieldErrors(formContext, kind, {
      raw: knownValues,
      added: { status: 'pending' },
      faulty: detailErrors.map(([name]) => name),
    });
    const errors = new Map([...inFields, ...detailErrors]);
    // In the order of the form.
    return new Map([...names, ...Object.keys(MAX_LENGTHS).map((name) => `from_${name}`)].flatMap((name) => entriesOf(errors, name)));
  };
  const explain = async (error: unknown): Promise<FormErrors> => {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    const errors = fieldErrors(formContext, kind, error).length > 0 ? await allErrors() : new Map(detailErrors);
    const notice = errors.size > 0 ? i18n.say('pages:suggest.wrong') : errorSentence(formContext, error);
    return { errors, notice, status: error.status === 429 ? 429 : 422 };
  };
  try {
    const values = await acceptParams(site, caller, kind.fields, knownValues, 'create');
    if (detailErrors.length > 0) return { errors: await allErrors(), notice: i18n.say('pages:suggest.wrong'), status: 422 };
    checkAllowed();
    const sent = { suggestion: toSuggestion(input, unknownNames), key: textIn(input, 'key'), sentValues: knownValues };
    return { store: () => storeSuggestion(site, caller, values, sent), explain, data };
  } catch (error) {
    return explain(error);
  }
}

const entriesOf = (errors: ReadonlyMap<string, string>, name: string): [string, string][] =>
  errors.has(name) ? [[name, errors.get(name)!]] : [];

const formContextOf = (site: Site, caller: Caller): FormContext => ({
  site,
  caller,
  settings: caller.settings,
  i18n: i18nFor(site, caller),
});

function suggestionFields({ settings }: FormContext): { readonly kind: PostKind; readonly names: readonly string[] } {
  const kind = kindOnSite(postKind('event'), settings);
  const texts = Object.entries<Field>(kind.fields).flatMap(([name, { text }]) => (text && !EDITOR_ONLY_TEXTS.has(name) ? [name] : []));
  return { kind, names: [...new Set([...SUGGESTION_FIELDS, ...texts])].filter((name) => name in kind.fields) };
}

const readFields = (kind: PostKind, names: readonly string[], input: Values): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, dropNewTerms(controlOf(name, kind.fields[name]!).read(input[name]))]));

/** Removes new terms: visitors can only choose existing categories. */
const dropNewTerms = (formValue: unknown): unknown => (isObject(formValue) && 'ids' in formValue ? { ...formValue, fresh: '' } : formValue);

/**
 * Separates links to existing records from the names of unknown ones: visitors can name new venues, but only editors
 * create them.
 */
function splitLinks(raw: Values, kind: PostKind): { readonly knownValues: Values; readonly unknownNames: Values } {
  const unknownNames: Record<string, string> = {};
  const knownEntries = Object.entries(raw).map(([name, value]): [string, unknown] => {
    if (kind.fields[name]?.place.in !== 'links' || !Array.isArray(value)) return [name, value];
    const newRecords = value.filter((item): item is Values => isObject(item));
    unknownNames[name] = formatNames(newRecords.map((item) => textIn(item, name)));
    return [name, value.filter((item) => !newRecords.includes(item as Values))];
  });
  return { knownValues: Object.fromEntries(knownEntries), unknownNames };
}

/** Returns the errors in the visitor's own details. */
function visitorErrors({ i18n }: FormContext, input: Values): [string, string][] {
  const details = Object.entries(MAX_LENGTHS).map(([name, maxLength]) => ({ name, maxLength, text: textIn(input, `from_${name}`).trim() }));
  return details.flatMap(({ name, maxLength, text }): [string, string][] => {
    if (text.length > maxLength) return [[`from_${name}`, i18n.say('pages:suggest.too-long', { count: maxLength })]];
    if (text === '' && name !== 'note') return [[`from_${name}`, i18n.say('desk:form.required')]];
    return name === 'email' && !isEmail(text) ? [[`from_${name}`, i18n.say('pages:suggest.email-wrong')]] : [];
  });
}

const toSuggestion = (input: Values, unknownNames: Values): Suggestion =>
  Object.fromEntries(
    SUGGESTION_PARTS.map((name) => {
      const text = name in MAX_LENGTHS ? textIn(input, `from_${name}`) : textIn(unknownNames, name).slice(0, MAX_BYTES.word);
      return [name, stripControlCharacters(text).trim()];
    }),
  ) as unknown as Suggestion;

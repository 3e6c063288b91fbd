import type { JSX } from 'preact';
import { ApiError, refuse } from '../errors.ts';
import { indentedTerm, type TermChoice, textOf } from '../forms/control.ts';
import { errorSentence, fieldSentence } from '../forms/error-sentences.ts';
import { SavedNow } from '../forms/fields.tsx';
import { idIn, textIn } from '../forms/form-values.ts';
import { encodeInitialValues, INITIAL_FIELD, unchangedFields } from '../forms/initial-values.ts';
import { hintOf, labelOf } from '../forms/labels.ts';
import { termChoices } from '../forms/term-choices.ts';
import { Input, type Option, Select, TextArea, withCurrentValue } from '../html/form-fields.tsx';
import type { TermField, TermKind, TermValues } from '../kinds/kind.ts';
import { withLanguages } from '../kinds/language-fields.ts';
import type { Values } from '../kinds/param.ts';
import { acceptParams } from '../records/input.ts';
import { changeTerm, createTerm, deleteTerm, readTerm } from '../records/terms.ts';
import { lockTermVersion, versionTag, withPreconditions } from '../records/versions.ts';
import { mayManageTerms } from '../records/visibility.ts';
import { decodeForEditing } from '../wordpress/content/entities.ts';
import { ButtonForm, deskPage, draftAttributes, Nonce } from './layout.tsx';
import { loadTermList, TermList } from './term-list.tsx';
import { draftPath, TARGET_LANGUAGE_FIELD, TranslationLinks } from './translations.tsx';
import { deskUrl, type Outcome, type Submission, type Visit } from './visit.ts';

/*
 * Categories and tags: their list with a form for a new one, and the form of each term.
 */

interface TermForm {
  readonly input: Values;
  /** The language that the link to the form of a translation named, as sent back by the form. */
  readonly targetLanguage?: string;
  readonly errors?: ReadonlyMap<string, string>;
  readonly errorMessage?: string;
  /** The version that the user changed, if not the stored one. */
  readonly version?: string;
  /** The initial values of its fields, as sent back by the form. */
  readonly initialDigests?: string;
  /**
   * Whether another user has saved the term in the meantime. The saved values are then shown next to the user's input.
   */
  readonly hasConflict?: boolean;
}

/** Returns the page with the terms of a kind, and a form for a new one. */
export async function termsPage(visit: Visit, declaredKind: TermKind, submittedForm?: TermForm): Promise<Outcome> {
  const kind = kindOnSite(visit, declaredKind);
  requireManager(visit, kind);
  const form = submittedForm ?? { input: initialInput(visit) };
  const parentChoices = await loadParentChoices(visit, kind, [idIn(textIn(form.input, 'parent'))]);
  const list = await loadTermList(visit, kind, parentChoices);
  const { say } = visit.i18n;
  const html = deskPage(visit, {
    title: say(`desk:kinds.${kind.name}.many`),
    section: kind.path,
    notice: form.errorMessage === undefined ? undefined : { tone: 'wrong', text: form.errorMessage },
    children: (
      <>
        <h2>{say(`desk:kinds.${kind.name}.new`)}</h2>
        <TermFields visit={visit} kind={kind} path={`/${kind.path}`} form={form} parentChoices={parentChoices} version="" />
        <h2>{say(`desk:kinds.${kind.name}.all`)}</h2>
        <TermList visit={visit} kind={kind} list={list} />
      </>
    ),
  });
  return { html, ...(form.errors ? { status: 422 } : {}) };
}

/** Returns the form of a term. */
export async function termPage(visit: Visit, declaredKind: TermKind, id: number, form?: TermForm): Promise<Outcome> {
  const kind = kindOnSite(visit, declaredKind);
  requireManager(visit, kind);
  const { record, version } = await readTerm(visit.site, visit.caller, kind, id);
  const storedValues = shownValues(kind, record);
  const { input = {}, initialDigests = '', hasConflict } = form ?? {};
  // Fields that only the other user has changed have the saved value.
  const unchangedNames = hasConflict ? unchangedFields(initialDigests, input) : new Set();
  const changedInput = Object.fromEntries(Object.entries(input).filter(([name]) => !unchangedNames.has(name)));
  const savedValues = hasConflict
    ? Object.fromEntries(Object.entries(storedValues).filter(([name, value]) => textIn(input, name) !== value))
    : {};
  const parentIds = [storedValues, changedInput].map((values) => idIn(textIn(values, 'parent')));
  const terms = await loadParentChoices(visit, kind, [id, ...parentIds]);
  const { say } = visit.i18n;
  const path = `/${kind.path}/${id}`;
  const html = deskPage(visit, {
    title: storedValues.name ?? '',
    section: kind.path,
    notice: form?.errorMessage === undefined ? undefined : { tone: 'wrong', text: form.errorMessage },
    children: (
      <>
        <TranslationLinks visit={visit} kind={kind} id={id} record={record} newPath={`/${kind.path}`} />
        <TermFields
          visit={visit}
          kind={kind}
          path={path}
          form={{ ...form, input: { ...storedValues, ...changedInput } }}
          parentChoices={withoutBranch(terms, id)}
          version={form?.version ?? version}
          savedValues={savedValues}
          initialText={encodeInitialValues(storedValues, form?.hasConflict ? '' : form?.initialDigests)}
        />
        <ButtonForm visit={visit} path={`${path}/delete`} text={say('desk:actions.delete')} danger={say('desk:actions.delete-sure')} />
      </>
    ),
  });
  return { html, ...(form?.errors ? { status: form.hasConflict ? 409 : 422 } : {}) };
}

/** Creates a term. */
export async function createTermByForm(visit: Submission, declaredKind: TermKind): Promise<Outcome> {
  const kind = kindOnSite(visit, declaredKind);
  requireManager(visit, kind);
  const { site, caller } = visit;
  const input = enteredTerm(visit, kind);
  return saveOrShowAgain(
    visit,
    kind,
    'created',
    (form) => termsPage(visit, kind, { ...form, input, targetLanguage: textIn(visit.fields, TARGET_LANGUAGE_FIELD) }),
    async () => {
      await createTerm(site, caller, kind, await acceptParams(site, caller, kind.fields, changedMembers(input, {}), 'create'));
    },
  );
}

/** Saves the user's changes to a term. */
export async function changeTermByForm(visit: Submission, declaredKind: TermKind, id: number): Promise<Outcome> {
  const kind = kindOnSite(visit, declaredKind);
  requireManager(visit, kind);
  const { site, caller, fields } = visit;
  const input = enteredTerm(visit, kind);
  const storedValues = shownValues(kind, (await readTerm(site, caller, kind, id)).record);
  return saveOrShowAgain(
    visit,
    kind,
    'saved',
    // The version that the user changed, so that a conflict with a newer one is detected when the form is saved, unless
    // the user has just been told of it.
    (form) => {
      const submittedForm = {
        input,
        initialDigests: textIn(fields, INITIAL_FIELD),
        ...(form.hasConflict ? {} : { version: textIn(fields, 'version') }),
      };
      return termPage(visit, kind, id, { ...form, ...submittedForm });
    },
    async () => {
      const values: TermValues = await acceptParams(site, caller, kind.fields, changedMembers(input, storedValues), 'change');
      const conditions = { match: [versionTag(textIn(fields, 'version'))] };
      await withPreconditions(site, caller, lockTermVersion(kind), { id, conditions }, (transactionSite) =>
        changeTerm(transactionSite, caller, kind, id, values),
      );
    },
  );
}

/** Returns the terms that can be parents of others, those with these ids among them. */
const loadParentChoices = async (visit: Visit, kind: TermKind, ids: readonly number[]): Promise<TermChoice[]> =>
  kind.hierarchical ? termChoices(visit, kind.name, { ids: ids.filter((id) => id > 0) }) : [];

/** Returns the terms, which are in the order of their tree, without a term and its descendants. */
function withoutBranch(terms: readonly TermChoice[], id: number): readonly TermChoice[] {
  const start = terms.findIndex((term) => term.id === id);
  const depth = terms[start]?.depth ?? 0;
  const end = terms.findIndex((term, index) => index > start && term.depth <= depth);
  return terms.filter((_, index) => index < start || (end !== -1 && index >= end));
}

const kindOnSite = ({ settings }: Visit, kind: TermKind): TermKind => withLanguages(kind, settings.contentLanguages);

/** Returns the initial values in the form of a new term. It translates another term if the URL says so. */
const initialInput = ({ request: { query }, settings }: Visit): Readonly<Record<string, string>> => ({
  language: textIn(query, 'language') || settings.contentLanguages?.defaultCode || '',
  translation_of: textIn(query, 'translation_of'),
});

/** Translations are linked by their own forms. */
const fieldsOf = (kind: TermKind): [string, TermField][] =>
  Object.entries<TermField>(kind.fields).filter(([name]) => name !== 'translations');

const enteredTerm = ({ fields }: Submission, kind: TermKind): Readonly<Record<string, string>> =>
  Object.fromEntries(fieldsOf(kind).map(([name]) => [name, textOf(textIn(fields, name))]));

const changedMembers = (input: Readonly<Record<string, string>>, storedValues: Readonly<Record<string, string>>): Values =>
  Object.fromEntries(Object.entries(input).filter(([name, value]) => value !== (storedValues[name] ?? '')));

/** Redirects to the list after a term was written, or shows the form again with the errors. */
async function saveOrShowAgain(
  visit: Submission,
  kind: TermKind,
  action: 'created' | 'saved',
  showAgain: (form: Pick<TermForm, 'errors' | 'errorMessage' | 'hasConflict'>) => Promise<Outcome>,
  write: () => Promise<void>,
): Promise<Outcome> {
  try {
    await write();
    return { to: deskUrl(visit, `/${kind.path}`, { done: action }) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    const hasConflict = error.problem === 'edit-conflict';
    const errors = termErrors(visit, kind, error);
    const isShownAtField = [...errors.keys()].some((name) =>
      fieldsOf(kind).some(([fieldName]) => fieldName === name && name !== 'translation_of'),
    );
    const { say } = visit.i18n;
    // An error about the translated term has no visible field.
    const [sentence = errorSentence(visit, error)] = errors.values();
    const wrong = hasConflict ? say('desk:form.conflict') : isShownAtField ? say('desk:form.wrong') : sentence;
    return showAgain({ errors, errorMessage: wrong, hasConflict });
  }
}

/** Deletes a term for good. */
export async function removeTerm(visit: Visit, kind: TermKind, id: number): Promise<Outcome> {
  requireManager(visit, kind);
  await deleteTerm(visit.site, visit.caller, kind, id);
  return { to: deskUrl(visit, `/${kind.path}`, { done: 'deleted' }) };
}

function requireManager({ caller }: Visit, kind: TermKind): void {
  if (!mayManageTerms(caller, kind)) refuse(caller.viewer);
}

const shownValues = (kind: TermKind, record: Values): Readonly<Record<string, string>> =>
  // A parent of 0 means none, but a text may be `0`.
  Object.fromEntries(
    fieldsOf(kind).map(([name]) => [
      name,
      name === 'parent' && record[name] === 0 ? '' : textOf(decodeForEditing(String(record[name] ?? ''))),
    ]),
  );

function termErrors({ i18n }: Visit, kind: TermKind, { details }: ApiError): Map<string, string> {
  const missingNames = Array.isArray(details.data?.params) ? (details.data.params as string[]) : [];
  return new Map([
    ...missingNames.map((name) => [name, i18n.say('desk:form.required')] as const),
    ...[...(details.faults ?? [])].map(
      ([name, fault]) => [name, fieldSentence({ i18n }, labelOf(i18n, kind.name, name), fault, details.sentValues?.get(name))] as const,
    ),
  ]);
}

interface TermFieldsProps {
  readonly visit: Visit;
  readonly kind: TermKind;
  readonly path: string;
  readonly form: TermForm;
  readonly parentChoices: readonly TermChoice[];
  readonly version: string;
  /** Initial values of its fields; undefined: a new term. */
  readonly initialText?: string;
  /** The saved values, if another user has saved the term in the meantime. */
  readonly savedValues?: Readonly<Record<string, string>>;
}

/** The option for a term without a language. */
const NO_LANGUAGE = { value: '', text: '–' };

function TermFields({ visit, kind, path, form, parentChoices, version, initialText, savedValues = {} }: TermFieldsProps): JSX.Element {
  const { i18n, settings } = visit;
  const languages = (settings.contentLanguages?.languages ?? []).map(({ code, name }) => ({ value: code, text: name }));
  const choices: Readonly<Record<string, readonly Option[]>> = {
    parent: [
      { value: '', text: i18n.say('desk:form.no-parent') },
      ...parentChoices.map((term) => ({ value: String(term.id), text: indentedTerm(term) })),
    ],
    language: [...(textIn(form.input, 'language') === '' ? [NO_LANGUAGE] : []), ...languages],
  };
  const source = textIn(form.input, 'translation_of');
  const targetLanguage = form.targetLanguage ?? textIn(visit.request.query, 'language');
  return (
    // Input for a new term is not offered for a translation, and that for one translation not for another.
    <form
      method="post"
      action={deskUrl(visit, path)}
      class="narrow"
      {...draftAttributes(visit, {
        path: source ? draftPath(path, { translation_of: source, language: targetLanguage }) : path,
        isShownAgain: form.errorMessage !== undefined,
      })}
    >
      <Nonce nonce={visit.nonce} />
      <input type="hidden" name="version" value={version} />
      {source && <input type="hidden" name={TARGET_LANGUAGE_FIELD} value={targetLanguage} />}
      {initialText !== undefined && <input type="hidden" name={INITIAL_FIELD} value={initialText} />}
      {fieldsOf(kind).map(([name, field]) => {
        const value = textIn(form.input, name);
        if (name === 'translation_of') return <input key={name} type="hidden" name={name} value={value} />;
        const options = choices[name];
        const label = labelOf(i18n, kind.name, name);
        const props = { name, label, hint: hintOf(i18n, kind.name, name), error: form.errors?.get(name), required: field.required, value };
        const savedValue = savedValues[name];
        return (
          <div key={name} class={savedValue === undefined ? undefined : 'conflict'}>
            {options ? (
              <Select {...props} options={withCurrentValue(options, value)} />
            ) : name === 'description' ? (
              <TextArea {...props} rows={4} />
            ) : (
              <Input {...props} />
            )}
            {savedValue !== undefined && (
              <SavedNow i18n={i18n} text={options?.find((option) => option.value === savedValue)?.text ?? savedValue} />
            )}
          </div>
        );
      })}
      <button type="submit" class="button-main">
        {i18n.say('desk:form.save')}
      </button>
    </form>
  );
}

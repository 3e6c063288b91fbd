import { isDeepStrictEqual } from 'node:util';
import { ApiError, refuse } from '../errors.ts';
import { changedValues } from '../forms/changed-values.ts';
import type { ControlData, FormValue } from '../forms/control.ts';
import { loadControlData, loadImage } from '../forms/control-data.ts';
import { controlOf } from '../forms/controls.ts';
import { dateErrors } from '../forms/date-errors.ts';
import { allFieldErrors, errorSentence, fieldErrors, newTermErrors, unusedDetailErrors } from '../forms/error-sentences.ts';
import { idIn, membersIn, textIn } from '../forms/form-values.ts';
import { encodeInitialValues, INITIAL_FIELD, unchangedFields } from '../forms/initial-values.ts';
import { isImage, isLinks, isTerms } from '../kinds/fields.ts';
import type { PostKind } from '../kinds/kind.ts';
import type { Values } from '../kinds/param.ts';
import { type Editable, readEditable } from '../records/editing.ts';
import { mayCreate } from '../records/posts.ts';
import { mayHaveBeenWritten, type Site } from '../site.ts';
import { loadDates } from './event-dates.tsx';
import { type FormPlan, formPlan, initialValues } from './form-plan.ts';
import type { Notice } from './layout.tsx';
import { geocoderFor, LOCATE_FIELD, locate } from './locate.tsx';
import { type Origin, originChange, SERIES_FIELDS } from './origin-change.ts';
import { loadMapView } from './place-map.tsx';
import { type RecordForm, recordFormPage } from './record-form.tsx';
import {
  altTextErrors,
  attachPicture,
  changeAltText,
  savedAltText,
  storePicture,
  type UploadedPicture,
  withSubmittedAlt,
} from './record-picture.ts';
import { FORM_KEY_FIELD, findCreated, type RecordWrite, withSourceValues, writeRecord } from './record-write.ts';
import { suggestedLinks, withSuggestedLinks } from './suggested.tsx';
import { findSource, TARGET_LANGUAGE_FIELD, textsByField, translationTexts, translationValues } from './translations.tsx';
import { deskUrl, type Outcome, type Submission, type Visit } from './visit.ts';

/*
 * Display and saving of the forms of events, venues and organizers, which are generated from their kinds.
 */

/**
 * Returns the form of a new record. `values`: additional initial values; `copied`: the record that they come from.
 */
export async function newRecordPage(
  visit: Visit,
  declaredKind: PostKind,
  { values, copied }: { readonly values?: Values; readonly copied?: Editable } = {},
): Promise<Outcome> {
  const plan = formPlan(visit, declaredKind);
  requireCreator(visit, plan.kind);
  const { query } = visit.request;
  const day = textIn(query, 'day');
  const source = await findSource(visit, plan.kind, query);
  const initial = {
    ...initialValues(visit, plan.kind),
    ...(/^\d{4}-\d\d-\d\d$/.test(day) ? { start_date: day, end_date: day } : {}),
    ...(source ? translationValues(visit, plan.kind, source, textIn(query, 'language')) : {}),
    ...values,
  };
  const data = await loadControlData(visit, plan.kind, plan.names, initial);
  // The copied image may be deleted, or hidden from the user, who could not save it.
  const usable = data.image ? initial : withoutImage(plan, initial);
  return recordFormPage(visit, {
    plan,
    record: undefined,
    formValues: shownValues(plan, usable, data),
    data,
    map: await loadMapView(visit, plan.kind),
    ...(await originData(visit, plan.kind, { source, copied, targetLanguage: textIn(query, 'language') })),
  });
}

const withoutImage = ({ kind }: FormPlan, values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !kind.fields[name] || !isImage(kind.fields[name])));

/** Returns whether a record is an event that recurs. */
const hasSeries = async (visit: Visit, kind: PostKind, record: Editable | undefined): Promise<boolean> =>
  kind.hasDates && record !== undefined && (await loadDates(visit, record)) !== undefined;

/** Returns the form of a record. */
export async function editRecordPage(visit: Visit, declaredKind: PostKind, id: number): Promise<Outcome> {
  const plan = formPlan(visit, declaredKind);
  const record = await readEditable(visit.site, visit.caller, declaredKind, id);
  const data = await loadControlData(visit, plan.kind, plan.names, record.values);
  const formValues = withSuggestedLinks(shownValues(plan, record.values, data), record);
  const recurs = await hasSeries(visit, declaredKind, record);
  const translation = await translationTexts(visit, plan.kind, record);
  const map = await loadMapView(visit, plan.kind);
  return recordFormPage(visit, { plan, record, formValues, data, recurs, translation, map });
}

/**
 * Returns the form of a copy of a record: a draft, to be changed before it is saved. Values that must be unique are not
 * copied.
 */
export async function duplicatePage(visit: Visit, declaredKind: PostKind, id: number): Promise<Outcome> {
  const copied = await readEditable(visit.site, visit.caller, declaredKind, id);
  const { slug: _slug, date: _date, author: _author, status: _status, external_id: _name, ...values } = copied.values;
  return newRecordPage(visit, declaredKind, { values: { ...values, status: 'draft' }, copied });
}

/** Returns the record that a new one translates or copies, as it is now. */
async function originOf(visit: Visit, { fullPlan, source, copied }: SubmittedRecordForm, data: ControlData): Promise<Origin> {
  const record = source ?? copied;
  const recurs = await hasSeries(visit, fullPlan.kind, record);
  const series = record && recurs ? shownValues({ ...fullPlan, names: SERIES_FIELDS }, record.values, data) : undefined;
  return { isProtected: isProtected(record), series };
}

const isProtected = (record: Editable | undefined): boolean => record !== undefined && record.row.post_password !== '';

/** Returns the data about the record that a new one translates or copies, for its form. */
async function originData(
  visit: Visit,
  kind: PostKind,
  { source, copied, targetLanguage }: Pick<SubmittedRecordForm, 'source' | 'copied'> & { readonly targetLanguage: string },
) {
  const origin = source ?? copied;
  return {
    ...(copied ? { copies: copied.id } : {}),
    ...(source ? { translates: source.id, targetLanguage, translation: textsByField(visit, kind, source) } : {}),
    sharesDates: await hasSeries(visit, kind, origin),
    sharesPassword: isProtected(origin),
  };
}

function requireCreator({ caller }: Visit, kind: PostKind): void {
  if (!mayCreate(caller, kind)) refuse(caller.viewer);
}

const shownValues = ({ kind, names }: FormPlan, values: Values, data: ControlData): Record<string, FormValue> =>
  Object.fromEntries(names.map((name) => [name, controlOf(name, kind.fields[name]!).toFormValue(values[name], data)]));

// ------------------------------------------------------------------------------------------------- saving
/** Saves a new record and redirects to its form. */
export async function createByForm(visit: Submission, declaredKind: PostKind): Promise<Outcome> {
  const fullPlan = formPlan(visit, declaredKind);
  requireCreator(visit, fullPlan.kind);
  // The first answer may have been lost, and what the form refers to may have changed since.
  const createdId = await findCreated(visit);
  if (createdId !== undefined) return { to: urlAfterSaving(visit, fullPlan.kind, createdId, 'created') };
  const source = await findSource(visit, fullPlan.kind, visit.fields);
  const copied = await findCopied(visit, declaredKind);
  return saveForm(visit, { fullPlan, submittedPlan: fullPlan, record: undefined, source, copied });
}

/** Returns the id of the record that a new one is a copy of, also if it was deleted in the meantime; 0: none. */
const copiedIdIn = ({ fields }: Submission): number => idIn(textIn(fields, 'copy_of'));

/** Returns the record that a new one is a copy of; undefined if there is none, or if it was deleted in the meantime. */
async function findCopied(visit: Submission, kind: PostKind): Promise<Editable | undefined> {
  const { site, caller } = visit;
  const id = copiedIdIn(visit);
  if (id === 0) return undefined;
  return readEditable(site, caller, kind, id).catch((error: unknown) => {
    if (error instanceof ApiError && error.status < 500) return undefined;
    throw error;
  });
}

/** Saves the changes to a record and redirects to its form, or to the list that contained the quick form. */
export async function changeByForm(visit: Submission, declaredKind: PostKind, id: number): Promise<Outcome> {
  const fullPlan = formPlan(visit, declaredKind);
  const record = await readEditable(visit.site, visit.caller, declaredKind, id);
  return saveForm(visit, { fullPlan, submittedPlan: planOfSubmitted(fullPlan, visit.fields), record, source: undefined });
}

/** A submitted form. */
interface SubmittedRecordForm {
  /** The complete form, which is shown if there are errors. */
  readonly fullPlan: FormPlan;
  /** The part of the form that was sent. */
  readonly submittedPlan: FormPlan;
  /** The stored record; undefined: a new one. */
  readonly record: Editable | undefined;
  /** The record that a new one translates. */
  readonly source: Editable | undefined;
  /** The record that a new one is a copy of. */
  readonly copied?: Editable | undefined;
}

/** Saves a form. If that fails and the form is not shown again, the uploaded picture does not stay in the library. */
async function saveForm(visit: Submission, form: SubmittedRecordForm): Promise<Outcome> {
  const errors = new Map<string, string>();
  // Looking up coordinates saves nothing, including the picture.
  const geocoder = textIn(visit.fields, LOCATE_FIELD) === '1' ? geocoderFor(visit, form.fullPlan.kind) : undefined;
  const picture = await storePicture(visit, form, { isSaving: geocoder === undefined, errors });
  try {
    const outcome = await saveWithPicture(visit, form, { geocoder, picture, errors });
    // The same form may have been sent at the same time, and may now be refused because of what that one created.
    const createdId = 'to' in outcome || form.record ? undefined : await findCreated(visit);
    if (createdId === undefined) return outcome;
    await removeUnused(visit, picture);
    return { to: urlAfterSaving(visit, form.fullPlan.kind, createdId, 'created') };
  } catch (error) {
    // The first error is the one to report.
    if (!mayHaveBeenWritten(error)) await removeUnused(visit, picture);
    throw error;
  }
}

const removeUnused = ({ site }: Visit, picture: UploadedPicture): Promise<void> =>
  picture.removeFromLibrary().catch((err: unknown) => site.log.warn({ err }, 'an unused picture could not be deleted'));

/** An attempt to save a form. */
interface Attempt {
  /** The service that looks up coordinates, if that is all the user asks for. */
  readonly geocoder: string | undefined;
  readonly picture: UploadedPicture;
  /** Sentences about faulty fields so far, by field. */
  readonly errors: Map<string, string>;
}

async function saveWithPicture(visit: Submission, form: SubmittedRecordForm, { geocoder, picture, errors }: Attempt): Promise<Outcome> {
  const { fullPlan, submittedPlan, record, source } = form;
  const { kind } = fullPlan;
  const submittedInput = Object.fromEntries(
    submittedPlan.names.map((name) => [name, controlOf(name, kind.fields[name]!).read(visit.fields[name])]),
  );
  if (textIn(visit.fields, 'publish') === '1' && 'status' in submittedInput) submittedInput.status = 'publish';
  const input = { ...submittedInput, ...picture.input };
  const data = await loadControlData(visit, kind, submittedPlan.names, withReferencedIds(submittedPlan, record?.values ?? {}, input));
  const showAgain: ShowAgain = (notice, changes) => showFormAgain(visit, form, { input, picture, errors, notice, ...changes });
  if (geocoder !== undefined) {
    const { notice, coordinates } = await locate(visit, geocoder, input);
    return showAgain(notice, { input: { ...input, ...coordinates }, status: 200 });
  }
  const change = record ? undefined : originChange(visit, input, await originOf(visit, form, data));
  if (change) {
    const { notices, initialDigests } = change;
    const text = notices.map((key) => visit.i18n.say(key)).join(' ');
    return showAgain(errorNotice(text), { input: { ...input, ...change.input }, initialDigests, status: 409 });
  }
  const initial = source && translationValues(visit, kind, source, '');
  const values = await changedValues(visit, submittedPlan, { before: record?.values, input, data, ...(initial ? { initial } : {}) });
  for (const [name, sentence] of [...dateErrors(visit, values, record?.values), ...unusedDetailErrors(visit, submittedPlan, input, values)])
    errors.set(name, sentence);
  // An error about the picture itself is already there.
  for (const [name, sentence] of await altTextErrors(visit, submittedPlan, { input, picture }))
    if (!errors.has(name)) errors.set(name, sentence);
  // The quick form publishes a suggestion without having its venue as a field.
  const suggestedValues = record && input.status === 'publish' ? await suggestedLinks(visit, record) : {};
  const inForm = (name: string) => submittedPlan.names.includes(name);
  const notInForm = Object.fromEntries(Object.entries(suggestedValues).filter(([name]) => !inForm(name)));
  const raw = { ...notInForm, ...values, ...(source ? { translation_of: source.id } : {}) };
  const alsoWrite = async (writeSite: Site, id: number) => {
    const writeVisit = { ...visit, site: writeSite };
    if (!record) await attachPicture(writeVisit, submittedPlan, { input, model: source ?? form.copied }, id);
    await changeAltText(writeVisit, submittedPlan, { input, picture });
  };
  try {
    const write = withSourceValues(form, { typed: input, data }, { record, version: textIn(visit.fields, 'version'), raw, alsoWrite });
    if (errors.size > 0) {
      // Other errors are shown together with those of the dates and of the picture.
      await addFieldErrors(visit, kind, write, { errors });
      return await showAgain(errorNotice(visit.i18n.say('desk:form.wrong')), {});
    }
    const written = await writeRecord(visit, kind, write);
    // The first submission has stored the picture, too.
    if (written.isRepeated) await removeUnused(visit, picture);
    return { to: urlAfterSaving(visit, kind, written.id, record ? 'saved' : 'created') };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    if (error.problem === 'edit-conflict') return await conflictPage(visit, fullPlan, { id: record?.id, input, picture, showAgain });
    for (const [name, sentence] of error.problem === 'rest_forbidden' ? await newTermErrors(visit, kind, raw, data) : [])
      errors.set(name, sentence);
    await addFieldErrors(visit, kind, { record, raw }, { errors, error });
    const text = errors.size > 0 ? visit.i18n.say('desk:form.wrong') : errorSentence(visit, error);
    return showAgain(errorNotice(text), { status: error.status === 400 ? 422 : error.status });
  }
}

/** Adds the errors of all other fields, and those that an error is about: a write ends with the first one. */
async function addFieldErrors(
  visit: Visit,
  kind: PostKind,
  { record, raw }: Pick<RecordWrite, 'record' | 'raw'>,
  { errors, error }: { readonly errors: Map<string, string>; readonly error?: ApiError },
): Promise<void> {
  const others = await allFieldErrors(visit, kind, { raw, id: record?.id, faulty: [...errors.keys()] });
  for (const [name, sentence] of new Map([...(error ? fieldErrors(visit, kind, error) : []), ...others]))
    if (!errors.has(name)) errors.set(name, sentence);
}

/** Differences from the submitted form when it is shown again. */
type FormChanges = Omit<Partial<RecordForm>, 'notice'> & { readonly status?: number; readonly input?: EnteredValues };

/** Shows the whole form again with the user's input, and a message with the reason. */
type ShowAgain = (notice: Notice, changes: FormChanges) => Promise<Outcome>;

const errorNotice = (text: string): Notice => ({ tone: 'wrong', text });

type EnteredValues = Readonly<Record<string, FormValue>>;

async function showFormAgain(
  visit: Submission,
  { fullPlan, record, source, copied }: SubmittedRecordForm,
  {
    input,
    picture,
    notice,
    status = 422,
    ...changes
  }: FormChanges & { readonly input: EnteredValues; readonly picture: UploadedPicture; readonly notice: Notice },
): Promise<Outcome> {
  const { kind } = fullPlan;
  const storedValues = (changes.record ?? record)?.values ?? {};
  // A quick form only sends a few fields; the other fields get their stored values and options here.
  const loadData = () => loadControlData(visit, kind, fullPlan.names, withReferencedIds(fullPlan, storedValues, input));
  const data = changes.data ?? withSubmittedAlt(visit, fullPlan, await loadData(), { picture });
  const before = shownValues(fullPlan, storedValues, data);
  const copies = copiedIdIn(visit);
  const page = recordFormPage(visit, {
    plan: fullPlan,
    record,
    // The version that the user changed, so that a conflict with a newer one is detected when the form is saved.
    version: textIn(visit.fields, 'version'),
    formKey: textIn(visit.fields, FORM_KEY_FIELD),
    initialDigests: record ? encodeInitialValues(before, textIn(visit.fields, INITIAL_FIELD)) : textIn(visit.fields, INITIAL_FIELD),
    formValues: { ...before, ...input },
    notice,
    map: await loadMapView(visit, kind),
    ...(await originData(visit, kind, { source, copied, targetLanguage: textIn(visit.fields, TARGET_LANGUAGE_FIELD) })),
    // The browser keeps the input of a copy apart, also if the original was deleted.
    ...(copies > 0 ? { copies } : {}),
    ...changes,
    data,
  });
  return { ...page, status };
}

/** Returns the part of the form whose fields were sent; a quick form only has a few. */
function planOfSubmitted(plan: FormPlan, fields: Values): FormPlan {
  const submittedNames = textIn(fields, 'fields').split(',');
  const names = plan.names.filter((name) => submittedNames.includes(name));
  return { ...plan, names };
}

/** Returns the stored values with the ids in the user's input added, so that the names of all of them are loaded. */
function withReferencedIds({ kind, names }: FormPlan, values: Values, input: Values): Values {
  const ids = names.flatMap((name): [string, unknown][] => {
    const field = kind.fields[name]!;
    if (isLinks(field)) return [[name, [...new Set([...asList(values[name]), ...asList(membersIn(input[name]).keep)])]]];
    if (isTerms(field)) return [[name, [...new Set([...asList(values[name]), ...asList(membersIn(input[name]).ids)])]]];
    return isImage(field) && name in input ? [[name, input[name]]] : [];
  });
  return { ...values, ...Object.fromEntries(ids) };
}

const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/**
 * Returns the form again with the user's input and the changes that another user saved in the meantime. `id`: of the
 * record; undefined if it is a new one, so that the conflict is about the alternative text of its image.
 */
async function conflictPage(
  visit: Submission,
  plan: FormPlan,
  {
    id,
    input,
    picture,
    showAgain,
  }: {
    readonly id: number | undefined;
    readonly input: EnteredValues;
    readonly picture: UploadedPicture;
    readonly showAgain: ShowAgain;
  },
): Promise<Outcome> {
  const notice = errorNotice(visit.i18n.say('desk:form.conflict'));
  const record = id === undefined ? undefined : await readEditable(visit.site, visit.caller, plan.kind, id);
  // Fields that only the other user has changed already have that value in the form.
  const unchanged = record ? unchangedFields(textIn(visit.fields, INITIAL_FIELD), input) : new Set();
  const changedInput = Object.fromEntries(Object.entries(input).filter(([name]) => !unchanged.has(name)));
  const values = withReferencedIds(plan, record?.values ?? {}, changedInput);
  const savedData = await loadControlData(visit, plan.kind, plan.names, values);
  const data = withSubmittedAlt(visit, plan, savedData, { picture, isConflict: true });
  const savedAlt = savedAltText(visit, plan, savedData);
  if (!record) return showAgain(notice, { data, savedTexts: new Map(savedAlt), status: 409 });
  const savedValues = withSuggestedLinks(shownValues(plan, record.values, data), record);
  const differing = plan.names.filter((name) => name in input && !isDeepStrictEqual(savedValues[name], input[name]));
  const imageName = differing.find((name) => isImage(plan.kind.fields[name]!));
  const savedImage = imageName === undefined ? undefined : await loadImage(visit, Number(savedValues[imageName]));
  const savedTexts = new Map([
    ...savedAlt,
    ...differing.map((name): [string, string] => {
      const { toText } = controlOf(name, plan.kind.fields[name]!);
      return [name, toText(savedValues[name], { ...data, image: savedImage })];
    }),
  ]);
  return showAgain(notice, {
    record,
    version: record.version,
    data,
    savedTexts,
    savedImage,
    formValues: { ...savedValues, ...changedInput },
    initialDigests: encodeInitialValues(savedValues),
    status: 409,
  });
}

/** Returns the URL to go to after saving: the list that contained the quick form, or else the form. */
function urlAfterSaving(visit: Submission, kind: PostKind, id: number, action: string): string {
  const backQuery = textIn(visit.fields, 'back');
  if (backQuery.startsWith('?')) {
    const query = new URLSearchParams(backQuery);
    query.set('done', action);
    return `${deskUrl(visit, `/${kind.path}`)}?${query}`;
  }
  return deskUrl(visit, `/${kind.path}/${id}`, { done: action });
}

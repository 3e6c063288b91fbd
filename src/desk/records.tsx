import { isDeepStrictEqual } from 'node:util';
import { ApiError, fail, refuse } from '../errors.ts';
import { BEGUN, begunText, untouched } from '../forms/begun.ts';
import { changedValues } from '../forms/changed.ts';
import type { ControlData, Shown } from '../forms/control.ts';
import { loadControlData } from '../forms/control-data.ts';
import { controlOf } from '../forms/controls.ts';
import { membersIn, textIn } from '../forms/form-values.ts';
import { fieldErrors, newLinkErrors, newTermErrors, sentenceOf } from '../forms/refused.ts';
import { skippedHours } from '../forms/skipped-hours.ts';
import { isImage, isLinks } from '../kinds/fields.ts';
import type { PostKind } from '../kinds/kind.ts';
import type { Values } from '../kinds/param.ts';
import { mayUpload } from '../media/images.ts';
import { LibraryUnavailable } from '../media/library.ts';
import { changeMedia, mayChangeMedia, prepareMedia, removeMedia, shownMedia, uploadMedia } from '../records/core/media.ts';
import { type Editable, readToEdit } from '../records/editing.ts';
import { explaining } from '../records/explanation.ts';
import { acceptParams } from '../records/input.ts';
import { mayCreate } from '../records/posts.ts';
import { lockPostVersion, onlyIf, versionTag } from '../records/versions.ts';
import { changePost, createPost } from '../records/writes/post-writes.ts';
import { discardingImages, withFiles } from '../records/writes/prepared-images.ts';
import { mayBeWritten, type Site } from '../site.ts';
import { lookUpOnce } from '../storage/engine/look-up-once.ts';
import { datesOf } from './event-dates.tsx';
import { type FormPlan, formPlan, freshValues } from './form-plan.ts';
import type { Notice } from './layout.tsx';
import { geocoderFor, LOCATE, locate } from './locate.tsx';
import { mapOf } from './place-map.tsx';
import { type RecordForm, recordFormPage } from './record-form.tsx';
import { suggestedLinks, withSuggestedLinks } from './suggested.tsx';
import { besideOf, findSource, textsOf, translationValues } from './translations.tsx';
import { deskUrl, type Outcome, type Submission, type Visit } from './visit.ts';

/*
 * Showing and saving the forms of events, venues and organizers, which are generated from their kinds.
 */

/** The form of a new record. `values`: what it begins with; `copies`: the id of the record that those are of. */
export async function newRecordPage(
  visit: Visit,
  declared: PostKind,
  { values, copies }: { readonly values?: Values; readonly copies?: number } = {},
): Promise<Outcome> {
  const plan = formPlan(visit, declared);
  requireCreator(visit, plan.kind);
  const { query } = visit.request;
  const day = textIn(query, 'day');
  const source = await findSource(visit, plan.kind, query);
  const begun = {
    ...freshValues(visit, plan.kind),
    ...(/^\d{4}-\d\d-\d\d$/.test(day) ? { start_date: day, end_date: day } : {}),
    ...(source ? translationValues(plan.kind, source, textIn(query, 'language')) : {}),
    ...values,
  };
  const data = await loadControlData(visit, plan.kind, plan.names, begun);
  return recordFormPage(visit, {
    plan,
    record: undefined,
    shown: shownValues(plan, begun, data),
    data,
    map: await mapOf(visit, plan.kind),
    ...(copies === undefined ? {} : { copies }),
    ...sourceOf(visit, plan.kind, source),
  });
}

/** The form of a record. */
export async function editRecordPage(visit: Visit, declared: PostKind, id: number): Promise<Outcome> {
  const plan = formPlan(visit, declared);
  const record = await readToEdit(visit.site, visit.caller, declared, id);
  const data = await loadControlData(visit, plan.kind, plan.names, record.values);
  const shown = withSuggestedLinks(shownValues(plan, record.values, data), record);
  const recurs = declared.dated && (await datesOf(visit, record)) !== undefined;
  const beside = await besideOf(visit, plan.kind, record);
  const map = await mapOf(visit, plan.kind);
  return recordFormPage(visit, { plan, record, shown, data, recurs, beside, map });
}

/**
 * A new record like another one: a draft, to be changed before it is saved. What one record alone can have stays there.
 */
export async function duplicatePage(visit: Visit, declared: PostKind, id: number): Promise<Outcome> {
  const { values } = await readToEdit(visit.site, visit.caller, declared, id);
  const { slug: _slug, date: _date, author: _author, status: _status, external_id: _name, ...kept } = values;
  return newRecordPage(visit, declared, { values: { ...kept, status: 'draft' }, copies: id });
}

/** What a form knows of the record that it translates. */
const sourceOf = (visit: Visit, kind: PostKind, source: Editable | undefined) =>
  source ? { translates: source.id, beside: textsOf(visit, kind, source) } : {};

function requireCreator({ caller }: Visit, kind: PostKind): void {
  if (!mayCreate(caller, kind)) refuse(caller.viewer);
}

const shownValues = ({ kind, names }: FormPlan, values: Values, data: ControlData): Record<string, Shown> =>
  Object.fromEntries(names.map((name) => [name, controlOf(name, kind.fields[name]!).show(values[name], data)]));

// ------------------------------------------------------------------------------------------------- saving
/** Saves a new record and goes to its form. */
export async function createByForm(visit: Submission, declared: PostKind): Promise<Outcome> {
  const whole = formPlan(visit, declared);
  requireCreator(visit, whole.kind);
  const source = await findSource(visit, whole.kind, visit.fields);
  return saveForm(visit, { whole, plan: whole, record: undefined, source });
}

/** Saves what somebody changed of a record and goes to its form, or to the list that a quick form stood in. */
export async function changeByForm(visit: Submission, declared: PostKind, id: number): Promise<Outcome> {
  const whole = formPlan(visit, declared);
  const record = await readToEdit(visit.site, visit.caller, declared, id);
  return saveForm(visit, { whole, plan: sentPlan(whole, visit.fields), record, source: undefined });
}

/** A form that was sent. */
interface SentForm {
  /** The form as it is shown if something is wrong. */
  readonly whole: FormPlan;
  /** The part of it that was sent. */
  readonly plan: FormPlan;
  /** The record as it is stored; undefined: a new one. */
  readonly record: Editable | undefined;
  /** The record that a new one translates. */
  readonly source: Editable | undefined;
}

async function saveForm(visit: Submission, form: SentForm): Promise<Outcome> {
  const { whole, plan, record, source } = form;
  const { kind } = whole;
  const errors = new Map<string, string>();
  const read = Object.fromEntries(plan.names.map((name) => [name, controlOf(name, kind.fields[name]!).read(visit.fields[name])]));
  if (textIn(visit.fields, 'publish') === '1' && 'status' in read) read.status = 'publish';
  // Whoever looks for coordinates saves nothing, a picture neither.
  const geocoder = textIn(visit.fields, LOCATE) === '1' ? geocoderFor(visit, kind) : undefined;
  const picture = await pictureIn(visit, form, { keeps: geocoder === undefined, errors });
  const typed = { ...read, ...picture.typed };
  const data = await loadControlData(visit, kind, plan.names, withNamed(plan, record?.values ?? {}, typed));
  const back: ShowAgain = (notice, changed) => formAgain(visit, form, { typed, errors, notice, ...changed });
  if (geocoder !== undefined) {
    const { notice, coordinates } = await locate(visit, geocoder, typed);
    return back(notice, { typed: { ...typed, ...coordinates }, status: 200 });
  }
  if (errors.size > 0) return back(wrong(visit.i18n.say('desk:form.wrong')), {});
  const begun = source && translationValues(kind, source, '');
  const named = await changedValues(visit, plan, { before: record?.values, typed, data, ...(begun ? { begun } : {}) });
  for (const [name, sentence] of kind.dated ? skippedHours(visit, named, record?.values) : []) errors.set(name, sentence);
  if (errors.size > 0) return back(wrong(visit.i18n.say('desk:form.wrong')), {});
  // A quick form publishes a suggestion without its venue in it.
  const besideForm = record && typed.status === 'publish' ? await suggestedLinks(visit, record) : {};
  const inForm = (name: string) => plan.names.includes(name);
  const left = Object.fromEntries(Object.entries(besideForm).filter(([name]) => !inForm(name)));
  const raw = { ...left, ...named, ...(source ? { translation_of: source.id } : {}) };
  const besides = (own: Site) => describeImage({ ...visit, site: own }, plan, typed);
  try {
    const saved = await writeRecord(visit, kind, { record, version: textIn(visit.fields, 'version'), raw, besides });
    return { to: returnTo(visit, kind, saved, record ? 'saved' : 'created') };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) {
      // The error that was first is the one to tell.
      if (!mayBeWritten(error)) await picture.takeBack().catch((err: unknown) => visit.site.log.warn({ err }, 'a picture was left behind'));
      throw error;
    }
    if (error.problem === 'edit-conflict' && record) return conflictPage(visit, whole, { id: record.id, typed, back });
    const found = error.problem === 'rest_forbidden' ? newTermErrors(visit, kind, raw, data) : fieldErrors(visit, kind, error);
    for (const [name, sentence] of [...found, ...(await newLinkErrors(visit, kind, raw))]) errors.set(name, sentence);
    const text = errors.size > 0 ? visit.i18n.say('desk:form.wrong') : sentenceOf(visit, error);
    return back(wrong(text), { status: error.status === 400 ? 422 : error.status });
  }
}

/** What differs from the form that was sent, when it is shown again. */
type Changed = Omit<Partial<RecordForm>, 'notice'> & { readonly status?: number; readonly typed?: Typed };

/** Shows the whole form again with what was typed, under a notice that says why. */
type ShowAgain = (notice: Notice, changed: Changed) => Promise<Outcome>;

const wrong = (text: string): Notice => ({ tone: 'wrong', text });

type Typed = Readonly<Record<string, Shown>>;

async function formAgain(
  visit: Submission,
  { whole, record, source }: SentForm,
  { typed, notice, status = 422, ...shown }: Changed & { readonly typed: Typed; readonly notice: Notice },
): Promise<Outcome> {
  const { kind } = whole;
  const stored = (shown.record ?? record)?.values ?? {};
  // A quick form sent a few fields; what it did not ask for has its choices and its values here all the same.
  const loaded = shown.data ?? (await loadControlData(visit, kind, whole.names, withNamed(whole, stored, typed)));
  const data = { ...loaded, alt: altIn(visit, whole) ?? loaded.alt };
  const before = shownValues(whole, stored, data);
  const page = recordFormPage(visit, {
    plan: whole,
    record,
    // The one that was changed: whoever has saved another since is met when this one is saved.
    version: textIn(visit.fields, 'version'),
    begun: begunText(before, textIn(visit.fields, BEGUN)),
    shown: { ...before, ...typed },
    notice,
    map: await mapOf(visit, kind),
    ...sourceOf(visit, kind, source),
    ...shown,
    data,
  });
  return { ...page, status };
}

/** The fields that a form said it has: a quick one has a few. */
function sentPlan(plan: FormPlan, fields: Values): FormPlan {
  const said = textIn(fields, 'fields').split(',');
  const names = plan.names.filter((name) => said.includes(name));
  return { ...plan, names };
}

/** Values as stored, with the ids that were typed, so that all of them are named. */
function withNamed({ kind, names }: FormPlan, values: Values, typed: Values): Values {
  const ids = names.flatMap((name): [string, unknown][] => {
    const field = kind.fields[name]!;
    if (isLinks(field)) return [[name, [...new Set([...asList(values[name]), ...asList(membersIn(typed[name]).keep)])]]];
    return isImage(field) && name in typed ? [[name, typed[name]]] : [];
  });
  return { ...values, ...Object.fromEntries(ids) };
}

const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** What is to be written of a record. */
interface Write {
  /** The record as it is stored; undefined: a new one. */
  readonly record: Editable | undefined;
  /** The version of it that was changed. */
  readonly version: string;
  readonly raw: Values;
  /** What is written besides, once the record is; of one that was there, in the same transaction. */
  readonly besides?: (site: Site) => Promise<void>;
}

/** Writes a record as the API does: parameters, then the write, in one transaction with the check of its version. */
export async function writeRecord(visit: Visit, kind: PostKind, { record, version, raw, besides }: Write): Promise<number> {
  const { site, caller } = visit;
  const values = await acceptParams(site, caller, kind.fields, raw, record ? 'change' : 'create');
  const work = async (own: Site): Promise<number> => {
    if (!record) {
      // Whoever fills in the form of a new record means no other one of the same name.
      const id = Number((await createPost(own, caller, kind, values, { anew: true })).record.id);
      await besides?.(own);
      return id;
    }
    const conditions = { match: [versionTag(version)] };
    await onlyIf(own, caller, lockPostVersion(kind), { id: record.id, conditions }, async (inside) => {
      await changePost(inside, caller, kind, record.id, values);
      await besides?.(inside);
    });
    return record.id;
  };
  return explaining(kind.fields, raw, () => discardingImages(site, values, work));
}

// ------------------------------------------------------------------------------------------------- the picture
const imageName = ({ kind, names }: FormPlan): string | undefined => names.find((name) => isImage(kind.fields[name]!));

/** What a form says that its picture shows; undefined: it does not ask. */
function altIn({ fields }: Submission, plan: FormPlan): string | undefined {
  const sent = membersIn(fields[imageName(plan) ?? '']);
  return 'alt' in sent ? textIn(sent, 'alt').trim() : undefined;
}

/** What becomes of the picture that a form brings along. */
interface SentPicture {
  /** The value of its field, if it was put into the library. */
  readonly typed: Values;
  /** Takes it out of the library again: nothing comes of the form, which does not come back either. */
  readonly takeBack: () => Promise<void>;
}

const NO_PICTURE: SentPicture = { typed: {}, takeBack: async () => undefined };

/**
 * Puts the picture that a form brings along into the library. Its field has it from then on: if the form comes back,
 * nobody has to choose the file again. `keeps`: whether anything is saved at all; if not, the form says that the file
 * has to be chosen once more.
 */
async function pictureIn(
  visit: Submission,
  { plan, record }: SentForm,
  { keeps, errors }: { readonly keeps: boolean; readonly errors: Map<string, string> },
): Promise<SentPicture> {
  const { site, caller, files } = visit;
  const name = imageName(plan);
  const file = files.get(`${name}_file`);
  if (name === undefined || !file) return NO_PICTURE;
  if (!keeps) {
    errors.set(name, visit.i18n.say('desk:form.choose-again'));
    return NO_PICTURE;
  }
  try {
    if (!mayUpload(caller.viewer)) fail('rest_cannot_create');
    const described = { alt_text: altIn(visit, plan) ?? '', ...(record ? { post: record.id } : {}) };
    const prepared = await prepareMedia(site, caller, file, described);
    const id = await withFiles(site, (own) => uploadMedia(own, caller, prepared, described), prepared.undo);
    return { typed: { [name]: id }, takeBack: async () => (await removeMedia(site, caller, { id, force: true })).afterwards() };
  } catch (error) {
    if (error instanceof LibraryUnavailable) {
      // Whoever typed a form loses nothing of it: it can be saved without a picture.
      site.log.error({ err: error }, 'a picture could not be stored');
      errors.set(name, visit.i18n.say(`problems:${error.reason === 'full' ? 'disk-full' : 'uploads-unavailable'}`));
      return NO_PICTURE;
    }
    if (!(error instanceof ApiError) || (error.status >= 500 && error.problem !== 'upload-refused')) throw error;
    errors.set(name, error.problem === 'upload-refused' ? visit.i18n.say('desk:form.picture-refused') : sentenceOf(visit, error));
    return NO_PICTURE;
  }
}

/** Changes the words for the picture of a record, for all records with it, where they differ and the caller may. */
async function describeImage(visit: Submission, plan: FormPlan, typed: Values): Promise<void> {
  const { site, caller } = visit;
  const [id, alt] = [Number(typed[imageName(plan) ?? ''] ?? 0), altIn(visit, plan)];
  if (id === 0 || alt === undefined) return;
  const known = (await shownMedia(site, caller, [id], 'view')).get(id)?.record.alt_text;
  if (known === undefined || known === alt) return;
  const values = { id, alt_text: alt };
  if ((await mayChangeMedia(lookUpOnce(site.db), caller, values)) === true) await changeMedia(site, caller, id, { alt_text: alt });
}

/** The form once more, with what was typed and what somebody else saved in the meantime. */
async function conflictPage(
  visit: Submission,
  plan: FormPlan,
  {
    id,
    typed,
    back,
  }: {
    readonly id: number;
    readonly typed: Typed;
    readonly back: ShowAgain;
  },
): Promise<Outcome> {
  const record = await readToEdit(visit.site, visit.caller, plan.kind, id);
  const data = await loadControlData(visit, plan.kind, plan.names, withNamed(plan, record.values, typed));
  const now = withSuggestedLinks(shownValues(plan, record.values, data), record);
  const theirs = new Map(
    plan.names.flatMap((name) =>
      name in typed && !isDeepStrictEqual(now[name], typed[name])
        ? [[name, controlOf(name, plan.kind.fields[name]!).words(now[name], data)] as const]
        : [],
    ),
  );
  // What only they have changed is in the form already.
  const own = untouched(textIn(visit.fields, BEGUN), typed);
  const kept = Object.fromEntries(Object.entries(typed).filter(([name]) => !own.has(name)));
  const shown = { ...now, ...kept };
  const { version } = record;
  return back(wrong(visit.i18n.say('desk:form.conflict')), { record, version, data, theirs, shown, begun: begunText(now), status: 409 });
}

/** Where to go after saving: the list that a quick form stood in, else the form. */
function returnTo(visit: Submission, kind: PostKind, id: number, done: string): string {
  const back = textIn(visit.fields, 'back');
  if (back.startsWith('?')) {
    const query = new URLSearchParams(back);
    query.set('done', done);
    return `${deskUrl(visit, `/${kind.path}`)}?${query}`;
  }
  return deskUrl(visit, `/${kind.path}/${id}`, { done });
}

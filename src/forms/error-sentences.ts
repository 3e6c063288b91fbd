import type { ApiError, Fault, SentValue } from '../errors.ts';
import { isLinks, isTerms } from '../kinds/fields.ts';
import type { RequestedTerm } from '../kinds/grammars/lists.ts';
import { postKind } from '../kinds/index.ts';
import type { PostKind } from '../kinds/kind.ts';
import type { Values } from '../kinds/param.ts';
import { isObject } from '../objects.ts';
import { termLookUp } from '../records/references.ts';
import { missingFields, valueRefusals } from '../records/writes/value-refusals.ts';
import { faultSentence, refusalSentence } from '../refusals.ts';
import type { FormFields } from './changed-values.ts';
import type { ControlData } from './control.ts';
import type { FormContext } from './form-context.ts';
import { labelOf } from './labels.ts';
import { readLinkForm, withoutChoiceId } from './link-controls.tsx';

/*
 * Sentences about refused values in forms.
 */

/** Returns the sentence about an error. */
export const errorSentence = ({ i18n }: Pick<FormContext, 'i18n'>, error: ApiError): string => refusalSentence(sayFirst({ i18n }), error);

/** Returns a function that returns a text by its key, or by the first existing of several keys. */
const sayFirst =
  ({ i18n }: Pick<FormContext, 'i18n'>) =>
  (key: string | readonly string[], values?: Parameters<typeof i18n.say>[1]): string =>
    i18n.say(typeof key === 'string' ? key : (key.find(i18n.has) ?? key[0] ?? ''), values);

/**
 * Returns the sentence about the value of a field; for an empty one, that it is required. Unlike the messages of the
 * API, it does not mention types.
 */
export function fieldSentence(context: Pick<FormContext, 'i18n'>, label: string, fault: Fault, sentValue: SentValue | undefined): string {
  const isEmpty = sentValue?.text === '""' || ('reason' in fault && fault.reason === 'empty-value');
  if (isEmpty) return context.i18n.say('desk:form.required');
  return faultSentence(sayFirst(context), label, sentValue && fault.stage === 'type' ? { stage: 'value' } : fault, sentValue);
}

/** Returns the errors of each field, in words. */
export function fieldErrors(context: FormContext, kind: PostKind, error: ApiError): [name: string, sentence: string][] {
  const { i18n } = context;
  const { details } = error;
  return [
    ...missingFields(kind, error).map((name): [string, string] => [name, i18n.say('desk:form.required')]),
    ...[...(details.faults ?? [])].map(([name, fault]): [string, string] => [
      name,
      customFieldSentence(context, name, fault) ??
        fieldSentence(context, labelOf(i18n, kind.name, name), fault, details.sentValues?.get(name)),
    ]),
  ].filter(([name]) => name in kind.fields);
}

/**
 * Returns the errors of each field of a form, in words, all of them at once: a write ends with the first. `write`: the
 * values of the form.
 */
export async function allFieldErrors(
  context: FormContext,
  kind: PostKind,
  write: Parameters<typeof valueRefusals>[3],
): Promise<[name: string, sentence: string][]> {
  const refusals = await valueRefusals(context.site, context.caller, kind, write);
  return [...refusals.flatMap((refusal) => fieldErrors(context, kind, refusal)), ...(await newLinkErrors(context, kind, write.raw))];
}

/** Returns the sentence about a custom field of the site, with its label; undefined for other fields. */
function customFieldSentence({ i18n, settings }: FormContext, name: string, fault: Fault): string | undefined {
  if (name !== 'custom_fields' || fault.stage !== 'value') return undefined;
  const field = settings.calendar.customFields.find((one) => one.name === fault.values?.name);
  return field && faultSentence(sayFirst({ i18n }), field.label, { ...fault, values: { ...fault.values, name: field.label } });
}

/**
 * Returns the errors of new records that links in a form would create, by link and in words, since the error of the
 * write does not contain their fields. `raw`: the values to be written.
 */
async function newLinkErrors(context: FormContext, { fields }: PostKind, raw: Values): Promise<[name: string, sentence: string][]> {
  const links = Object.entries(raw).flatMap(([name, value]) => {
    const field = fields[name];
    if (!field || !isLinks(field) || !Array.isArray(value)) return [];
    return value.filter((item): item is Values => isObject(item)).map((newRecord) => ({ name, newRecord, place: field.place }));
  });
  const results = await Promise.all(
    links.map(async ({ name, newRecord, place }) => ({ name, message: await newRecordErrors(context, postKind(place.kind), newRecord) })),
  );
  return results.flatMap(({ name, message }): [string, string][] => (message === '' ? [] : [[name, message]]));
}

/**
 * Returns the errors of links whose details of a new record belong to none: no new name was typed, or only names that
 * exist already. `raw`: the values to be written.
 */
export function unusedDetailErrors(
  { i18n }: Pick<FormContext, 'i18n'>,
  { kind, names }: FormFields,
  input: Values,
  raw: Values,
): [name: string, sentence: string][] {
  return names.flatMap((name): [string, string][] => {
    const field = kind.fields[name];
    if (!field || !isLinks(field)) return [];
    const { add, fresh } = readLinkForm(input[name]);
    const links = Array.isArray(raw[name]) ? raw[name] : [];
    if (Object.keys(fresh).length === 0 || links.some((link) => typeof link === 'object')) return [];
    const existing = add.map(withoutChoiceId).join(', ');
    return [[name, existing === '' ? i18n.say('desk:form.details-without-name') : i18n.say('desk:form.details-of-existing', { existing })]];
  });
}

/** Returns the errors of the values of a new record, in words; empty if there are none. */
async function newRecordErrors(context: FormContext, kind: PostKind, raw: Values): Promise<string> {
  const refusals = await valueRefusals(context.site, context.caller, kind, { raw });
  const messages = refusals.flatMap((refusal) =>
    fieldErrors(context, kind, refusal).map(([name, sentence]) => `${labelOf(context.i18n, kind.name, name)}: ${sentence}`),
  );
  return messages.join(' ');
}

/**
 * Returns the fields that name new terms that the caller may not create. `raw`: the values to be written. The error of
 * the write does not contain the field.
 */
export async function newTermErrors(
  { site, i18n }: FormContext,
  { fields }: PostKind,
  raw: Values,
  data: ControlData,
): Promise<[name: string, sentence: string][]> {
  const errors = Object.entries(raw).map(async ([name, value]): Promise<[string, string][]> => {
    const field = fields[name];
    if (!field || !isTerms(field) || data.newTermFields.has(name) || !Array.isArray(value)) return [];
    const names = (value as readonly RequestedTerm[]).flatMap((term) =>
      term.id !== undefined || term.name === undefined ? [] : [term.name],
    );
    const { byName } = await termLookUp(site.db, field.place.kind, names);
    const unknownNames = names.filter((one) => !byName(one));
    return unknownNames.length === 0 ? [] : [[name, i18n.say('desk:form.no-new-terms', { names: unknownNames.join(', ') })]];
  });
  return (await Promise.all(errors)).flat();
}

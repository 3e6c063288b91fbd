import { ApiError } from '../../errors.ts';
import type { PostKind, PostValues, StoredPost } from '../../kinds/kind.ts';
import type { Params, Values } from '../../kinds/param.ts';
import type { Site } from '../../site.ts';
import type { Database } from '../../storage/engine/database.ts';
import { loadMetasOf, loadPosts } from '../../storage/rows/bundle.ts';
import type { Caller } from '../caller.ts';
import { withExplanations } from '../explanation.ts';
import { acceptParams } from '../input.ts';
import { languageValues } from '../record-languages.ts';
import { planRefusals } from './post-plan.ts';
import { discardImages } from './prepared-images.ts';

/*
 * All errors about the values of a record. A write ends with the first one, as in WordPress; people who fill in a form
 * want to know all of them at once.
 */

/** A write that is examined, but not carried out. */
interface ExaminedWrite {
  readonly raw: Values;
  /** Id of the record to change; undefined: a new one. */
  readonly id?: number | undefined;
  /** Values that are not part of the request. */
  readonly added?: PostValues;
  /** Fields with an error that is known already. */
  readonly faulty?: Iterable<string>;
}

/**
 * Returns all errors that follow from the values of a write. After each one, the fields that it names are left out and
 * the others examined again.
 */
export async function valueRefusals(
  site: Site,
  caller: Caller,
  kind: PostKind,
  { raw, id, added = {}, faulty = [] }: ExaminedWrite,
): Promise<ApiError[]> {
  const errors: ApiError[] = [];
  const namedFields = new Set(faulty);
  const note = (error: ApiError): boolean => {
    const newNames = fieldsNamedBy(kind, error).filter((name) => !namedFields.has(name));
    for (const name of newNames) namedFields.add(name);
    if (newNames.length > 0) errors.push(error);
    return newNames.length > 0;
  };
  const mode = id === undefined ? 'create' : 'change';
  for (;;) {
    const params = withoutRequirements(kind.fields, namedFields);
    const remaining = Object.fromEntries(Object.entries(raw).filter(([name]) => !namedFields.has(name)));
    const accepted = await valuesOrError(() => acceptParams(site, caller, params, remaining, mode));
    if (accepted instanceof ApiError) {
      if (note(accepted)) continue;
      return errors;
    }
    // The type holds: the parameters are the fields of the kind, although none of them is required any more.
    const values = accepted as PostValues;
    await discardImages(values);
    const [before, source] = [await storedPost(site.db, id), await storedPost(site.db, languageValues(values).translation_of)];
    for (const error of planRefusals(caller, kind, { ...values, ...added }, before, source))
      note(withExplanations(error, kind.fields, raw));
    return errors;
  }
}

/** Returns the names of the fields that an error is about. */
const fieldsNamedBy = (kind: PostKind, error: ApiError): string[] => [
  ...missingFields(kind, error),
  ...(error.details.faults?.keys() ?? []),
];

/** Returns the names of required fields without a value. */
export const missingFields = (kind: PostKind, { problem, details }: ApiError): string[] => [
  ...(Array.isArray(details.data?.params) ? (details.data.params as string[]) : []),
  ...(problem === kind.problems.noTitle || problem === 'title-without-text' ? [kind.titleField] : []),
];

async function valuesOrError(work: () => Promise<Values>): Promise<Values | ApiError> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return error;
    throw error;
  }
}

const withoutRequirements = (params: Params, names: ReadonlySet<string>): Params =>
  Object.fromEntries(Object.entries(params).map(([name, param]) => [name, names.has(name) ? { ...param, required: false } : param]));

async function storedPost(db: Database, id: number | null | undefined): Promise<StoredPost | undefined> {
  const row = typeof id === 'number' ? (await loadPosts(db, [id])).get(id) : undefined;
  return row && { row, metas: await loadMetasOf(db, row.ID) };
}

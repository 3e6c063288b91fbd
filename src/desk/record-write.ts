import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ControlData } from '../forms/control.ts';
import { controlOf } from '../forms/controls.ts';
import { flattenFields, textIn } from '../forms/form-values.ts';
import type { PostKind } from '../kinds/kind.ts';
import type { Values } from '../kinds/param.ts';
import type { Editable } from '../records/editing.ts';
import { withExplainedErrors } from '../records/explanation.ts';
import { acceptParams } from '../records/input.ts';
import { findStored, formDigest, storeOnce } from '../records/store-once.ts';
import { lockPostVersion, versionTag, withPreconditions } from '../records/versions.ts';
import { changeRecord, type ExtraRows, insertRecord } from '../records/writes/post-writes.ts';
import { withImageCleanup } from '../records/writes/prepared-images.ts';
import type { Site } from '../site.ts';
import type { FormPlan } from './form-plan.ts';
import type { Submission } from './visit.ts';

/*
 * The write of a record from its form.
 */

/** The data of a write of a record. */
export interface RecordWrite {
  /** The stored record; undefined: a new one. */
  readonly record: Editable | undefined;
  /** The version that the user changed. */
  readonly version: string;
  readonly raw: Values;
  /** The rows of a new record in addition to those of its values. */
  readonly extraRows?: Pick<ExtraRows, 'columns' | 'metas' | 'recurrenceOf'>;
  /** Additional writes after that of the record, in the same transaction. `id`: of the record. */
  readonly alsoWrite?: (site: Site, id: number) => Promise<void>;
}

/** The form of a record, and the records that it was filled in from. */
interface RecordSources {
  readonly submittedPlan: Pick<FormPlan, 'kind'>;
  readonly source: Editable | undefined;
  readonly copied?: Editable | undefined;
}

/**
 * Returns the write of a copy or translation with the values of its source that the form only shows in part, unless
 * they were changed: all prices instead of their range, and the seconds of its start and end. A copy of a recurring
 * event has the same dates, and that of a protected record the same password.
 */
export function withSourceValues(
  { submittedPlan: { kind }, source, copied }: RecordSources,
  { typed, data }: { readonly typed: Values; readonly data: ControlData },
  write: RecordWrite,
): RecordWrite {
  const from = source ?? copied;
  if (!from) return write;
  const isAsBegun = (name: string) =>
    name in write.raw && isDeepStrictEqual(typed[name], controlOf(name, kind.fields[name]!).toFormValue(from.values[name], data));
  // The stored end of an all-day event is on the next date if days begin after midnight.
  const exactNames = from.values.all_day === true || write.raw.all_day === true ? [] : ['start_date', 'end_date'];
  const dates = Object.fromEntries(exactNames.flatMap((name) => (isAsBegun(name) ? [[name, from.values[name]]] : [])));
  const extraRows = copied ? { columns: { post_password: copied.row.post_password }, recurrenceOf: copied.id } : {};
  const withDates = { ...write, raw: { ...write.raw, ...dates }, extraRows };
  if (!isAsBegun('cost')) return withDates;
  const { cost: _range, ...raw }: Values = withDates.raw;
  return { ...withDates, raw, extraRows: { ...extraRows, metas: from.prices } };
}

/** The name of the field of a form for a new record with a key that no other form has. */
export const FORM_KEY_FIELD = 'form_key';

/** Returns a digest of a form with everything that was entered, including a picture; undefined if it has no key. */
function digestOfForm({ caller, request, fields, files }: Submission): string | undefined {
  const { _wpnonce: _nonce, [FORM_KEY_FIELD]: key, ...input } = fields;
  if (textIn(fields, FORM_KEY_FIELD) === '') return undefined;
  const pictures = [...files].map(([name, { bytes }]) => [name, hash('sha256', bytes)]);
  return formDigest({ form: ['desk', caller.viewer.id, request.path, key], input: [flattenFields(input), pictures] });
}

/** Returns the id of the record that the same form created before; undefined if there is none, or not any more. */
export async function findCreated(visit: Submission): Promise<number | undefined> {
  const digest = digestOfForm(visit);
  return digest === undefined ? undefined : findStored(visit.site.db, digest, visit.caller.now);
}

/** A record that was written. */
export interface WrittenRecord {
  readonly id: number;
  /** Whether the same form had created it before, so that nothing was written now. */
  readonly isRepeated: boolean;
}

/**
 * Writes a record as the API does: checks the parameters, then writes in one transaction with the check of the version.
 * A form that is sent twice, as by a double click, creates one record.
 */
export async function writeRecord(
  visit: Submission,
  kind: PostKind,
  { record, version, raw, extraRows = {}, alsoWrite }: RecordWrite,
): Promise<WrittenRecord> {
  const { site, caller } = visit;
  const values = await acceptParams(site, caller, kind.fields, raw, record ? 'change' : 'create');
  const work = async (trackedSite: Site): Promise<WrittenRecord> => {
    if (!record) {
      return trackedSite.db.transaction(async (db) => {
        const transactionSite = { ...trackedSite, db };
        const create = async (): Promise<number> => {
          // The form of a new record always creates one, even if there is a record with the same title.
          const id = await insertRecord(transactionSite, caller, kind, values, { ...extraRows, alwaysCreates: true });
          await alsoWrite?.(transactionSite, id);
          return id;
        };
        const digest = digestOfForm(visit);
        if (digest === undefined) return { id: await create(), isRepeated: false };
        return storeOnce(db, digest, caller.now, { write: create, replacesDiscarded: true });
      });
    }
    const conditions = { match: [versionTag(version)] };
    await withPreconditions(trackedSite, caller, lockPostVersion(kind), { id: record.id, conditions }, async (transactionSite) => {
      // The form also holds the links that records do not show.
      await changeRecord(transactionSite, caller, kind, record.id, { values });
      await alsoWrite?.(transactionSite, record.id);
    });
    return { id: record.id, isRepeated: false };
  };
  return withExplainedErrors(kind.fields, raw, () => withImageCleanup(site, values, work));
}

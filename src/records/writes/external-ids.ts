import { failParam } from '../../errors.ts';
import { EXTERNAL_ID, externalIdForms } from '../../kinds/external-id.ts';
import type { PostKind, Rows } from '../../kinds/kind.ts';
import type { Database } from '../../storage/engine/database.ts';
import { externalIdLock } from '../../storage/rows/locks.ts';
import { findByMeta } from '../../storage/rows/posts.ts';
import { textOfStored } from '../../wordpress/php/serialized.ts';
import type { PostPlan } from './post-plan.ts';
import type { KindWrite, WriteContext } from './write-context.ts';

/*
 * The external IDs of records that are written. They are unique among the records of a kind.
 */

/** Returns the external ID among the metas of a plan; undefined if it has none or clears it. */
export const externalIdIn = ({ metas }: Pick<Rows, 'metas'>): string | undefined => {
  const stored = metas[EXTERNAL_ID]?.[0];
  return stored === undefined ? undefined : textOfStored(stored);
};

/** Returns the locks for the external ID of a record: every text by which another request may find the record. */
export const externalIdLocks = ({ postType }: PostKind, rows: Pick<Rows, 'metas'>): string[] => {
  const externalId = externalIdIn(rows);
  return externalId === undefined ? [] : externalIdForms(externalId).map((form) => externalIdLock(postType, form));
};

/**
 * Returns the record with an external ID, or else the record that has its former form: there, different external IDs
 * may have become the same, so the caller stores the external ID as it is now.
 */
export async function findByExternalId(db: Database, { postType }: PostKind, externalId: string): Promise<number | undefined> {
  const forms = externalIdForms(externalId);
  const holders = await findByMeta(db, postType, EXTERNAL_ID, forms);
  return forms.flatMap((form) => holders.get(form) ?? [])[0];
}

/** Throws rest_invalid_param if a record has one of these external IDs, or if two of the new records share one. */
export async function refuseTakenNames({ db, kind }: KindWrite, plans: readonly PostPlan[]): Promise<void> {
  const externalIds = plans.flatMap((plan) => externalIdIn(plan) ?? []);
  const holders = await findByMeta(db, kind.postType, EXTERNAL_ID, externalIds);
  if (holders.size > 0 || new Set(externalIds).size < externalIds.length) failParam('external_id', 'external-id-taken');
}

/** Throws rest_invalid_param if another record of the kind has the external ID in a change. */
export async function refuseTakenName({ db, kind }: WriteContext, plan: PostPlan, id: number): Promise<void> {
  const externalId = externalIdIn(plan);
  if (externalId === undefined) return;
  const holders = await findByMeta(db, kind.postType, EXTERNAL_ID, [externalId]);
  if ([...holders.values()].flat().some((holder) => holder !== id)) failParam('external_id', 'external-id-taken');
}

import { postKind, postKinds, termKind, termKinds } from '../../kinds/index.ts';
import type { PostKind, StoredPost } from '../../kinds/kind.ts';
import { mayUpload } from '../../media/images.ts';
import { accessRow, mayEdit, mayEditFile, mayEditKind, mayManageTerms } from '../../records/visibility.ts';
import { mayPromote, promotionsIn, statusOfWrite } from '../../records/writes/post-plan.ts';
import type { Database } from '../../storage/engine/database.ts';
import { loadMetas, loadPosts } from '../../storage/rows/bundle.ts';
import type { Metas, Post } from '../../wordpress/rows.ts';
import type { Viewer } from '../../wordpress/viewer.ts';
import type { CleanPost } from '../items/clean.ts';
import { isPostItem, nameOf, type PostItem, type TermItem } from '../items/items.ts';
import { addLoss, addToCount, type Loss, type Tally } from '../items/report.ts';
import { noteMissing } from './incomplete.ts';
import type { Ledger } from './ledger.ts';
import type { Run } from './run.ts';

/*
 * The records that an import may write: those that its user may write through the API. The capability `import` alone
 * allows none of them.
 */

type ItemKind = PostItem['kind'];

/** The import of a user, and its report. */
interface Importing {
  readonly run: Pick<Run, 'caller'>;
  readonly tally: Tally;
}

/** Whether there is anything that a user may import. */
export const mayImportAnything = (viewer: Viewer): boolean =>
  viewer.can('import') &&
  (mayUpload(viewer) || postKinds.some((kind) => mayEditKind(viewer, kind)) || termKinds.some((kind) => mayManageTerms({ viewer }, kind)));

/** Whether the importing user may create a record of this kind. */
export const mayCreateOfKind = ({ caller: { viewer } }: Pick<Run, 'caller'>, kind: ItemKind): boolean =>
  kind === 'attachment' ? mayUpload(viewer) : mayEditKind(viewer, postKind(kind));

/** Whether the importing user may give records of this kind to other users. */
export const mayChooseAuthor = ({ caller: { viewer } }: Pick<Run, 'caller'>, kind: ItemKind): boolean =>
  viewer.can(`edit_others_${kind === 'attachment' ? 'posts' : postKind(kind).capabilities}`);

/** Whether the importing user may change this record. */
export const mayChangePost = ({ caller: { viewer } }: Pick<Run, 'caller'>, row: Post, metas: Metas | undefined): boolean =>
  row.post_type === 'attachment' ? mayEditFile(viewer, row) : mayEdit(viewer, accessRow(row, metas));

/** Whether the importing user may create and change terms of this kind. */
export const mayWriteTerms = ({ caller }: Pick<Run, 'caller'>, kind: TermItem['kind']): boolean => mayManageTerms(caller, termKind(kind));

/** Returns those of some records that the importing user may not change. Asks the database only if there can be any. */
export async function unchangeable(run: Pick<Run, 'caller'>, db: Database, kind: PostKind, ids: readonly number[]): Promise<Set<number>> {
  if (CHANGES.every((verb) => run.caller.viewer.can(`${verb}_${kind.capabilities}`))) return new Set();
  const [rows, metas] = [await loadPosts(db, ids), await loadMetas(db, ids)];
  return new Set([...rows.values()].flatMap((row) => (mayChangePost(run, row, metas.get(row.ID)) ? [] : [row.ID])));
}

/** Verbs of the capabilities with which a user may change every record of a kind. */
const CHANGES = ['edit', 'edit_others', 'edit_published', 'edit_private'];

/** Reports an item that is left out because the importing user may not write its record. */
export function reportForbidden({ tally }: Pick<Importing, 'tally'>, item: PostItem | TermItem): void {
  const of = isPostItem(item) ? nameOf(item) : item.name;
  addToCount(tally.lost, item.kind);
  addLoss(tally, { reason: 'record-forbidden', kind: item.kind, of, place: item.place });
}

/**
 * Returns the author that a record gets from its source: none if the importing user may not give it to that user
 * (decision D34); the ledger then notes it as missing. `current`: its author until now; that of a new one is the
 * importing user.
 */
export function permittedAuthor(
  { run, tally, ledger }: Importing & { readonly ledger: Ledger },
  { key, ...record }: Pick<Loss, 'of' | 'place'> & { readonly key: string; readonly kind: PostItem['kind'] },
  author: number | undefined,
  current: number,
): number | undefined {
  if (author === undefined || author === current || author === run.caller.viewer.id || mayChooseAuthor(run, record.kind)) return author;
  addLoss(tally, { reason: 'author-kept', ...record });
  noteMissing(ledger, key, ['author']);
  return undefined;
}

/**
 * Returns the status that a record gets for that of its source, as from a write through the API (decisions D33, D36).
 * In place of the trash, which needs the right to delete, it keeps the status that it has. `before`: the record, if it
 * exists.
 */
export function permittedStatus(work: Importing, item: PostItem, wanted: string, before?: StoredPost): string {
  if (item.kind === 'attachment') return wanted;
  const settled = statusOfWrite(work.run.caller.viewer, postKind(item.kind), wanted, before);
  const unsettled = 'problem' in settled && settled.problem === 'status-needs-delete' ? (before?.row.post_status ?? 'pending') : wanted;
  const status = 'problem' in settled ? unsettled : settled.status;
  if (status !== wanted) reportAltered(work, item, 'status-forbidden', `${wanted} -> ${status}`);
  return status;
}

/** Row data of an item as the importing user may write them. */
export interface Permitted {
  readonly clean: CleanPost;
  /** Whether they lack a value that a later import by another user can still set. */
  readonly isWithheld: boolean;
}

/** Returns the row data of a new record as the importing user may create it. */
export function permittedNew(work: Importing, item: PostItem, clean: CleanPost): Permitted {
  const { post_status: stated } = clean.columns;
  const sourceStatus = stated ?? 'publish';
  const post_status = permittedStatus(work, item, sourceStatus);
  if (post_status === sourceStatus) return withoutPromotions(work, item, clean);
  const permitted = withoutPromotions(work, item, { ...clean, columns: { ...clean.columns, post_status } });
  return { ...permitted, isWithheld: permitted.isWithheld || (stated !== undefined && isSetLater(item, 'post_status')) };
}

/**
 * Returns the row data of an item without values that put a record before others, if the importing user may not set
 * them (decision D36). `before`: the record, if it exists.
 */
export function withoutPromotions(work: Importing, item: PostItem, clean: CleanPost, before?: StoredPost): Permitted {
  const { viewer } = work.run.caller;
  if (item.kind === 'attachment' || mayPromote(viewer, postKind(item.kind))) return { clean, isWithheld: false };
  const { columns, metas } = clean;
  const names = promotionsIn(postKind(item.kind), { columns, metas: new Set(metas.map(([key]) => key)) }, before);
  for (const name of names) reportAltered(work, item, 'promotion-forbidden', name);
  return {
    clean: {
      ...clean,
      columns: Object.fromEntries(Object.entries(columns).filter(([name]) => !names.includes(name))),
      metas: metas.filter(([key]) => !names.includes(key)),
    },
    isWithheld: names.some((name) => isSetLater(item, name)),
  };
}

/** Whether imports also set a value of existing records that the source states. */
const isSetLater = ({ initial = [] }: PostItem, name: string): boolean => !initial.includes(name);

const reportAltered = ({ tally }: Pick<Importing, 'tally'>, item: PostItem, reason: string, detail: string): void =>
  addLoss(tally, { reason, kind: item.kind, of: nameOf(item), place: item.place, detail });

import { postKind } from '../../kinds/index.ts';
import type { PostKind, Rows, StoredPost } from '../../kinds/kind.ts';
import { loadPosts } from '../../storage/rows/bundle.ts';
import { storedTexts } from '../../wordpress/php/serialized.ts';
import { idsIn, type Post } from '../../wordpress/rows.ts';
import { mayEdit } from '../visibility.ts';
import type { MetasAndTerms } from './metas-and-terms.ts';
import type { PostPlan } from './post-plan.ts';
import type { KindWrite } from './write-context.ts';

/** A draft of a venue or an organizer. */
export interface LinkedDraft {
  readonly kind: PostKind;
  readonly row: Post;
}

/** The meta of a scheduled record with the ids of the drafts that will be published together with it. */
export const PUBLISHED_WITH = '_fasti_published_with';

/**
 * Returns the drafts of venues and organizers that a record links to and that the caller may publish. They are
 * published with it, since they may have been created with it when it was a draft (the calendar's
 * `publishAssociatedTypes`).
 */
export async function linkedDrafts({ db, caller, kind }: KindWrite, { metas }: Pick<StoredPost, 'metas'>, references: MetasAndTerms) {
  const { viewer } = caller;
  const linkedIds = Object.keys(kind.links).flatMap((key) => references.metas[key] ?? metas.get(key) ?? []);
  const rows = await loadPosts(db, idsIn(linkedIds));
  return [...rows.values()].flatMap((row): LinkedDraft[] => {
    const linkedKind = Object.values(kind.links)
      .map(postKind)
      .find(({ postType }) => postType === row.post_type);
    if (!linkedKind || !isUnpublished(row)) return [];
    return viewer.can(`publish_${linkedKind.capabilities}`) && mayEdit(viewer, row) ? [{ kind: linkedKind, row }] : [];
  });
}

/** Whether a post is a draft, or pending review. */
export const isUnpublished = ({ post_status: status }: Post): boolean => ['draft', 'pending'].includes(status);

/**
 * Returns the meta that names these drafts, for a record that changes. They are published together with the scheduled
 * record, since no user is signed in when it goes live.
 */
export function notedDrafts({ metas }: StoredPost, { post_status: status }: Post, drafts: readonly LinkedDraft[]): Rows['metas'] {
  const storedIds = metas.get(PUBLISHED_WITH) ?? [];
  const newIds = status === 'future' ? new Set<string>([...storedIds, ...drafts.map(({ row }) => String(row.ID))]) : [];
  return [...storedIds, ...newIds].length > 0 ? { [PUBLISHED_WITH]: storedTexts([...newIds]) } : {};
}

/** Adds the meta that names its drafts to the rows of a new record. */
export async function withNotedDrafts(write: KindWrite, { columns }: PostPlan, references: MetasAndTerms): Promise<MetasAndTerms> {
  if (columns.post_status !== 'future') return references;
  const draftIds = (await linkedDrafts(write, { metas: new Map() }, references)).map(({ row }) => String(row.ID));
  return draftIds.length === 0 ? references : { ...references, metas: { ...references.metas, [PUBLISHED_WITH]: storedTexts(draftIds) } };
}

import { fail } from '../errors.ts';
import type { PostKind, TermKind } from '../kinds/kind.ts';
import type { Bundle } from '../kinds/rendering.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import { lookUpOnce } from '../storage/engine/look-up-once.ts';
import { loadMetasOf } from '../storage/rows/bundle.ts';
import { changedAt } from '../storage/rows/changes.ts';
import { lockPost } from '../storage/rows/posts.ts';
import { findTerm, loadTermsOf, lockTerm } from '../storage/rows/terms.ts';
import { type Preconditions, postVersion, termVersion, VERSION_DIGITS } from '../wordpress/record-version.ts';
import type { Term } from '../wordpress/rows.ts';
import { dateFromUtc, ZERO_DATE } from '../wordpress/time.ts';
import type { Caller } from './caller.ts';
import { postOfRecord } from './occurrences.ts';

/**
 * A record as an answer shows it, with the version of the rows it was made from. Without a version if the record has
 * been deleted.
 */
export interface VersionedRecord<Record = { [member: string]: unknown }> {
  readonly record: Record;
  readonly version?: string;
}

type WithSettings = Pick<Caller, 'settings'>;
type WithTime = Pick<Caller, 'settings' | 'now'>;

/**
 * Returns the version of the post behind a record whose rows are loaded. Under the id of a date, the bundle has the
 * metas of the event as they are at that date, so the version is made from those of the event itself.
 */
export function loadedVersion({ settings }: WithSettings, record: number, { posts, metas, terms }: Bundle): string {
  const row = posts.get(record)!;
  return postVersion(settings.versionKey, row, metas.get(row.ID), terms.get(row.ID) ?? []);
}

/** Returns the version of a category or tag. */
export const versionOfTerm = ({ settings }: WithSettings, term: Term): string => termVersion(settings.versionKey, term);

/** Returns the ETag for a version alone, without a digest of any representation. */
export const versionTag = (version: string): string => `"${version}"`;

// ------------------------------------------------------------------------------------------------- preconditions
/** Parses a list of entity tags. A tag without quotes is accepted, since shells tend to remove them. */
export function parseTags(list: string): '*' | string[] {
  if (list.trim() === '*') return '*';
  return (list.match(/(?:W\/)?"[^"]*"|[^\s,"]+/g) ?? []).map((tag) => (tag.endsWith('"') ? tag : `"${tag}"`));
}

/** The current version of a record. */
export interface RecordVersion {
  readonly version: string;
  /** When the record was last changed, UTC. */
  readonly modified: string;
  /** The date of its publication, UTC. Undefined if it is of a type that cannot be scheduled: a file, a term. */
  readonly published?: string;
}

/**
 * Reads the version of a record and locks the record until the end of the transaction. Undefined if there is no such
 * record.
 */
export type LockVersion = (db: Database, caller: WithSettings, id: number) => Promise<RecordVersion | undefined>;

/** Locks an event, a venue, an organizer or, without `terms`, a file of the library. */
export const lockPostVersion =
  (kind: Pick<PostKind, 'postType' | 'terms'> & Partial<Pick<PostKind, 'hasDates'>>): LockVersion =>
  async (db, { settings }, record) => {
    const { postType, terms } = kind;
    const id = await postOfRecord(lookUpOnce(db), { settings }, kind, record);
    const row = await lockPost(db, id);
    if (row?.post_type !== postType) return undefined;
    const metas = await loadMetasOf(db, id);
    const linkedTerms = terms.length > 0 ? ((await loadTermsOf(db, [id])).get(id) ?? []) : [];
    const modified = row.post_modified_gmt === ZERO_DATE ? await changedAt(db) : row.post_modified_gmt;
    const schedule = postType === 'attachment' ? {} : { published: row.post_date_gmt };
    return { version: postVersion(settings.versionKey, row, metas, linkedTerms), modified, ...schedule };
  };

/** Locks a category or tag. Terms have no modification date, so that of the last change of any record is used. */
export const lockTermVersion =
  ({ taxonomy }: TermKind): LockVersion =>
  async (db, caller, id) => {
    await lockTerm(db, id);
    const term = await findTerm(db, taxonomy, id);
    return term && { version: versionOfTerm(caller, term), modified: await changedAt(db) };
  };

/**
 * Runs a write if the record meets the preconditions. Check and write are one transaction, and the record is locked, so
 * no other write can come between them. `work` must use the site it is given. A missing record is left to `work` to
 * report.
 *
 * @throws edit-conflict
 */
export function withPreconditions<Result>(
  site: Site,
  caller: WithTime,
  lockVersion: LockVersion,
  { id, conditions }: { readonly id: number; readonly conditions: Preconditions },
  work: (site: Site) => Promise<Result>,
): Promise<Result> {
  return site.db.transaction(async (db) => {
    await requireVersion(db, caller, lockVersion, { id, conditions });
    return work({ ...site, db });
  });
}

/**
 * Locks a record that meets the preconditions, in the transaction that writes it.
 *
 * @throws edit-conflict
 */
export async function requireVersion(
  db: Database,
  caller: WithTime,
  lockVersion: LockVersion,
  { id, conditions }: { readonly id: number; readonly conditions: Preconditions },
): Promise<void> {
  const currentVersion = await lockVersion(db, caller, id);
  if (currentVersion && !meets(currentVersion, conditions, caller.now))
    fail('edit-conflict', { detail: { id, current: currentVersion.version, modified: currentVersion.modified } });
}

/**
 * Whether a version meets the preconditions, evaluated in the order of RFC 9110, 13.2.2: a date counts only if there is
 * no `If-Match`.
 */
function meets(current: RecordVersion, { match, noneMatch, unmodifiedSince }: Preconditions, now: Date): boolean {
  const matches = (tags: '*' | readonly string[]) => tags === '*' || tags.some((tag) => versionIn(tag) === current.version);
  if (match !== undefined && !matches(match)) return false;
  if (match === undefined && unmodifiedSince !== undefined && !isUnmodified(current, unmodifiedSince, now)) return false;
  return noneMatch === undefined || !matches(noneMatch);
}

/**
 * Whether a record has not changed after a moment, in milliseconds since 1970. A scheduled record is modified at its
 * date until it is changed (`settleDates`). So its date, or a moment to come, is one that was read from such a record:
 * it still has it, or it has changed, even if the moment has come meanwhile.
 */
function isUnmodified({ modified, published }: RecordVersion, since: number, now: Date): boolean {
  const changedAt = momentOf(modified);
  const isOfSchedule = published !== undefined && (since === momentOf(published) || since > now.getTime() + CLOCK_DIFFERENCE_MS);
  return isOfSchedule ? changedAt === since : !(changedAt > since);
}

/** Returns a date in UTC in milliseconds since 1970; NaN if there is no such date. */
const momentOf = (utc: string): number => dateFromUtc(utc).getTime();

/** The clock of a client may be ahead of ours by this much. Scheduled records are further ahead (`statusByDate`). */
const CLOCK_DIFFERENCE_MS = 60_000;

const TAG = new RegExp(`^"([0-9a-f]{${VERSION_DIGITS}})(?:[^0-9a-f"][^"]*)?"$`);

/**
 * Returns the version in one of our entity tags: `"VERSION"` or `"VERSION.DIGEST"`, with an optional suffix from a
 * compressing proxy (`-gzip`). Weak tags have none, since `If-Match` must not accept them.
 */
const versionIn = (tag: string): string | undefined => TAG.exec(tag)?.[1];

import { LAST_SAVE_OPTION } from '../../calendar/settings.ts';
import { typedKeys } from '../../typed-keys.ts';
import type { Post } from '../../wordpress/rows.ts';
import { utcFromDate } from '../../wordpress/time.ts';
import type { Database, TransactionData } from '../engine/database.ts';
import { insertedValues, upsertRows } from '../engine/insert.ts';
import { ANYTHING_CHANGED, appendChanges, type Change, type ObjectKind } from './entries.ts';
import { effectiveIndexChange, type IndexChange, type NumberedOwnChange, type Part, rememberOwnChanges } from './own-changes.ts';

/*
 * Each function that writes rows of an object reports the object here. At the end of the transaction, these reports
 * become entries of the journal, numbered by the change counter. Only these functions know about the journal, and none
 * of their callers can forget to report.
 */

/** The author and the time of a write. */
export interface Actor {
  readonly now: Date;
  readonly viewer?: { readonly id: number };
}

/** The columns of a post that determine whether it is public. */
export type PostState = Pick<Post, 'post_type' | 'post_status' | 'post_parent'>;

/** A post before and after the transaction; `undefined`: it does not exist; absent: not known. */
interface ReportedPost {
  before?: PostState | undefined;
  after?: PostState | undefined;
  isChanged: boolean;
  /** The parts of the post that were changed; undefined: any part. */
  parts?: ReadonlySet<Part> | undefined;
  /** The current values of its columns, if they are known and locked against other writers. */
  row?: Partial<Post>;
}

interface ReportedChanges {
  actor: Actor | undefined;
  joinsWriters: boolean;
  everything: boolean;
  readonly posts: Map<number, ReportedPost>;
  readonly terms: Map<number, { readonly taxonomy: string; what: Change['what'] }>;
  /** Ids of rows in `term_taxonomy`. */
  readonly taxonomyRows: Set<number>;
  readonly users: Map<number, Change['what']>;
  readonly options: Set<string>;
  /** The rows changed in the list index; undefined: any rows. */
  indexChange: IndexChange | undefined;
  /** Whether other writers may have written to the same objects without an entry for their changes. */
  mayOthersHaveWritten: boolean;
  /** The details of the changes, to be stored once they are committed. */
  ownChanges: readonly NumberedOwnChange[];
}

const REPORTED: TransactionData<ReportedChanges> = {
  create: () => ({
    actor: undefined,
    joinsWriters: false,
    everything: false,
    posts: new Map(),
    terms: new Map(),
    taxonomyRows: new Set(),
    users: new Map(),
    options: new Set(),
    indexChange: { deleted: [], inserted: [] },
    mayOthersHaveWritten: false,
    ownChanges: [],
  }),
  copy: ({ posts, terms, taxonomyRows, users, options, ...others }) => ({
    ...others,
    posts: copyOf(posts),
    terms: copyOf(terms),
    taxonomyRows: new Set(taxonomyRows),
    users: new Map(users),
    options: new Set(options),
  }),
  namesRecords: ({ everything, posts, terms, taxonomyRows, users }) =>
    everything || posts.size + terms.size + taxonomyRows.size + users.size > 0,
  write: writeReports,
  afterCommit: (db, { ownChanges }) => rememberOwnChanges(db, ownChanges),
};

const copyOf = <T extends object>(map: ReadonlyMap<number, T>): Map<number, T> => new Map(Array.from(map, ([id, one]) => [id, { ...one }]));

// ------------------------------------------------------------------------------------------------- reports
/** Reports a post that was read and locked, as it is before any write. This alone is not a change. */
export const reportPostBefore = (db: Database, row: Post): void => setPostBefore(db, row, row);

function setPostBefore(db: Database, { ID, post_type, post_status, post_parent }: Pick<Post, 'ID'> & PostState, row: Partial<Post>): void {
  const posts = db.transactionData(REPORTED)?.posts;
  const post = posts?.get(ID);
  if (post && 'before' in post) return;
  const state = { post_type, post_status, post_parent };
  // A post that was reported as changed without its state still has the state that it had before.
  posts?.set(ID, { isChanged: false, ...post, before: state, after: state, row: { ...post?.row, ...row } });
}

/** Does the same for posts that are not locked: reads those whose state before is not known yet. */
export async function loadPostsBefore(db: Database, ids: readonly number[]): Promise<void> {
  const posts = db.transactionData(REPORTED)?.posts;
  if (!posts) return;
  const isUnknown = (id: number) => !('before' in (posts.get(id) ?? {}));
  for (const [ID, state] of await statesOf(db, ids.filter(isUnknown))) setPostBefore(db, { ID, ...state }, {});
}

/** Reports a post that has just been created. */
export function reportPostCreated(db: Database, id: number, columns: Partial<PostState>): void {
  const { post_type = '', post_status = '', post_parent = 0 } = columns;
  const posts = db.transactionData(REPORTED)?.posts;
  // A post that was removed in the same transaction may be created again.
  posts?.set(id, { before: posts.get(id)?.before, after: { post_type, post_status, post_parent }, isChanged: true });
}

/** Reports a changed post; `parts`: the changed parts other than columns, if they are known. */
export function reportPostChanged(db: Database, id: number, parts?: readonly Part[]): void {
  const posts = db.transactionData(REPORTED)?.posts;
  const post = posts?.get(id);
  if (!post) posts?.set(id, { isChanged: true, parts: parts && new Set(parts) });
  else {
    post.parts = parts && (!post.isChanged || post.parts) ? new Set([...(post.parts ?? []), ...parts]) : undefined;
    post.isChanged = true;
  }
}

/** Reports a post and the columns of its row that were written. */
export function reportColumnsWritten(db: Database, id: number, columns: Partial<Post>): void {
  const post = db.transactionData(REPORTED)?.posts.get(id);
  const names = typedKeys(columns);
  const { row = {} } = post ?? {};
  reportPostChanged(
    db,
    id,
    names.filter((name) => !(name in row) || String(row[name]) !== String(columns[name])),
  );
  if (!post) return;
  post.row = { ...row, ...columns };
  if (post.after) post.after = { ...post.after, ...stateIn(columns) };
}

/** Reports a post that was deleted permanently. */
export function reportPostRemoved(db: Database, id: number): void {
  const posts = db.transactionData(REPORTED)?.posts;
  posts?.set(id, { ...posts.get(id), after: undefined, isChanged: true, parts: undefined });
}

/** Reports the rows changed in the list index; undefined: any rows. */
export function reportIndexChange(db: Database, change: IndexChange | undefined): void {
  const reports = db.transactionData(REPORTED);
  const before = reports?.indexChange;
  if (reports)
    reports.indexChange = before &&
      change && { deleted: [...before.deleted, ...change.deleted], inserted: [...before.inserted, ...change.inserted] };
}

/**
 * Reports that other writers may have changed the same objects as this transaction, and that these changes will not be
 * detected separately: any part counts as changed by this transaction.
 */
export function reportConcurrentWriters(db: Database): void {
  const reports = db.transactionData(REPORTED);
  if (reports) reports.mayOthersHaveWritten = true;
}

/** Reports that a term was made, changed or removed; the removal counts if it is reported several times. */
export function reportTerm(
  db: Database,
  { term_id: id, taxonomy }: { readonly term_id: number; readonly taxonomy: string },
  what: Change['what'],
): void {
  const terms = db.transactionData(REPORTED)?.terms;
  const term = terms?.get(id);
  if (!term) terms?.set(id, { taxonomy, what });
  else if (what === 'removed') term.what = what;
}

/** Reports rows of `term_taxonomy` whose counts, or more, may have changed. */
export function reportTaxonomyRows(db: Database, ids: Iterable<number>): void {
  const rows = db.transactionData(REPORTED)?.taxonomyRows;
  if (rows) for (const id of ids) rows.add(id);
}

/** Reports that a user was made, changed or removed; one that was made counts as made until it is removed. */
export function reportUser(db: Database, id: number, what: Change['what']): void {
  const users = db.transactionData(REPORTED)?.users;
  if (users?.get(id) !== 'made' || what === 'removed') users?.set(id, what);
}

/** Whether an option is internal bookkeeping that is not reported in the journal. */
export const isInternal = (name: string): boolean =>
  name.startsWith('fasti_') || name.endsWith('_children') || name === LAST_SAVE_OPTION || name === 'user_count';

/** Reports that an option of the site may have changed, unless it is internal bookkeeping. */
export function reportOption(db: Database, name: string): void {
  if (!isInternal(name)) db.transactionData(REPORTED)?.options.add(name);
}

/** Reports that anything may have changed. Followers of the journal start over. */
export function reportEverything(db: Database): void {
  const reports = db.transactionData(REPORTED);
  if (reports) reports.everything = true;
}

/**
 * Reports a change in the transaction that writes it. This updates the change counter, which every process reads before
 * it answers from memory, and the option by which WordPress and the calendar invalidate their caches
 * (`tribe_last_save_post`, Unix time as text with a fraction). Both are written at the end of the transaction, because
 * all writers write these rows: a writer that held them while waiting for the lock on a name could deadlock with the
 * holder of that lock.
 */
export function noteChange(db: Database, actor: Actor): void {
  const reports = inTransaction(db);
  reports.actor = { ...reports.actor, ...actor };
}

/**
 * Writes the row that every writer writes, at the end of the transaction. This (or `noteChange`, which includes it)
 * must be called in each transaction that locks rows and depends on what it read: the nodes of a cluster do not know
 * each other's locks, but if two transactions write the same row, one of them is refused and runs again.
 */
export function joinWriters(db: Database): void {
  inTransaction(db).joinsWriters = true;
}

function inTransaction(db: Database): ReportedChanges {
  const reports = db.transactionData(REPORTED);
  if (!reports) throw new Error('a change is noted in the transaction that makes it');
  return reports;
}

// ------------------------------------------------------------------------------------------------- writing
async function writeReports(db: Database, reports: ReportedChanges): Promise<void> {
  const { actor, joinsWriters } = reports;
  const changes = reports.everything ? [ANYTHING_CHANGED] : await changesOf(db, reports);
  if (!actor && changes.length === 0) {
    if (joinsWriters) await db.change`UPDATE {fasti_changes} SET counter = counter + 1 WHERE id = 1`;
    return;
  }
  const now = actor?.now ?? new Date();
  const at = utcFromDate(now);
  const last = await appendChanges(db, changes, { writer: 'fasti', at, user: actor?.viewer?.id ?? 0, keepsLaterTime: !actor });
  if (changes.length > 0) await changeHandlers.get(db.driver)?.(db, { changes, at, indexed: idsIn(reports.indexChange) });
  if (actor) await noteLastSave(db, now);
  // This comes last, because the followers may have written to the list index.
  reports.ownChanges = ownChangesOf(reports, changes, { last, at });
}

/** Returns the details of these changes; `last`: the number of the last change. */
function ownChangesOf(
  { posts, indexChange, mayOthersHaveWritten, everything }: ReportedChanges,
  changes: readonly Change[],
  { last, at }: { readonly last: number; readonly at: string },
): NumberedOwnChange[] {
  if (everything) return [];
  const effectiveChange = indexChange && effectiveIndexChange(indexChange);
  return changes.map(({ kind, object, what, wasPublic, isPublic }, index) => {
    const isSame = kind === 'post' && what === 'changed' && wasPublic === isPublic && !mayOthersHaveWritten;
    const parts = isSame ? posts.get(object)?.parts : undefined;
    return { number: last - (changes.length - index - 1), at, kind, object, ownChange: { parts, indexChange: effectiveChange } };
  });
}

/**
 * Registers `work` to be called in each transaction of this process that has changes for the journal, after they have
 * been appended. Only one function can be registered for each database.
 */
export function afterAppending(db: Database, work: ChangeHandler): void {
  changeHandlers.set(db.driver, work);
}

type ChangeHandler = (db: Database, appended: AppendedChanges) => Promise<void>;

/** The changes of a transaction. */
interface AppendedChanges {
  readonly changes: readonly Change[];
  /** When they were appended, UTC. */
  readonly at: string;
  /** The events whose rows in the list index were changed one by one. */
  readonly indexed: readonly number[];
}

const idsIn = (change: IndexChange | undefined): number[] => [
  ...new Set([...(change?.deleted ?? []), ...(change?.inserted ?? [])].map((row) => row.post_id)),
];

const changeHandlers = new WeakMap<Database['driver'], ChangeHandler>();

/** Stores the time of the last save of the calendar. `writeOption` would report this as a further change. */
async function noteLastSave(db: Database, now: Date): Promise<void> {
  const option_value = String(now.getTime() / 1000);
  const rowCount = await db.change`
    UPDATE {options} SET option_value = ${option_value}, autoload = ${'auto'} WHERE option_name = ${LAST_SAVE_OPTION}`;
  if (rowCount > 0) return;
  const row = { option_name: LAST_SAVE_OPTION, option_value, autoload: 'auto' };
  await upsertRows(db, 'options', [row], ['option_name'], insertedValues(db, ['option_value', 'autoload']));
}

async function changesOf(db: Database, reports: ReportedChanges): Promise<Change[]> {
  return [
    ...(await postChanges(db, reports.posts)),
    ...(await termChanges(db, reports)),
    ...[...reports.users].map(([id, what]) => nonPublicChange('user', '', id, what)),
    ...[...reports.options].map((name) => nonPublicChange('option', name, 0, 'changed')),
  ];
}

/** Makes a change of an object that is never public. */
export const nonPublicChange = (kind: ObjectKind, type: string, object: number, what: Change['what']): Change => ({
  kind,
  type,
  object,
  what,
  wasPublic: false,
  isPublic: false,
});

async function postChanges(db: Database, posts: ReportedChanges['posts']): Promise<Change[]> {
  const changedPosts = [...posts].filter(([, post]) => post.isChanged);
  const unknownIds = changedPosts.filter(([, post]) => !('after' in post)).map(([id]) => id);
  const now = await statesOf(db, unknownIds);
  return changedPosts.flatMap(([object, post]) => {
    const after = 'after' in post ? post.after : now.get(object);
    // An object that was not locked before has kept its status, since every change of a status locks the post.
    const before = 'before' in post ? post.before : after;
    const type = (after ?? before)?.post_type;
    if (type === undefined || IGNORED.has(type)) return [];
    const what = !before ? 'made' : after ? 'changed' : 'removed';
    return [{ kind: 'post', type, object, what, wasPublic: isPublic(before), isPublic: isPublic(after) }];
  });
}

/** Types of posts that are internal to records. */
const IGNORED = new Set(['revision']);

/**
 * Whether a post is public. An attachment with a parent is as visible as its parent; it counts as not public here, so
 * that its removal does not reveal its existence.
 */
const isPublic = (state: PostState | undefined): boolean =>
  state?.post_status === 'publish' || (state?.post_status === 'inherit' && state.post_parent === 0);

async function statesOf(db: Database, ids: readonly number[]): Promise<Map<number, PostState>> {
  const states = new Map<number, PostState>();
  for (let first = 0; first < ids.length; first += 1000) {
    const rows = await db.rows<Pick<Post, 'ID'> & PostState>`
      SELECT ID, post_type, post_status, post_parent FROM {posts} WHERE ID IN (${ids.slice(first, first + 1000)})`;
    for (const row of rows) states.set(row.ID, row);
  }
  return states;
}

async function termChanges(db: Database, { terms, taxonomyRows }: Pick<ReportedChanges, 'terms' | 'taxonomyRows'>): Promise<Change[]> {
  const all = new Map(terms);
  const ids = [...taxonomyRows];
  for (let first = 0; first < ids.length; first += 1000) {
    const rows = await db.rows<{ term_id: number; taxonomy: string }>`
      SELECT term_id, taxonomy FROM {term_taxonomy} WHERE term_taxonomy_id IN (${ids.slice(first, first + 1000)})`;
    for (const { term_id: id, taxonomy } of rows) if (!all.has(id)) all.set(id, { taxonomy, what: 'changed' });
  }
  return [...all].map(([object, { taxonomy, what }]) => ({
    kind: 'term',
    type: taxonomy,
    object,
    what,
    wasPublic: what !== 'made',
    isPublic: what !== 'removed',
  }));
}

function stateIn({ post_type, post_status, post_parent }: Partial<PostState>): Partial<PostState> {
  return {
    ...(post_type === undefined ? {} : { post_type }),
    ...(post_status === undefined ? {} : { post_status }),
    ...(post_parent === undefined ? {} : { post_parent }),
  };
}

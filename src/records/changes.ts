import { fail } from '../errors.ts';
import { groupedBy } from '../grouped-by.ts';
import { kinds as allKinds } from '../kinds/index.ts';
import type { Kind, PostKind, TermKind } from '../kinds/kind.ts';
import type { KindName } from '../kinds/kind-names.ts';
import type { Site } from '../site.ts';
import { fromOneServer } from '../storage/engine/cluster.ts';
import type { Database } from '../storage/engine/database.ts';
import { entriesAfter, type JournalEntry, lastNumber, markAt, markOf } from '../storage/journal/entries.ts';
import { postIdsAfter, termIdsAfter } from '../storage/lists/walk.ts';
import { loadPosts } from '../storage/rows/bundle.ts';
import { loadTerms } from '../storage/rows/terms.ts';
import type { Caller } from './caller.ts';
import { decodeToken, encodeToken, type JournalPosition } from './changes-token.ts';
import { readablePosts } from './posts.ts';
import { chosenLanguage, languagesOf, languagesOfRecords } from './record-languages.ts';
import { shownSettings } from './shown-settings.ts';
import { translatedTerms } from './terms.ts';
import { listVisibility } from './visibility.ts';

/*
 * The changes since a client's last request. It begins with a full reading and continues with the journal from its
 * position before the reading began. So nothing is lost if records are written during the reading, but a record may be
 * named twice.
 */

/** A change of a record, as far as the caller may see it. `record`: its current state, if requested. */
export interface RecordChange {
  readonly kind: KindName;
  readonly id: number;
  readonly change: 'created' | 'updated' | 'removed';
  readonly record?: unknown;
}

/**
 * A batch of changes. `next`: the token for the next request; `more`: whether further changes are available at once.
 */
export interface Changes {
  readonly changes: readonly RecordChange[];
  readonly next: string;
  readonly more: boolean;
}

/** Options of a client. */
export interface ChangesOptions {
  /** Absent: all kinds. */
  readonly kinds?: readonly KindName[] | undefined;
  /** Whether to include the records. */
  readonly records: boolean;
  /** Maximum number of changes per batch. */
  readonly limit: number;
}

/**
 * Returns the changes since a token, or the beginning of a full reading if there is none.
 *
 * @throws rest_invalid_param for an invalid token, changes-token-expired if the changes since then are not known any
 * more, database-unavailable if this server does not know them yet
 */
export const changesSince = (site: Site, caller: Caller, since: string | undefined, options: ChangesOptions): Promise<Changes> =>
  fromOneServer(site.db.cluster, () => readChanges(readingOf(site, caller, options), since));

async function readChanges(reading: Reading, since: string | undefined): Promise<Changes> {
  const { site, caller, views } = reading;
  const scope = scopeOf(caller, views);
  const { versionKey } = caller.settings;
  const tokenAt = (position: JournalPosition) => encodeToken(position, scope, versionKey);
  // Writes of WordPress are only looked for when a client asks for changes.
  if (caller.settings.shared) {
    const at = performance.now();
    await site.freshness.version();
    await site.takeOverEnd(at);
  }
  // Read first: anything written after this point is reported later.
  const latestNumber = await lastNumber(site.db);
  const firstKind = views[0]?.kind.name ?? 'event';
  const markAtNumber = (number: number) => markAt(site.db, number, versionKey);
  const startPosition = async (): Promise<JournalPosition> => ({
    number: latestNumber,
    mark: await markAtNumber(latestNumber),
    walk: { kind: firstKind, after: 0 },
  });
  const position = since === undefined ? await startPosition() : decodeToken(since, scope, versionKey);
  if (!position) return fail('changes-token-expired');
  if (position.walk) {
    // The token may come from a server that is ahead of this one. The journal is then followed from its end here.
    const isBehind = position.number > latestNumber && isReplica(site);
    if (!isBehind && position.number > (await waitForNumber(position.number, latestNumber, site.db))) fail('changes-token-expired');
    const followedPosition = isBehind ? { number: latestNumber, mark: await markAtNumber(latestNumber) } : position;
    const { changes, walk } = await continueFullReading(reading, position.walk);
    return { changes, next: tokenAt({ ...followedPosition, walk }), more: true };
  }
  const reachedNumber = await waitForNumber(position.number, latestNumber, site.db);
  if (position.number <= reachedNumber && wasReset(position.mark, await markAtNumber(position.number))) fail('changes-token-expired');
  const { changes, number, hasMore, mark = position.mark } = await readJournal(reading, { from: position.number, last: reachedNumber });
  return { changes: changes.map(({ change }) => change), next: tokenAt({ number, mark }), more: hasMore };
}

/** Whether reads go to a replica, which may be behind the database that issued a token. */
const isReplica = ({ replicas, db }: Site): boolean => replicas.some(({ driver }) => driver === db.driver);

/**
 * Returns the last number of the journal, and waits for it to catch up if a client was given a higher one.
 * `latestNumber`: the last number a moment ago.
 */
const waitForNumber = async (number: number, latestNumber: number, db: Database): Promise<number> =>
  number > latestNumber ? catchUpTo(db, number) : latestNumber;

/** Whether the database has been reset to an earlier state since it gave a position to a client. */
const wasReset = (mark: string | undefined, currentMark: string | undefined): boolean =>
  mark !== undefined && currentMark !== undefined && mark !== currentMark;

/**
 * Returns the last number on a server, which may first have to catch up with the server that the client read from.
 * `minimum`: the number that the client has.
 *
 * @throws database-unavailable if it could not catch up yet
 */
async function catchUpTo(db: Database, minimum: number): Promise<number> {
  const hasCaughtUp = await db.cluster.catchUp();
  const latestNumber = await lastNumber(db);
  return latestNumber < minimum && !hasCaughtUp ? fail('database-unavailable') : latestNumber;
}

/** A change with the number of its last entry in the journal. */
export interface NumberedChange {
  readonly number: number;
  /** The mark of that entry. */
  readonly mark: string;
  readonly change: RecordChange;
}

/**
 * Returns the changes after a number of the journal, and the number up to which they are complete.
 *
 * @throws changes-token-expired, database-unavailable if this server does not know that number yet
 */
export const changesAfter = (site: Site, caller: Caller, from: number, options: ChangesOptions): Promise<JournalPart> =>
  fromOneServer(site.db.cluster, async () => readJournal(readingOf(site, caller, options), { from, last: await catchUpTo(site.db, from) }));

interface JournalPart {
  readonly changes: readonly NumberedChange[];
  readonly number: number;
  /** The last number of the journal before the records were read. */
  readonly end: number;
  /** The mark of the last entry that was read; undefined if there was none. */
  readonly mark?: string | undefined;
  readonly hasMore: boolean;
}

/** Returns a token for the current position, after which changes are new to such a client. */
export async function tokenFromNow({ db }: Site, caller: Caller, options: Pick<ChangesOptions, 'kinds'>): Promise<string> {
  const number = await lastNumber(db);
  const position = { number, mark: await markAt(db, number, caller.settings.versionKey) };
  return encodeToken(position, scopeOf(caller, viewsOf(caller, options)), caller.settings.versionKey);
}

/**
 * Returns the scope in which a token is valid. It includes the settings that records show, because a change of these
 * affects all records without an entry in the journal.
 */
const scopeOf = ({ settings }: Caller, views: readonly View[]): string =>
  JSON.stringify([views.map(({ kind, statuses, language }) => [kind.name, statuses, language]), shownSettings(settings)]);

/** A caller's reading of changes, with the views of the kinds. */
interface Reading {
  readonly site: Site;
  readonly caller: Caller;
  readonly views: readonly View[];
  readonly options: ChangesOptions;
}

const readingOf = (site: Site, caller: Caller, options: ChangesOptions): Reading => ({
  site,
  caller,
  views: viewsOf(caller, options),
  options,
});

/**
 * The part of a kind that the caller sees: posts with these statuses, and only records in this language, if one is
 * named.
 */
interface View {
  readonly kind: Kind;
  readonly statuses: readonly string[];
  readonly language?: string | undefined;
}

/**
 * Returns the views of a caller. A caller who sees the same statuses of all authors' records follows all of these. A
 * caller who sees more of their own records follows only public ones, because the journal does not say who the author
 * of a deleted record was.
 */
function viewsOf(caller: Caller, { kinds }: Pick<ChangesOptions, 'kinds'>): View[] {
  const followedKinds = kinds ? allKinds.filter(({ name }) => kinds.includes(name)) : allKinds;
  return followedKinds.map((kind) => {
    const language = languagesOf(caller, kind) && chosenLanguage(caller);
    if (kind.is === 'term') return { kind, statuses: [], language };
    const { all, others, own } = listVisibility(caller.viewer, kind);
    return { kind, statuses: others.length + own.length > 0 ? PUBLIC_STATUSES : all, language };
  });
}

const PUBLIC_STATUSES = ['publish'];

// ------------------------------------------------------------------------------------------------- the full reading
/**
 * Returns the next records of the full reading as changes, and the next position; undefined if the reading is complete.
 */
async function continueFullReading(
  reading: Reading,
  { kind: name, after }: NonNullable<JournalPosition['walk']>,
): Promise<{ changes: RecordChange[]; walk: JournalPosition['walk'] }> {
  const { site, views } = reading;
  const { limit } = reading.options;
  const index = views.findIndex(({ kind }) => kind.name === name);
  const view = views[index];
  if (!view) return { changes: [], walk: undefined };
  const { kind, statuses } = view;
  const ids =
    kind.is === 'post'
      ? await postIdsAfter(site.db, kind.postType, { statuses, after, limit })
      : await termIdsAfter(site.db, kind.taxonomy, { after, limit });
  const records = await visibleRecords(reading, view, ids);
  const changes = ids.flatMap((id) => (records.has(id) ? [changeOf(kind, id, 'created', records.get(id))] : []));
  const nextView = views[index + 1];
  const lastId = ids.at(-1);
  if (ids.length === limit && lastId !== undefined) return { changes, walk: { kind: kind.name, after: lastId } };
  return { changes, walk: nextView && { kind: nextView.kind.name, after: 0 } };
}

// ------------------------------------------------------------------------------------------------- the journal
/** Returns the changes that the journal names after a number. `last`: its last number. */
async function readJournal(reading: Reading, { from, last }: { readonly from: number; readonly last: number }): Promise<JournalPart> {
  const { site, caller } = reading;
  const { limit } = reading.options;
  if (from > last) return isReplica(site) ? { changes: [], number: from, end: from, hasMore: false } : fail('changes-token-expired');
  const { entries, oldest } = await entriesAfter(site.db, from, limit);
  if (from < oldest) fail('changes-token-expired');
  const changes = await changesIn(reading, entries);
  const lastEntry = entries.at(-1);
  const readUpTo = lastEntry?.number ?? 0;
  const end = Math.max(readUpTo, last);
  const hasMore = entries.length === limit;
  return {
    changes,
    number: hasMore ? readUpTo : end,
    end,
    mark: lastEntry && markOf(lastEntry, caller.settings.versionKey),
    hasMore,
  };
}

/**
 * Converts journal entries to changes for a caller: one for each record, in the order of their last entries.
 *
 * @throws changes-token-expired if any record may have changed
 */
async function changesIn(reading: Reading, entries: readonly JournalEntry[]): Promise<NumberedChange[]> {
  if (entries.some(({ kind }) => kind === 'all')) fail('changes-token-expired');
  const shownChanges = new Map<JournalEntry, RecordChange>();
  for (const view of reading.views) {
    const kindEntries = entries.filter((entry) => concernsKind(entry, view.kind));
    const byId = groupedBy(kindEntries, ({ object }) => object);
    const records = await visibleRecords(reading, view, [...byId.keys()]);
    for (const [id, recordEntries] of byId) {
      const change = records.has(id) ? (couldSeeBefore(view, recordEntries[0]!) ? 'updated' : 'created') : 'removed';
      // The removal of a record that the caller never saw is not reported.
      if (change === 'removed' && !recordEntries.some((entry) => couldSeeBefore(view, entry))) continue;
      shownChanges.set(recordEntries.at(-1)!, changeOf(view.kind, id, change, records.get(id)));
    }
  }
  return entries.flatMap((entry) => {
    const change = shownChanges.get(entry);
    return change ? [{ number: entry.number, mark: markOf(entry, reading.caller.settings.versionKey), change }] : [];
  });
}

const concernsKind = ({ kind: object, type }: JournalEntry, kind: Kind): boolean =>
  kind.is === 'post' ? object === 'post' && type === kind.postType : object === 'term' && type === kind.taxonomy;

/** Whether the caller may have seen the record before this entry. */
const couldSeeBefore = ({ kind, statuses }: View, { wasPublic, what }: JournalEntry): boolean =>
  kind.is === 'post' && statuses.length > 1 ? what !== 'made' : wasPublic;

const changeOf = ({ name }: Kind, id: number, change: RecordChange['change'], record: unknown): RecordChange => ({
  kind: name,
  id,
  change,
  ...(record === undefined ? {} : { record }),
});

// ------------------------------------------------------------------------------------------------- current records
/** Returns those of these records that the caller may see, as the caller sees them at this moment. */
export async function recordsNow(
  site: Site,
  caller: Caller,
  name: KindName,
  ids: readonly number[],
): Promise<ReadonlyMap<number, unknown>> {
  const reading = readingOf(site, caller, { kinds: [name], records: true, limit: ids.length });
  const recordsByView = await Promise.all(reading.views.map((view) => visibleRecords(reading, view, ids)));
  return new Map(recordsByView.flatMap((records) => [...records]));
}

/** Returns those of these records that the caller sees, with the records themselves if requested. */
async function visibleRecords(
  { site, caller, options: { records } }: Reading,
  { kind, statuses, language }: View,
  candidateIds: readonly number[],
): Promise<Map<number, unknown>> {
  const ids = await idsInLanguage(site, caller, kind, language, candidateIds);
  if (ids.length === 0) return new Map();
  if (kind.is === 'term') return visibleTerms(site, caller, kind, ids, { withRecords: records });
  const rows = await loadPosts(site.db, ids);
  const visibleIds = ids.filter((id) => rows.get(id)?.post_type === kind.postType && statuses.includes(rows.get(id)!.post_status));
  return records ? visiblePosts(site, caller, kind, visibleIds) : new Map(visibleIds.map((id) => [id, undefined]));
}

/** Returns those of these records that are in a language; undefined: any language. */
async function idsInLanguage(
  { db }: Site,
  caller: Caller,
  kind: Kind,
  language: string | undefined,
  ids: readonly number[],
): Promise<readonly number[]> {
  const kindLanguages = languagesOf(caller, kind);
  if (!kindLanguages || language === undefined || ids.length === 0) return ids;
  const codes = await languagesOfRecords(db, kindLanguages, ids);
  return ids.filter((id) => codes.get(id) === language);
}

async function visiblePosts(site: Site, caller: Caller, kind: PostKind, ids: readonly number[]): Promise<Map<number, unknown>> {
  const posts = await readablePosts(site, caller, kind, ids);
  return new Map(posts.records.map((record) => [Number(record.id), record]));
}

async function visibleTerms(
  { db }: Site,
  caller: Caller,
  kind: TermKind,
  ids: readonly number[],
  { withRecords }: { readonly withRecords: boolean },
): Promise<Map<number, unknown>> {
  const terms = await loadTerms(db, kind.taxonomy, ids);
  const render = withRecords ? await translatedTerms(db, caller, kind, [...terms.values()]) : () => undefined;
  return new Map([...terms].map(([id, term]) => [id, render(term)]));
}

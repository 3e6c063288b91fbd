import { fail } from '../../errors.ts';
import { CALENDAR_UID, DATES } from '../../kinds/events/metas.ts';
import { termKind } from '../../kinds/index.ts';
import type { Caller } from '../../records/caller.ts';
import { withFileCleanup } from '../../records/writes/prepared-images.ts';
import type { Site } from '../../site.ts';
import { wrongCounts } from '../../storage/audit/audit.ts';
import { pagesOf } from '../../storage/engine/pages.ts';
import { joinWriters } from '../../storage/journal/reported-changes.ts';
import { recomputeEdges } from '../../storage/rows/calendar-edges.ts';
import { beginImport, deleteWaiting, findImport, importedIds, metasOfEarlier, nextWaiting } from '../../storage/rows/imports.ts';
import { recount } from '../../storage/rows/term-links.ts';
import { loadTerms } from '../../storage/rows/terms.ts';
import { firstCharacters } from '../../wordpress/content/plain-text.ts';
import { unixFromDate, utcFromDate } from '../../wordpress/time.ts';
import { type Entry, type Item, isItem, isPostItem, isTermItem, type PostItem, SourceFault, textIn, titleOf } from '../items/items.ts';
import { lastingPart } from '../items/lasting-uid.ts';
import { createNameIndex } from '../items/record-names.ts';
import { createStartIndex } from '../items/record-starts.ts';
import { createUidIndex } from '../items/record-uids.ts';
import { addAside, addLoss, addToCount, mergeTally, newTally, type Report, reportOf, tallyFrom } from '../items/report.ts';
import { batches, keysOf } from './batches.ts';
import { type Files, fetchFiles, removeFetched } from './fetch-files.ts';
import { ledgerKey } from './ledger.ts';
import type { ImportOptions } from './options.ts';
import { keysOfPending, resolvePending, withoutNewTerms } from './pending-references.ts';
import { MAX_SOURCE_LENGTH } from './progress.ts';
import { prepareRecurrence, recurringItem } from './recurrence.ts';
import { trashRemovedDates } from './removed-dates.ts';
import { entriesToTakeOver, type FormerEntries, forgetFormerNames, keepRenamed, LIKENESSES } from './renamed-events.ts';
import { mayCreateOfKind, mayWriteTerms } from './rights.ts';
import type { Run, WaitingRecord, Work } from './run.ts';
import { type ImportState, type Step, storeState, writeStep } from './step.ts';
import { type UnstorableReason, writeStorableItems } from './storable.ts';
import { usableByName } from './usable-by-name.ts';
import { divideWantedSlugs, settleSlugs } from './wanted-slugs.ts';
import { writeAuthors } from './write-authors.ts';
import { assignTermLanguage, linkAgain, recountLanguages, writeLanguages } from './write-languages.ts';
import { writePosts } from './write-posts.ts';
import { writeSettings } from './write-settings.ts';
import { writeTerms } from './write-terms.ts';

const ITEMS_PER_BATCH = 200;

/**
 * Imports a stream of items in batches, each of which is written completely or not at all. The ledger makes it safe to
 * interrupt an import at any point and to repeat it: nothing is imported twice. Links are resolved in whatever order
 * items come. Term counts, occurrence rows and the change counter are correct after each batch, the calendar's first
 * and last dates at the end.
 *
 * @throws rest_forbidden if the caller may not import, or not the settings; SourceFault `nothing-to-resume`,
 * `superseded` and whatever the stream throws
 */
export async function importItems(site: Site, caller: Caller, entries: AsyncIterable<Entry>, options: ImportOptions): Promise<Report> {
  const { viewer } = caller;
  if (!viewer.can('import') || (options.settings && !viewer.can('manage_options'))) fail('rest_forbidden');
  const state = await openRun(site, caller, options);
  const { sum } = state;
  let count = 0;
  let isPrepared = false;
  for await (const piece of batches(entries, options.itemsPerBatch ?? ITEMS_PER_BATCH)) {
    const before = count;
    count += piece.length;
    for (const entry of piece) {
      if (entry.kind === 'dates') state.dates.set(entry.name, entry.between);
      if (entry.kind === 'loss' && entry.sourceId !== undefined) state.unwritten.add(ledgerKey('post', entry.sourceId));
    }
    const prepares = !isPrepared && !state.run.isDryRun && mayCreateOfKind(state.run, 'event');
    const recurring = prepares ? recurringItem(piece.filter(isItem)) : undefined;
    if (recurring) {
      await prepareRecurrence(site, recurring);
      state.run = { ...state.run, caller: { ...caller, settings: await site.settings() } };
      isPrepared = true;
    }
    const files = await fetchFiles(state.run, piece, options.fetchFile, createTouch(state));
    await withFileCleanup(
      site,
      () =>
        writeStorableItems(
          piece,
          (part, from) => writeEntries(state, part, before + from, files),
          (entry, from, reason) => reportUnstorable(state, { entry, before: before + from, reason }, files),
        ),
      () => removeFetched(files),
    );
    options.onProgress?.(count);
  }
  await writeRenamed(state);
  await resolveAllWaiting(state);
  await settleAllSlugs(state);
  for (const records of pagesOf([...state.run.unlinked], ITEMS_PER_BATCH))
    await writeStep(state, { keys: new Set(records.map(({ key }) => key)), task: (work) => linkAgain(work, records) });
  const trashedCount = await trashRemovedDates(state);
  if (trashedCount > 0) addToCount(sum.trashed, 'event', trashedCount);
  if (state.run.settings && state.run.customFields.source === undefined)
    addLoss(sum, { reason: 'settings-none', kind: 'source', of: state.run.source });
  await finish(state);
  return reportOf({ source: state.run.source, dryRun: state.run.isDryRun }, sum);
}

/**
 * Returns a function that shows now and then that a run goes on while it writes nothing. It throws SourceFault
 * `superseded` if another run of the same source has begun.
 */
function createTouch(state: ImportState): () => Promise<void> {
  const { site } = state.run;
  let touchedAt = unixFromDate(site.clock());
  return async () => {
    const now = unixFromDate(site.clock());
    if (now - touchedAt < TOUCH_EVERY_S) return;
    touchedAt = now;
    await site.db.transaction((db) => storeState(db, state, { doneCount: state.doneCount, open: true, report: state.sum }));
  };
}

/** A fraction of the time after which an import counts as stopped (`isImportRunning`). */
const TOUCH_EVERY_S = 30;

/** Writes entries in one transaction. `before`: number of entries before them in the stream. */
async function writeEntries(state: ImportState, entries: readonly Entry[], before: number, files: Files): Promise<void> {
  const doneCount = Math.min(entries.length, Math.max(0, state.doneCount - before));
  if (doneCount > 0 && doneCount < entries.length) {
    await writeEntries(state, entries.slice(0, doneCount), before, files);
    await writeEntries(state, entries.slice(doneCount), before + doneCount, files);
    return;
  }
  const items = entries.filter(isItem);
  const fetchedFiles = items.flatMap((item) => files.get(item) ?? []);
  await writeStep(state, {
    keys: keysOf(items),
    entryCount: before + entries.length,
    originals: new Map([...files].flatMap(([original, { item }]) => (isPostItem(original) ? [[item, original] as const] : []))),
    task: async (work) => {
      const tally = newTally();
      for (const entry of entries) if (!isItem(entry)) addAside(tally, entry);
      for (const { item, fault } of fetchedFiles) {
        if (fault !== undefined)
          addLoss(tally, {
            reason: 'file-not-fetched',
            kind: 'attachment',
            of: item.url ?? item.sourceId,
            place: item.place,
            detail: fault,
          });
      }
      await writeItems(
        { ...work, tally },
        items.map((item) => files.get(item)?.item ?? item),
      );
      // Losses of entries from before the interruption are already in that run's report.
      mergeTally(work.tally, doneCount > 0 ? { ...tally, lost: {}, skipped: {}, losses: new Map() } : tally);
    },
  });
  for (const item of items) files.delete(item);
}

/** An entry that cannot be stored, and the number of entries before it. */
interface UnstorableEntry {
  readonly entry: Entry;
  readonly before: number;
  readonly reason: UnstorableReason;
}

/** Reports that an entry cannot be stored, and deletes its file. */
async function reportUnstorable(state: ImportState, { entry, before, reason }: UnstorableEntry, files: Files): Promise<void> {
  const isKnown = before < state.doneCount;
  await writeStep(state, {
    keys: new Set(),
    entryCount: before + 1,
    task: async ({ tally }) => {
      if (!isItem(entry) || isKnown) return;
      addToCount(tally.lost, entry.kind);
      addLoss(tally, { reason, kind: entry.kind, of: titleOf(entry), place: entry.place });
    },
  });
  if (!isItem(entry)) return;
  if (isPostItem(entry)) noteUnwritten(state, entry);
  await files.get(entry)?.undo?.();
  files.delete(entry);
}

/** Notes the names of a post that is contained in the source and that the run cannot store. */
function noteUnwritten({ unstorableUids, unwritten }: ImportState, { sourceId, narrowerId, metas }: PostItem): void {
  unstorableUids.add(lastingPart(textIn(metas, CALENDAR_UID)));
  for (const name of [sourceId, narrowerId]) if (name !== undefined) unwritten.add(ledgerKey('post', name));
}

async function openRun(site: Site, caller: Caller, options: ImportOptions): Promise<ImportState> {
  const source = firstCharacters(options.source, MAX_SOURCE_LENGTH);
  const isDryRun = options.dryRun ?? false;
  const knownImport = await findImport(site.db, source);
  if (options.resume && !knownImport?.open) throw new SourceFault('nothing-to-resume', { source });
  const now = utcFromDate(site.clock());
  const row = isDryRun || options.resume ? knownImport : await site.db.transaction((db) => beginImport(db, source, '', now));
  const importId = row?.id ?? 0;
  const number = isDryRun && !options.resume ? (row?.run ?? 0) + 1 : (row?.run ?? 1);
  let dryId = 0;
  const run: Run = {
    site,
    caller,
    source,
    importId,
    number,
    isDryRun,
    isTrusted: caller.viewer.can('unfiltered_html') && !options.filterHtml,
    trustedAccounts: options.trustedAccounts ?? false,
    settings: options.settings ?? false,
    restoresDeleted: options.restoreDeleted ?? false,
    fetchesFiles: options.fetchFile !== undefined,
    slowHosts: new Map(),
    language: options.language,
    highestId: options.highestId ?? 0,
    parents: new Map(),
    names: createNameIndex({
      recurring: caller.settings.recurrence !== undefined,
      usable: (db, posts) => usableByName(db, { caller, importId }, posts),
    }),
    uids: createUidIndex(),
    starts: startsBefore({ id: importId, run: number }),
    renamed: [],
    externalIds: new Map(),
    wantedSlugs: [],
    unlinked: [],
    customFields: { source: undefined, local: caller.settings.calendar.customFields },
    dryLedger: new Map(),
    dryWaiting: new Map(),
    withheld: new Map(),
    dryNames: new Map(),
    dryGroups: new Map(),
    dryLeft: new Set(),
    dryIds: new Set(),
    dryMetas: new Map(),
    drySlugs: new Map(),
    dryParents: new Map(),
    nextDryId: () => {
      dryId -= 1;
      return dryId;
    },
  };
  const sum = options.resume && row ? tallyFrom(row.report) : newTally();
  return { run, sum, doneCount: options.resume && row ? row.done : 0, dates: new Map(), unstorableUids: new Set(), unwritten: new Set() };
}

/** Returns the index of the events that earlier runs of an import have brought. */
const startsBefore = (run: Parameters<typeof metasOfEarlier>[1]) =>
  createStartIndex(async (db) =>
    (await metasOfEarlier(db, run, DATES.startUtc)).map(({ target: id, value: startUtc }) => ({ id, startUtc })),
  );

async function writeItems(work: Work, items: readonly Item[]): Promise<void> {
  await writeSettings(
    work,
    items.filter((item) => item.kind === 'settings'),
  );
  await writeAuthors(
    work,
    items.filter((item) => item.kind === 'author'),
  );
  await writeTerms(work, items.filter(isTermItem));
  await writeLanguages(work, items.filter(isTermItem));
  const posts = await keepRenamed(work, items.filter(isPostItem));
  await writePosts(work, posts);
  await writeLanguages(work, posts);
}

/** Writes the events that may have got new names, now that it is known which of the former names have come. */
async function writeRenamed(state: ImportState): Promise<void> {
  const { run, unwritten } = state;
  const takenIds = new Set<number>();
  let former: FormerEntries = new Map();
  const take = () => {
    for (const { target } of former.values()) takenIds.add(target);
  };
  let items: readonly PostItem[] = run.renamed.splice(0);
  for (const likeness of LIKENESSES) {
    const later: PostItem[] = [];
    const write = async (some: readonly PostItem[]) => {
      const isLast = likeness === LIKENESSES.at(-1);
      await writeStep(state, {
        keys: keysOf(some),
        task: async (work) => {
          former = await entriesToTakeOver(work, some, { likeness, takenIds, unwritten });
          const written = isLast ? some : some.filter((item) => former.has(item));
          await writePosts(work, written, former);
          await forgetFormerNames(work, former);
          await writeLanguages(work, written);
        },
      });
      take();
      if (!isLast) later.push(...some.filter((item) => !former.has(item)));
    };
    for await (const piece of batches(items, ITEMS_PER_BATCH))
      await writeStorableItems(piece, write, (entry, _from, reason) => {
        take();
        return reportUnstorable(state, { entry, before: state.doneCount, reason }, new Map());
      });
    items = later;
  }
}

/** Resolves pending references of records in batches. */
async function resolveAllWaiting(state: ImportState): Promise<void> {
  const { run } = state;
  if (run.isDryRun) {
    for (const rows of pagesOf([...run.dryWaiting.values()], ITEMS_PER_BATCH)) await resolveWaiting(state, rows);
    return;
  }
  for (;;) {
    const rows = await nextWaiting(run.site.db, run.importId, ITEMS_PER_BATCH);
    if (rows.length === 0) return;
    await resolveWaiting(state, rows);
  }
}

/**
 * Resolves pending references. Missing terms are created; if the tables cannot hold such a term, the record is resolved
 * without it.
 */
const resolveWaiting = (state: ImportState, rows: readonly WaitingRecord[]): Promise<void> =>
  writeStorableItems(
    rows,
    (part) => writeStep(state, resolvingStep(state, part)),
    (row) => writeStep(state, resolvingStep(state, [withoutNewTerms(row)])),
  );

const resolvingStep = ({ run }: ImportState, rows: readonly WaitingRecord[]): Step => ({
  keys: new Set([...rows.map(({ item }) => item), ...keysOfPending(rows)]),
  task: async (work) => {
    await resolvePending(work, rows);
    if (run.isDryRun) return;
    await deleteWaiting(
      work.db,
      run.importId,
      rows.map(({ item }) => item),
    );
  },
});

/** Settles the slugs that other records had; free ones in one step, since records may have exchanged theirs. */
async function settleAllSlugs(state: ImportState): Promise<void> {
  const { free, taken } = await divideWantedSlugs(state.run, state.run.wantedSlugs);
  for (const wanted of [free, ...pagesOf(taken, ITEMS_PER_BATCH)]) {
    if (wanted.length === 0) continue;
    await writeStep(state, { keys: new Set(wanted.map(({ key }) => key)), task: (work) => settleSlugs(work, wanted) });
  }
}

/** Corrects wrong term counts and the calendar's first and last dates, and closes the run. */
async function finish(state: ImportState): Promise<void> {
  const { run } = state;
  if (run.isDryRun) return;
  const { site, importId } = run;
  const wrongIds = new Set((await wrongCounts(site.db)).map(({ termTaxonomyId }) => termTaxonomyId));
  for (const kind of ['category', 'tag'] as const) {
    for (const ids of pagesOf(await importedIds(site.db, importId, [kind]), ITEMS_PER_BATCH)) {
      await site.db.transaction(async (db) => {
        const terms = await loadTerms(db, termKind(kind).taxonomy, ids);
        // Each recounted term is noted as a change, for those who follow the journal.
        const rows = [...terms.values()].map((term) => term.term_taxonomy_id).filter((row) => wrongIds.has(row));
        await recount(db, rows);
        if (mayWriteTerms(run, kind)) await assignTermLanguage(db, run, kind, ids);
        joinWriters(db);
      });
    }
  }
  await writeStep(state, {
    keys: new Set(),
    open: false,
    task: async (work) => {
      if (run.caller.settings.occurrenceTables) await recomputeEdges(work.db);
      await recountLanguages(work.db, run);
      work.touched.any = true;
      work.touched.tree = true;
    },
  });
}

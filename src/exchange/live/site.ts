import type { Entry } from '../items/items.ts';
import { type Source, siteName } from '../items/source.ts';
import { hiddenEventsPage } from './hidden-events.ts';
import { customFieldsOf } from './items.ts';
import { readRecords } from './record-pages.ts';
import type { RemoteSite } from './site-client.ts';
import { openSpool, type Spool } from './spool.ts';
import { readTerms } from './term-pages.ts';
import { MAX_STEPS_BACK, newWalk, noteEntry, type Page, type ReadingOptions, type Walk } from './walk.ts';

export interface LiveOptions extends ReadingOptions {
  /** The target of the import (database, prefix, dry run or not). Walks for different targets are kept apart. */
  readonly target: string;
  /** Resumes the walk of an interrupted import, however old it is. */
  readonly resume: boolean;
  /**
   * Folder for the state of the walk; defaults to a folder of this user below the system's folder for temporary files.
   */
  readonly folder?: string | undefined;
  /** Called after each page with the number of entries so far. */
  readonly onProgress?: (entries: number) => void;
}

/** Maximum age of an interrupted walk that is resumed. Later, old and current data would be mixed. */
const MAX_RESUME_AGE_MS = 24 * 3600 * 1000;

/**
 * Opens a running site as a source: its categories, tags, venues, organizers, events and images through its public API,
 * completed with data from WordPress's own routes. With an application password, this includes drafts, private records,
 * and texts as they are stored.
 *
 * @throws SourceFault `import-running` while another import walks through the site for the same target
 */
export async function openLiveSite(site: RemoteSite, options: LiveOptions): Promise<Source> {
  const spool = await openSpool({ source: siteName(site.home), identity: [site.credentials ?? '', options.target] }, options.folder);
  try {
    const { mark, writtenAt } = await spool.state();
    const isOld = mark !== undefined && !options.resume && (mark.done || Date.now() - writtenAt > MAX_RESUME_AGE_MS);
    if (isOld) await spool.remove();
  } catch (error) {
    spool.close();
    throw error;
  }
  let readings = 0;
  return {
    name: () => siteName(site.home),
    entries: async function* () {
      yield* walkSite(site, spool, options);
      readings += 1;
    },
    close: async () => {
      try {
        // After the survey and the import, the spool is no longer needed.
        if (readings > 1) await spool.remove();
      } finally {
        spool.close();
      }
    },
  };
}

/** Stages of a walk, in such an order that records only refer to earlier stages. */
const STAGES = ['categories', 'tags', 'venues', 'organizers', 'events', 'hidden'] as const;
type Stage = (typeof STAGES)[number];

async function* walkSite(site: RemoteSite, spool: Spool, options: LiveOptions): AsyncGenerator<Entry> {
  const { mark } = await spool.state();
  const walk = newWalk(site, options);
  let count = 0;
  const note = (entry: Entry): Entry => {
    count += 1;
    noteEntry(walk, entry);
    return entry;
  };
  for (const [name, label] of mark?.fields ?? []) walk.shownFields.set(name, label);
  for await (const entry of spool.entries()) yield note(mark?.done ? withAllFields(walk, entry) : entry);
  if (mark?.done) return;
  const from = mark === undefined ? 0 : STAGES.indexOf(mark.stage as Stage) + (mark.last ? 1 : 0);
  for (const stage of STAGES.slice(from)) {
    let [page, before, steps] = stage === mark?.stage ? [mark.page + 1, mark.total, 0] : [1, undefined, 0];
    for (;;) {
      const pageResult = await pageOf(walk, stage, page);
      const stepsBack = steps < MAX_STEPS_BACK ? pagesMissed(pageResult, page, before) : 0;
      const nextPage = stepsBack === 0 ? page + 1 : Math.max(1, page - stepsBack);
      const isEnd = pageResult.isLast && stepsBack === 0;
      before = pageResult.total ?? before;
      const entries = await spool.add(pageResult.entries, {
        stage,
        page: nextPage - 1,
        last: isEnd,
        done: isEnd && stage === STAGES.at(-1),
        total: before,
        fields: [...walk.shownFields],
      });
      for (const entry of entries) yield note(entry);
      options.onProgress?.(count);
      if (isEnd) break;
      [page, steps] = [nextPage, steps + Math.sign(stepsBack)];
    }
  }
}

/**
 * Adds the custom fields that an event lacks, once all events have been read: a field shows only in events that have
 * it, perhaps in later ones.
 */
function withAllFields({ shownFields, options }: Walk, entry: Entry): Entry {
  if (entry.kind !== 'event') return entry;
  const facts = { params: new Map(), customFields: shownFields };
  return { ...entry, unshown: [...new Set([...(entry.unshown ?? []), ...customFieldsOf({ facts, settings: options.settings })])] };
}

/**
 * Returns the number of earlier pages to which records from this page may have moved, given that the list has become
 * shorter since `before`.
 */
function pagesMissed({ isGone, total, length = 0 }: Page, page: number, before: number | undefined): number {
  if (page === 1) return 0;
  if (isGone) return 1;
  return total === undefined || before === undefined || total >= before ? 0 : Math.ceil((before - total) / Math.max(1, length));
}

function pageOf(walk: Walk, stage: Stage, page: number): Promise<Page> {
  if (stage === 'categories' || stage === 'tags') return readTerms(walk, stage, page);
  if (stage === 'hidden') return hiddenEventsPage(walk, page);
  return readRecords(walk, stage, page);
}

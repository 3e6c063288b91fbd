import { type Database, hasTable } from '../engine/database.ts';
import { indexLayout } from '../index/event-index.ts';
import { reindexEvents } from '../index/event-index-rebuild.ts';
import type { OptionalLanguages } from '../index/indexed-events.ts';
import { INDEX_OPTION, readOptions } from '../rows/options.ts';
import { takeOverChanges, updatePrintsOfOwnChanges } from './foreign-changes.ts';
import { createInbox, type Inbox } from './plugin-inbox.ts';
import { type PrintSource, printSources } from './prints.ts';
import { createRowRanges, type RowRanges } from './row-ranges.ts';
import type { TakeOver } from './table-watch.ts';

/** Options for taking over changes by other writers; `languages`: current languages of the content. */
type TakeOverScope = Parameters<TakeOver>[0] & { readonly languages: OptionalLanguages };

/** Takes over changes that other writers make to one database. */
export interface ForeignChangeHandler {
  /** As in `watchTables`. */
  readonly takeOver: (how: TakeOverScope) => ReturnType<TakeOver>;
  /** Takes over the notes of the WordPress plugin. */
  readonly drain: Inbox['drain'];
}

/**
 * Creates the functions that take over changes by other writers to this database: into the journal, the list index and
 * the prints. They create the list index if there is none. From this call on, the prints are also updated by the writes
 * of this process.
 */
export function createForeignChangeHandler(db: Database, clock: () => Date): ForeignChangeHandler {
  let prints: Prints | undefined;
  updatePrintsOfOwnChanges(db, () => prints);
  const open = async (languages: OptionalLanguages): Promise<Prints> => ({
    form: languages?.form,
    languages,
    sources: await printSources(db, languages),
    ranges: createRowRanges(db, languages),
    isDated: await hasTable(db, 'tec_occurrences'),
  });
  // Before the first comparison, and after a change of the plugin that stores the languages, the notes wait for the
  // next comparison.
  const inbox = createInbox(db, clock, (languages) => (prints?.form === languages?.form ? prints?.sources : undefined));
  const takeOver: ForeignChangeHandler['takeOver'] = async ({ isFull, tables, languages }) => {
    // Another language plugin uses other rows, and the calendar plugin may create its tables at any time.
    const isDated = await hasTable(db, 'tec_occurrences');
    const isSame = prints?.form === languages?.form && prints?.isDated === isDated;
    prints = prints && isSame ? { ...prints, languages } : await open(languages);
    const { sources, ranges } = prints;
    const suspects = isFull ? undefined : await ranges.suspects(tables);
    if (!suspects) await ranges.begin();
    const writes = await takeOverChanges(db, clock, { sources, languages, ...(suspects ? { posts: suspects.posts } : {}) });
    suspects?.accept();
    const isIndexed = (await readOptions(db, [INDEX_OPTION])).get(INDEX_OPTION) === indexLayout(languages);
    if (isIndexed || !isDated) return { writes };
    await reindexEvents(db, clock, { marksComplete: true, languages });
    return { writes: undefined };
  };
  return { takeOver, drain: inbox.drain };
}

/**
 * The sources of prints, and the ranges in which rows have changed. `form`: the plugin whose format the languages have.
 */
interface Prints {
  readonly form: NonNullable<OptionalLanguages>['form'] | undefined;
  readonly languages: OptionalLanguages;
  readonly sources: readonly PrintSource[];
  readonly ranges: RowRanges;
  readonly isDated: boolean;
}

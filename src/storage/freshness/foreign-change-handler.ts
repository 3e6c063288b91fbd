import { INDEX_OPTION } from '../../calendar/settings.ts';
import type { Database } from '../engine/database.ts';
import { indexLayout, unindexableAmong } from '../index/event-index.ts';
import type { OptionalLanguages } from '../index/indexed-events.ts';
import { readOptions } from '../rows/options.ts';
import { takeOverChanges, updatePrintsOfOwnChanges } from './foreign-changes.ts';
import { rebuildIndex } from './index-rebuild.ts';
import { createInbox, type Inbox } from './plugin-inbox.ts';
import { arePrintsComplete, type PrintForm, type PrintSource, printSources } from './prints.ts';
import { createRowRanges, type RowRanges } from './row-ranges.ts';
import type { TakeOver } from './table-watch.ts';

/** Maximum number of events that are checked before the index is rebuilt. */
const MAX_UNINDEXABLE = 200;

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
 *
 * @param followed returns the current languages of the content if some process takes over changes; undefined: none does
 */
export function createForeignChangeHandler(db: Database, clock: () => Date, followed: Followed = () => undefined): ForeignChangeHandler {
  let prints: Prints | undefined;
  /** Events that could not be indexed at the last rebuild. */
  let unindexable: readonly number[] = [];
  const ofOthers = createPrintsOfOthers(followed);
  updatePrintsOfOwnChanges(db, async (trx) => prints ?? ofOthers(trx));
  const open = async (languages: OptionalLanguages): Promise<Omit<Prints, 'dateColumns'>> => ({
    form: languages?.form,
    languages,
    sources: await printSources(db, languages),
    ranges: createRowRanges(db, languages),
  });
  // Before the first comparison, and after a change of the plugin that stores the languages, the notes wait for the
  // next comparison.
  const inbox = createInbox(db, clock, (languages) => (prints?.form === languages?.form ? prints?.sources : undefined));
  const takeOver: ForeignChangeHandler['takeOver'] = async ({ isFull, tables, languages }) => {
    // Another language plugin uses other rows, and the calendar plugin may create or extend its tables at any time.
    const dateColumns = (await db.dialect.columns(db, db.table('tec_occurrences'))).join();
    const isDated = dateColumns !== '';
    const isSame = prints?.form === languages?.form && prints?.dateColumns === dateColumns;
    prints = prints && isSame ? { ...prints, languages } : { ...(await open(languages)), dateColumns };
    const { sources, ranges } = prints;
    const { confirm } = ranges;
    const suspects = isFull ? undefined : await ranges.suspects(tables);
    const { accept } = suspects ?? (await ranges.begin());
    const writes = await takeOverChanges(db, clock, { sources, languages, ...(suspects ? { posts: suspects.posts } : {}) });
    accept();
    const isIndexed = (await readOptions(db, [INDEX_OPTION])).get(INDEX_OPTION) === indexLayout(languages);
    // As long as an event cannot be indexed, a rebuild would not complete the index.
    if (isIndexed || !isDated || (await unindexableAmong(db, unindexable, languages)).length > 0) return { writes, confirm };
    const rebuilt = await rebuildIndex(db, clock, { marksComplete: true, languages, shared: true });
    unindexable = rebuilt.unindexable.slice(0, MAX_UNINDEXABLE);
    return { writes: undefined, confirm };
  };
  return { takeOver, drain: inbox.drain };
}

/** The languages of the content, if some process takes over changes. */
type Followed = () => { readonly languages: OptionalLanguages } | undefined;

/**
 * Creates the function that returns how the prints of another process are updated, since this one, such as a command,
 * has not taken over anything. Undefined: there are no prints, or not of the current form.
 */
function createPrintsOfOthers(followed: Followed): (db: Database) => Promise<PrintForm | undefined> {
  let known: PrintForm | undefined;
  return async (db) => {
    const current = followed();
    if (!current) return undefined;
    const { languages } = current;
    const sources = known && known.languages?.form === languages?.form ? known.sources : await printSources(db, languages);
    known = { languages, sources };
    return (await arePrintsComplete(db, known)) ? known : undefined;
  };
}

/**
 * The sources of prints, and the ranges in which rows have changed. `form`: the plugin whose format the languages have.
 */
interface Prints {
  readonly form: NonNullable<OptionalLanguages>['form'] | undefined;
  readonly languages: OptionalLanguages;
  readonly sources: readonly PrintSource[];
  readonly ranges: RowRanges;
  /** The columns of the table of dates, joined; empty if there is no such table. */
  readonly dateColumns: string;
}

import { type Database, hasTable } from '../engine/database.ts';
import { INDEX_OPTION, indexLayout } from '../index/event-index.ts';
import { reindexEvents } from '../index/event-index-rebuild.ts';
import type { OptionalLanguages } from '../index/indexed-events.ts';
import { readOptions } from '../rows/options.ts';
import { printOwnChanges, takeOverChanges } from './foreign-changes.ts';
import { createInbox, type Inbox } from './plugin-inbox.ts';
import { type PrintSource, printSources } from './prints.ts';
import { createRowRanges, type RowRanges } from './row-ranges.ts';
import type { TakeOver } from './table-watch.ts';

/** How changes of others are taken over; `languages` of the content, as they stand. */
type Taking = Parameters<TakeOver>[0] & { readonly languages: OptionalLanguages };

/** What takes over the changes of others, to one database. */
export interface Others {
  /** As in `watchTables`. */
  readonly takeOver: (how: Taking) => ReturnType<TakeOver>;
  /** Takes over what the WordPress plugin has noted. */
  readonly drain: Inbox['drain'];
}

/**
 * Takes over what others write to this database: into the journal, the list index and the prints. Makes the list index
 * where there is none. From now on the prints of what this process writes are kept, too.
 */
export function othersOf(db: Database, clock: () => Date): Others {
  let opened: Prints | undefined;
  printOwnChanges(db, () => opened);
  const open = async (languages: OptionalLanguages): Promise<Prints> => ({
    form: languages?.form,
    languages,
    sources: await printSources(db, languages),
    ranges: createRowRanges(db, languages),
    isDated: await hasTable(db, 'tec_occurrences'),
  });
  // Before the first comparison, and where languages are kept in other rows since, notes wait for the next one.
  const inbox = createInbox(db, clock, (languages) => (opened?.form === languages?.form ? opened?.sources : undefined));
  const takeOver: Others['takeOver'] = async ({ whole, tables, languages }) => {
    // Another plugin for languages keeps them in other rows.
    opened = opened && opened.form === languages?.form ? { ...opened, languages } : await open(languages);
    const { sources, ranges, isDated } = opened;
    const suspects = whole ? undefined : await ranges.suspects(tables);
    if (!suspects) await ranges.begin();
    const writes = await takeOverChanges(db, clock, { sources, languages, ...(suspects ? { posts: suspects.posts } : {}) });
    suspects?.accept();
    const isIndexed = (await readOptions(db, [INDEX_OPTION])).get(INDEX_OPTION) === indexLayout(languages);
    if (isIndexed || !isDated) return { writes };
    await reindexEvents(db, clock, { trust: true, languages });
    return { writes: undefined };
  };
  return { takeOver, drain: inbox.drain };
}

/** What prints are made of, and where rows have changed. `form`: in which the database says languages. */
interface Prints {
  readonly form: NonNullable<OptionalLanguages>['form'] | undefined;
  readonly languages: OptionalLanguages;
  readonly sources: readonly PrintSource[];
  readonly ranges: RowRanges;
  readonly isDated: boolean;
}

import { addToGroup } from '../../grouped-by.ts';
import type { Database } from '../../storage/engine/database.ts';

/** The events that earlier runs of an import have brought, by their starts. */
export interface StartIndex {
  /** Returns the ids of those that started at this time (`YYYY-MM-DD HH:MM:SS`, in UTC) when the run began. */
  readonly find: (db: Database, startUtc: string) => Promise<readonly number[]>;
}

/** An event and its start. */
interface StartedEvent {
  readonly id: number;
  readonly startUtc: string;
}

/** Creates an index, which reads all starts when it is asked for the first time. */
export function createStartIndex(read: (db: Database) => Promise<readonly StartedEvent[]>): StartIndex {
  let idsByStart: Map<string, number[]> | undefined;
  const readAll = async (db: Database) => {
    const ids = new Map<string, number[]>();
    for (const event of await read(db)) if (event.startUtc !== '') addToGroup(ids, event.startUtc, event.id);
    return ids;
  };
  return {
    find: async (db, startUtc) => {
      idsByStart ??= await readAll(db);
      return idsByStart.get(startUtc) ?? [];
    },
  };
}

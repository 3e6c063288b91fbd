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
  return {
    find: async (db, startUtc) => {
      if (!idsByStart) {
        idsByStart = new Map();
        for (const event of await read(db)) if (event.startUtc !== '') addToGroup(idsByStart, event.startUtc, event.id);
      }
      return idsByStart.get(startUtc) ?? [];
    },
  };
}

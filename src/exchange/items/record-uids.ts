import { addToGroup } from '../../grouped-by.ts';
import { CALENDAR_UID } from '../../kinds/events/metas.ts';
import type { Database } from '../../storage/engine/database.ts';
import { pagesById } from '../../storage/engine/pages.ts';
import { metaTextsOf } from '../../storage/lists/posts-of-type.ts';
import { lastingPart } from './lasting-uid.ts';
import { typeOf } from './site-items.ts';

/** Events that had a UID when the run began. */
export interface UidIndex {
  /** Returns the ids of the events with a UID outside of the trash, the oldest first. */
  readonly find: (db: Database, uid: string) => Promise<readonly number[]>;
  /** Events that this run has found -> the source ids of the items that they are. */
  readonly found: Map<number, string>;
}

const PAGE_SIZE = 2000;

/** Creates an index, which reads all UIDs when it is asked for the first time. */
export function createUidIndex(): UidIndex {
  let idsByUid: Map<string, number[]> | undefined;
  const readAll = async (db: Database) => {
    const ids = new Map<string, number[]>();
    const pages = pagesById(PAGE_SIZE, (after, limit) => metaTextsOf(db, typeOf('event'), CALENDAR_UID, { after, limit }));
    for await (const rows of pages) for (const { id, text } of rows) if (text) addToGroup(ids, lastingPart(text), id);
    return ids;
  };
  return {
    found: new Map(),
    find: async (db, uid) => {
      idsByUid ??= await readAll(db);
      return idsByUid.get(lastingPart(uid)) ?? [];
    },
  };
}

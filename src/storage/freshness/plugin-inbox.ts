import { nowUtc } from '../../wordpress/time.ts';
import type { Database } from '../engine/database.ts';
import type { InboxRow } from '../engine/own-tables.ts';
import type { OptionalLanguages } from '../index/indexed-events.ts';
import type { Change } from '../journal/entries.ts';
import { isInternal, joinWriters, unseenChange } from '../journal/touched.ts';
import { appendByUser, lockChanges, takeOver } from './foreign-changes.ts';
import { arePrintsComplete, type PrintSource, termKeys } from './prints.ts';

/*
 * The inbox: the WordPress plugin (`wordpress-plugin/fasti.php`) inserts a row for each object that a request has
 * changed. A row is a hint: what really changed is found by comparing that object with its print. So a row too many
 * does no harm, and what has no row is found a moment later with everything else.
 */

/** Takes over what the plugin has noted. */
export interface Inbox {
  /**
   * Takes over the oldest notes and removes them, in one transaction; the rest is for the next call. Several processes
   * may do so at once: each change is noted once. Never throws: what can't be taken over now stays.
   *
   * @param newest the highest id of the notes
   * @param languages of the content, as they stand
   */
  readonly drain: (newest: number, languages: OptionalLanguages) => Promise<void>;
}

/** So many notes are taken over in one transaction. */
const AT_ONCE = 500;
/** After a failure the same notes are left alone for so many milliseconds. */
const REST_MS = 1000;

/** `sources`: where the prints of this database come from; undefined: that is not known yet, and the notes stay. */
export function createInbox(
  db: Database,
  now: () => Date,
  sources: (languages: OptionalLanguages) => readonly PrintSource[] | undefined,
): Inbox {
  let failed = { newest: 0, at: Number.NEGATIVE_INFINITY };
  return {
    drain: async (newest, languages) => {
      if (failed.newest === newest && performance.now() - failed.at < REST_MS) return;
      try {
        const from = sources(languages);
        // Before that nobody can tell what was changed. Everything is about to be looked at, and the notes stay.
        if (from && (await arePrintsComplete(db, languages))) return await db.transaction((trx) => drainSome(trx, now(), from, languages));
      } catch {
        // The comparison of everything finds what is not taken over here; `fasti doctor` tells of notes that stay.
      }
      failed = { newest, at: performance.now() };
    },
  };
}

async function drainSome(db: Database, now: Date, sources: readonly PrintSource[], languages: OptionalLanguages): Promise<void> {
  joinWriters(db);
  await lockChanges(db);
  const notes = await db.rows<InboxRow>`SELECT * FROM {fasti_journal_inbox} ORDER BY id LIMIT ${AT_ONCE}`;
  if (notes.length === 0) return;
  const users = new Map(notes.map((note) => [nameOf(note), Number(note.user)]));
  const userOf = (change: Change): number => users.get(nameOf(change)) ?? 0;
  for (const source of sources) {
    const ids = [...new Set(notes.filter(({ kind }) => kind === source.kind).map(({ object }) => Number(object)))];
    const keys = source.kind === 'term' ? await termKeys(db, ids) : ids;
    if (keys.length > 0) await takeOver(db, source, keys, { now, languages, writer: 'wordpress', userOf });
  }
  const others = unseenChanges(notes);
  if (others.length > 0) await appendByUser(db, others, userOf, { writer: 'wordpress', at: nowUtc(now) });
  // Last, so that WordPress waits for as short a time as can be. By their ids: a lower one may still be uncommitted.
  await db.change`DELETE FROM {fasti_journal_inbox} WHERE id IN (${notes.map(({ id }) => Number(id))})`;
}

type Named = Pick<InboxRow, 'kind' | 'type' | 'object'>;

/** Which object it is. Options have no ids. */
const nameOf = ({ kind, type, object }: Named): string => `${kind} ${kind === 'option' ? type : object}`;

/** Changes of users and options, which have no prints: the plugin's word is taken for them. One for each object. */
function unseenChanges(notes: readonly InboxRow[]): Change[] {
  const changes = new Map<string, Change>();
  for (const note of notes) {
    if (note.kind === 'user') changes.set(nameOf(note), unseenChange('user', '', Number(note.object), whatOf(note)));
    if (note.kind === 'option' && !isInternal(note.type)) changes.set(nameOf(note), unseenChange('option', note.type, 0, 'changed'));
  }
  return [...changes.values()];
}

const whatOf = ({ what }: Pick<InboxRow, 'what'>): Change['what'] => (what === 'made' || what === 'removed' ? what : 'changed');

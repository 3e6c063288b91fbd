import { waitAtMost } from '../../host/timeout.ts';
import { utcFromDate } from '../../wordpress/time.ts';
import type { Database } from '../engine/database.ts';
import type { InboxRow } from '../engine/own-tables.ts';
import type { OptionalLanguages } from '../index/indexed-events.ts';
import type { Change } from '../journal/entries.ts';
import { isInternal, joinWriters, nonPublicChange } from '../journal/reported-changes.ts';
import { appendByUser, lockChanges, takeOver } from './foreign-changes.ts';
import { arePrintsComplete, type PrintSource, termKeys } from './prints.ts';

/*
 * The inbox: the WordPress plugin (`wordpress-plugin/fasti.php`) inserts a row for each object that a request has
 * changed. A row is only a hint: the actual change is found by comparing the object with its print. A surplus row
 * therefore does no harm, and a change without a row is found a little later by the full comparison.
 */

/** Takes over the notes of the WordPress plugin. */
export interface Inbox {
  /**
   * Takes over the oldest notes and deletes them, in one transaction; further notes are left for the next call. Several
   * processes may do this at the same time: each change is noted once. Never throws: notes that can't be taken over are
   * kept. Waits only for a short time, and goes on in the background: until then, the changes are found like those that
   * are not noted.
   *
   * @param newest the highest id of the notes
   * @param languages current languages of the content
   */
  readonly drain: (newest: number, languages: OptionalLanguages) => Promise<void>;
}

/** Maximum number of notes that are taken over in one transaction. */
const BATCH_SIZE = 500;
/** Time for which the same notes are not tried again after a failure, in milliseconds. */
const PAUSE_AFTER_FAILURE_MS = 1000;
/** Time after its start for which callers wait for a transaction. */
const MAX_WAIT_MS = 300;

/**
 * Creates the inbox. `sources`: returns the sources of the prints of this database; undefined: they are not known yet,
 * and the notes are kept.
 */
export function createInbox(
  db: Database,
  now: () => Date,
  sources: (languages: OptionalLanguages) => readonly PrintSource[] | undefined,
): Inbox {
  let lastFailure = { newest: 0, at: Number.NEGATIVE_INFINITY };
  let running: { readonly newest: number; readonly startedAt: number; readonly end: Promise<void> } | undefined;

  const drain: Inbox['drain'] = async (newest, languages) => {
    try {
      const from = sources(languages);
      // Without prints, changes cannot be determined. A full comparison is about to run, and the notes are kept until
      // then.
      if (from && (await arePrintsComplete(db, { languages, sources: from })))
        return await db.transaction((trx) => drainSome(trx, now(), from, languages));
    } catch {
      // Changes that are not taken over here are found by the full comparison; `fasti doctor` reports remaining
      // notes.
    }
    lastFailure = { newest, at: performance.now() };
  };
  const start: Inbox['drain'] = (newest, languages) => {
    const end = drain(newest, languages).finally(() => {
      running = undefined;
    });
    running = { newest, startedAt: performance.now(), end };
    return waitAtMost(MAX_WAIT_MS, end);
  };

  return {
    drain: async (newest, languages) => {
      if (lastFailure.newest === newest && performance.now() - lastFailure.at < PAUSE_AFTER_FAILURE_MS) return;
      const present = running;
      if (!present) return start(newest, languages);
      await waitAtMost(Math.max(0, present.startedAt + MAX_WAIT_MS - performance.now()), present.end);
      // It may have begun before the newest notes were there.
      if (!running && present.newest < newest) await start(newest, languages);
    },
  };
}

async function drainSome(db: Database, now: Date, sources: readonly PrintSource[], languages: OptionalLanguages): Promise<void> {
  joinWriters(db);
  await lockChanges(db);
  const notes = await db.rows<InboxRow>`SELECT * FROM {fasti_journal_inbox} ORDER BY id LIMIT ${BATCH_SIZE}`;
  if (notes.length === 0) return;
  const users = new Map(notes.map((note) => [keyOfObject(note), Number(note.user)]));
  const userOf = (change: Change): number => users.get(keyOfObject(change)) ?? 0;
  for (const source of sources) {
    const ids = [...new Set(notes.filter(({ kind }) => kind === source.kind).map(({ object }) => Number(object)))];
    const keys = source.kind === 'term' ? await termKeys(db, ids) : ids;
    if (keys.length > 0) await takeOver(db, source.kind, keys, { sources, now, languages, writer: 'wordpress', userOf });
  }
  const others = unseenChanges(notes);
  if (others.length > 0) await appendByUser(db, others, userOf, { writer: 'wordpress', at: utcFromDate(now) });
  // The notes are deleted last, so that WordPress waits as briefly as possible. They are deleted by id, since a lower
  // id may still be uncommitted.
  await db.change`DELETE FROM {fasti_journal_inbox} WHERE id IN (${notes.map(({ id }) => Number(id))})`;
}

type NotedObject = Pick<InboxRow, 'kind' | 'type' | 'object'>;

/** Returns a key for the object of a note. Options have no ids. */
const keyOfObject = ({ kind, type, object }: NotedObject): string => `${kind} ${kind === 'option' ? type : object}`;

/**
 * Returns the changes of users and options as the plugin noted them, since these have no prints. One for each object.
 */
function unseenChanges(notes: readonly InboxRow[]): Change[] {
  const changes = new Map<string, Change>();
  for (const note of notes) {
    if (note.kind === 'user') changes.set(keyOfObject(note), nonPublicChange('user', '', Number(note.object), changeKindOf(note)));
    if (note.kind === 'option' && !isInternal(note.type))
      changes.set(keyOfObject(note), nonPublicChange('option', note.type, 0, 'changed'));
  }
  return [...changes.values()];
}

const changeKindOf = ({ what }: Pick<InboxRow, 'what'>): Change['what'] => (what === 'made' || what === 'removed' ? what : 'changed');

import type { Zone } from '../../wordpress/zones.ts';
import { lastingUid } from '../items/lasting-uid.ts';
import type { Part } from './components.ts';
import { type FileFacts, readFileFacts } from './file-facts.ts';

/*
 * UIDs of The Events Calendar, which Fasti writes too: `{id}-{start}-{end}@{host}`. They change whenever the event
 * moves, so that only `{id}@{host}` identifies it.
 */

/** Facts about a file, and the lasting names of its events. */
export interface CalendarFacts extends FileFacts {
  /** Returns what identifies the event of a UID, as long as the event exists: the UID, or the lasting part of it. */
  readonly lastingName: (uid: string, calendar: number) => string;
}

/** Scans a file as `readFileFacts` does, and finds the UIDs that contain the times of their events. */
export async function readCalendarFacts(parts: AsyncIterable<Part>, site: Zone): Promise<CalendarFacts> {
  const ownCalendars = new Set<number>();
  const uidsByName = new Map<string, string>();
  const sharedNames = new Set<string>();
  const addUid = (uid: string) => {
    const name = lastingUid(uid);
    if (name === undefined) return;
    if ((uidsByName.get(name) ?? uid) === uid) uidsByName.set(name, uid);
    else sharedNames.add(name);
  };
  async function* withNotes(): AsyncGenerator<Part> {
    for await (const part of parts) {
      if (part.is === 'property' && isOwnWriter(part.text)) ownCalendars.add(part.calendar);
      if (part.is === 'component' && part.name === 'VEVENT')
        addUid((part.lines.find(({ text }) => /^UID[:;]/i.test(text))?.text ?? '').replace(/^[^:]*:/, '').trim());
      yield part;
    }
  }
  const facts = await readFileFacts(withNotes(), site);
  return {
    ...facts,
    // Other programs write UIDs of this form too, for instance of a date, a time and a number.
    lastingName: (uid, calendar) => {
      const name = ownCalendars.has(calendar) ? lastingUid(uid) : undefined;
      return name === undefined || sharedNames.has(name) ? uid : name;
    },
  };
}

/** Whether a property says that The Events Calendar or Fasti wrote the calendar. */
const isOwnWriter = (text: string): boolean => /^PRODID[;:]/i.test(text) && /\/\/Fasti\/\/| - ECPv[\w.-]{1,40}\/\/NONSGML/.test(text);

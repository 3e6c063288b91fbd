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
  /** Whether The Events Calendar itself wrote a calendar. */
  readonly isOfPlugin: (calendar: number) => boolean;
}

/** Scans a file as `readFileFacts` does, and finds the UIDs that contain the times of their events. */
export async function readCalendarFacts(parts: AsyncIterable<Part>, site: Zone): Promise<CalendarFacts> {
  const [ownCalendars, pluginCalendars] = [new Set<number>(), new Set<number>()];
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
      const writer = part.is === 'property' ? writerOf(part.text) : undefined;
      if (writer !== undefined) ownCalendars.add(part.calendar);
      if (writer === 'plugin') pluginCalendars.add(part.calendar);
      if (part.is === 'component' && part.name === 'VEVENT')
        addUid((part.lines.find(({ text }) => /^UID[:;]/i.test(text))?.text ?? '').replace(/^[^:]*:/, '').trim());
      yield part;
    }
  }
  const facts = await readFileFacts(withNotes(), site);
  return {
    ...facts,
    isOfPlugin: (calendar) => pluginCalendars.has(calendar),
    // Other programs write UIDs of this form too, for instance of a date, a time and a number.
    lastingName: (uid, calendar) => {
      const name = ownCalendars.has(calendar) ? lastingUid(uid) : undefined;
      return name === undefined || sharedNames.has(name) ? uid : name;
    },
  };
}

/** Returns whether The Events Calendar or Fasti wrote the calendar, if a property says that one of them did. */
function writerOf(text: string): 'fasti' | 'plugin' | undefined {
  if (!/^PRODID[;:]/i.test(text)) return undefined;
  if (text.includes('//Fasti//')) return 'fasti';
  return / - ECPv[\w.-]{1,40}\/\/NONSGML/.test(text) ? 'plugin' : undefined;
}

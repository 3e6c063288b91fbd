import { type LossEntry, lossEntry, type ReportedKind } from '../items/report.ts';
import type { JsonObject } from './site-client.ts';

/** Stages of a walk that read posts. */
export type PostStage = 'venues' | 'organizers' | 'events';
export const KINDS = { venues: 'venue', organizers: 'organizer', events: 'event' } as const satisfies Record<PostStage, ReportedKind>;

/** Returns the name of a record for reports: its title, or its id if it has none. */
export function nameOf({ title, venue, organizer, id }: JsonObject): string {
  const name = [title, organizer, venue].find((text) => typeof text === 'string' && text !== '');
  return String(name ?? id);
}

/** Returns an entry that reports a fault of a record. `place` is its stage and its id: `events/7`. */
export const recordLoss = (stage: PostStage, reason: string, of: string, place: string, detail?: string): LossEntry =>
  lossEntry({ reason, kind: KINDS[stage], of, place, detail });

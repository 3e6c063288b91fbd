import { CANCELED } from '../../kinds/events/metas.ts';
import { tableOf } from '../../wordpress/table.ts';

/** States of events in schema.org's words, and what the calendar stores for them. */
export const STATUSES: ReadonlyMap<string, string> = tableOf({
  EventCancelled: CANCELED,
  EventPostponed: 'postponed',
  EventMovedOnline: 'moved-online',
});

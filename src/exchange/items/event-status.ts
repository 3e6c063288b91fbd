import { CANCELED } from '../../kinds/events/metas.ts';
import { tableOf } from '../../wordpress/table.ts';

/** Event states in schema.org's terms -> the values that the calendar stores for them. */
export const STATUSES: ReadonlyMap<string, string> = tableOf({
  EventCancelled: CANCELED,
  EventPostponed: 'postponed',
  EventMovedOnline: 'moved-online',
});

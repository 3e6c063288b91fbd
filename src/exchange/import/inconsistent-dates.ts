import { occurrence } from '../../calendar/dates.ts';
import { storedDates } from '../../kinds/events/dates.ts';
import type { Metas } from '../../wordpress/rows.ts';
import { nameOf, type PostItem } from '../items/items.ts';
import { addLoss } from '../items/report.ts';
import type { Work } from './run.ts';

/** Reports an event whose dates, as they will be stored, yield no row for lists. */
export function reportInconsistentDates({ tally }: Work, item: PostItem, metas: Metas): void {
  if (item.kind !== 'event' || occurrence(storedDates({ metas })) !== null) return;
  addLoss(tally, { reason: 'dates-unsound', kind: 'event', of: nameOf(item), place: item.place });
}

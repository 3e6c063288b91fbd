import type { ImportRow } from '../../storage/engine/own-tables.ts';
import { unixFromDate, unixFromText } from '../../wordpress/time.ts';

/** Seconds without progress after which a run counts as stopped. */
const STOPPED_AFTER_S = 120;

/** Whether an import from a source is running, according to its row. A time in the future comes from a wrong clock. */
export const isImportRunning = ({ open, touched_at }: Pick<ImportRow, 'open' | 'touched_at'>, now: Date): boolean =>
  open === 1 && Math.abs(unixFromDate(now) - unixFromText(touched_at)) <= STOPPED_AFTER_S;

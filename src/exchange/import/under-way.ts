import type { ImportRow } from '../../storage/engine/own-tables.ts';
import { unixFromDate, unixFromText } from '../../wordpress/time.ts';

/** A run that has noted nothing for this long has stopped. */
const SILENT_S = 120;

/** Whether a run of a source goes on at this moment, as far as its row tells. */
export const isUnderWay = ({ open, touched_at }: Pick<ImportRow, 'open' | 'touched_at'>, now: Date): boolean =>
  open === 1 && unixFromDate(now) - unixFromText(touched_at) <= SILENT_S;

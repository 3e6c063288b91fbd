import { parsePhpDate } from '../../wordpress/php/date.ts';
import { parseZone, UTC } from '../../wordpress/zones.ts';
import { accept, type Grammar, type Hint, isEmpty, LENGTHS, numeric, type Plain, REFUSED, wrongType } from './grammar.ts';

/** The hint of everything that reads a date with a time. */
export const MOMENT_HINT: Hint = { reason: 'not-a-date', example: '2026-12-31 21:00' };

/**
 * A moment: a Unix time stamp or what PHP's `strtotime` understands. Kept as written: it is evaluated in the zone that
 * applies.
 */
export const time: Plain<string | number> = {
  longest: LENGTHS.date,
  hint: MOMENT_HINT,
  json: { type: 'string' },
  read: (raw) => (typeof raw === 'number' ? accept(raw) : timeText.read(raw)),
};

/** The same where a JSON number is refused for its type. */
export const timeText: Plain<string> = {
  longest: LENGTHS.date,
  hint: MOMENT_HINT,
  json: { type: 'string' },
  read: (raw) => {
    if (typeof raw === 'number') return wrongType('string');
    return typeof raw === 'string' && raw.trim() !== '' && isTime(raw) ? accept(raw) : REFUSED;
  },
};

const ANY_MOMENT = new Date(0);

/** Whether a text is a moment in some zone: a number, or what `strtotime` understands. */
export const isTime = (raw: string): boolean => numeric(raw) !== undefined || parsePhpDate(raw, ANY_MOMENT, UTC) !== null;

/** A time zone: IANA name, abbreviation, offset, or WordPress's `UTC+5.5` (decision D29 sets the range). */
export const timezone: Grammar<string> = {
  longest: LENGTHS.word,
  hint: { reason: 'not-a-timezone', example: 'Europe/Rome' },
  json: { type: 'string' },
  blank: isEmpty,
  read: (raw) => (typeof raw === 'string' && parseZone(raw) !== null ? accept(raw) : REFUSED),
};

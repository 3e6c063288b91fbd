import { parsePhpDate } from '../../wordpress/php/date.ts';
import { parseZone, UTC } from '../../wordpress/zones.ts';
import { accept, type Grammar, type Hint, isEmpty, MAX_BYTES, numeric, type Plain, REFUSED, wrongType } from './grammar.ts';

/** The hint of all grammars for a date with a time. */
export const MOMENT_HINT: Hint = { reason: 'not-a-date', example: '2026-12-31 21:00' };

/**
 * A moment: a Unix timestamp or a text that PHP's `strtotime` understands. Kept as written and evaluated later, in the
 * time zone that applies.
 */
export const time: Plain<string | number> = {
  maxBytes: MAX_BYTES.date,
  hint: MOMENT_HINT,
  json: { type: 'string' },
  read: (raw) => (typeof raw === 'number' ? accept(raw) : timeText.read(raw)),
};

/** A moment as a text; a JSON number is refused because of its type. */
export const timeText: Plain<string> = {
  maxBytes: MAX_BYTES.date,
  hint: MOMENT_HINT,
  json: { type: 'string' },
  read: (raw) => {
    if (typeof raw === 'number') return wrongType('string');
    return typeof raw === 'string' && raw.trim() !== '' && isTime(raw) ? accept(raw) : REFUSED;
  },
};

const ANY_MOMENT = new Date(0);

/** Returns whether a text is a moment in some time zone: a number, or a text that `strtotime` understands. */
export const isTime = (raw: string): boolean => numeric(raw) !== undefined || parsePhpDate(raw, ANY_MOMENT, UTC) !== null;

/** A time zone: IANA name, abbreviation, offset, or WordPress's `UTC+5.5` (decision D29 sets the range). */
export const timezone: Grammar<string> = {
  maxBytes: MAX_BYTES.word,
  hint: { reason: 'not-a-timezone', example: 'Europe/Rome' },
  json: { type: 'string' },
  isBlank: isEmpty,
  read: (raw) => (typeof raw === 'string' && parseZone(raw) !== null ? accept(raw) : REFUSED),
};

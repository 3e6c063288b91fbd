import { isTruthy } from '../../calendar/settings.ts';
import { LOCAL_DATES } from '../../calendar/window.ts';
import { accept, type Grammar, isEmpty, MAX_BYTES, type Plain, REFUSED, wrongType } from './grammar.ts';

/** A boolean: true/false, 1/0, yes/no, on/off in any case (decision D31). */
export const flag: Plain<boolean> = {
  maxBytes: MAX_BYTES.word,
  hint: { reason: 'not-yes-or-no', example: true },
  json: { type: 'boolean' },
  read: (raw) => {
    if (typeof raw === 'boolean') return accept(raw);
    if (raw === 1 || raw === 0) return accept(raw === 1);
    const value = typeof raw === 'string' ? yesOrNo(raw) : undefined;
    return value === undefined ? wrongType('boolean') : accept(value);
  },
};

/** Returns whether a text means yes; undefined if it means neither yes nor no (decision D31). */
export function yesOrNo(text: string): boolean | undefined {
  if (/^(true|1|yes|on)$/i.test(text)) return true;
  return /^(false|0|no|off)$/i.test(text) ? false : undefined;
}

/** A boolean sent as text: any text that does not mean yes means no, except the empty one (`tribe_is_truthy`). */
export const flagText: Plain<boolean> = {
  maxBytes: MAX_BYTES.word,
  hint: { reason: 'not-yes-or-no', example: true },
  json: { type: ['string', 'boolean'] },
  read: (raw) => {
    if (typeof raw === 'boolean') return accept(raw);
    if (raw === 0 || raw === 1) return accept(raw === 1);
    return typeof raw === 'string' ? accept(isTruthy(raw)) : isEmpty(raw) ? wrongType('string') : REFUSED;
  },
};

/**
 * Whether the given times are exact: a text, which means yes only if it says so; `local`: they are exact and in the
 * site's local time.
 */
export const strictness: Grammar<boolean | typeof LOCAL_DATES> = {
  maxBytes: MAX_BYTES.word,
  hint: { reason: 'not-yes-or-no', example: true },
  json: { type: ['string', 'boolean'] },
  read: (raw) => (raw === '' ? REFUSED : raw === LOCAL_DATES ? accept(LOCAL_DATES) : flagText.read(raw)),
};

/** Any value, evaluated as true or false. */
export const truthyFlag: Grammar<boolean> = {
  maxBytes: MAX_BYTES.word,
  hint: { reason: 'not-yes-or-no', example: true },
  json: {},
  read: (raw) => accept(typeof raw === 'string' ? isTruthy(raw) : !isEmpty(raw)),
};

import { isTruthy } from '../../calendar/settings.ts';
import { LOCAL } from '../../calendar/window.ts';
import { accept, type Grammar, isEmpty, LENGTHS, type Plain, REFUSED, wrongType } from './grammar.ts';

/** true/false, 1/0, yes/no, on/off in any case (decision D31). */
export const flag: Plain<boolean> = {
  longest: LENGTHS.word,
  hint: { reason: 'not-yes-or-no', example: true },
  json: { type: 'boolean' },
  read: (raw) => {
    if (typeof raw === 'boolean') return accept(raw);
    if (raw === 1 || raw === 0) return accept(raw === 1);
    if (typeof raw === 'string' && /^(true|1|yes|on)$/i.test(raw)) return accept(true);
    if (typeof raw === 'string' && /^(false|0|no|off)$/i.test(raw)) return accept(false);
    return wrongType('boolean');
  },
};

/** A boolean given as text: what does not mean yes means no, as long as it is not empty (`tribe_is_truthy`). */
export const flagText: Plain<boolean> = {
  longest: LENGTHS.word,
  hint: { reason: 'not-yes-or-no', example: true },
  json: { type: ['string', 'boolean'] },
  read: (raw) => {
    if (typeof raw === 'boolean') return accept(raw);
    if (raw === 0 || raw === 1) return accept(raw === 1);
    return typeof raw === 'string' ? accept(isTruthy(raw)) : isEmpty(raw) ? wrongType('string') : REFUSED;
  },
};

/**
 * Whether given times are meant exactly: any text but the empty one, yes only where it says so; `local` where they are
 * by the site's clock.
 */
export const strictness: Grammar<boolean | typeof LOCAL> = {
  longest: LENGTHS.word,
  hint: { reason: 'not-yes-or-no', example: true },
  json: { type: ['string', 'boolean'] },
  read: (raw) => (raw === '' ? REFUSED : raw === LOCAL ? accept(LOCAL) : flagText.read(raw)),
};

/** Anything at all that means yes or no. */
export const flagAnything: Grammar<boolean> = {
  longest: LENGTHS.word,
  hint: { reason: 'not-yes-or-no', example: true },
  json: {},
  read: (raw) => accept(typeof raw === 'string' ? isTruthy(raw) : !isEmpty(raw)),
};

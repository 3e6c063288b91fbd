import { type Grammar, MAX_BYTES, REFUSED } from './grammars/grammar.ts';
import { oneOf, positiveInteger, text } from './grammars/grammars.ts';
import { kinds } from './index.ts';
import type { KindName } from './kind-names.ts';
import type { Params } from './param.ts';

const NAMES = kinds.map(({ name }) => name);

/** Names of kinds, separated by commas or as a list. */
export const kindNames: Grammar<readonly KindName[]> = {
  maxBytes: MAX_BYTES.word,
  hint: { reason: 'not-one-of', values: { values: NAMES.join(', ') }, example: 'event,venue' },
  json: { type: 'array', items: { type: 'string', enum: NAMES } },
  read: (raw) => {
    const names = (Array.isArray(raw) ? raw : String(raw).split(',')).map((name) => String(name).trim());
    const knownNames = NAMES.filter((name) => names.includes(name));
    return names.every((name) => NAMES.some((kindName) => kindName === name)) ? { value: knownNames } : REFUSED;
  },
};

export const DEFAULT_CHANGES = 100;
/** Maximum number of journal entries that one answer covers. */
export const MAX_CHANGES = 500;

/** Parameters of the routes of changes. */
export const CHANGES_PARAMS = {
  since: { grammar: text(MAX_BYTES.word) },
  kinds: { grammar: kindNames },
  include: { grammar: oneOf(['records'], 'value') },
  limit: { grammar: positiveInteger, fallback: DEFAULT_CHANGES },
} satisfies Params;

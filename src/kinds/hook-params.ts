import { fetchableUrl } from '../wordpress/web-url.ts';
import { kindNames } from './changes-params.ts';
import { type Grammar, LENGTHS } from './grammars/grammar.ts';
import { anyId, oneOf, positive } from './grammars/grammars.ts';
import type { Params } from './param.ts';

/**
 * Whether messages can be sent to an address at all: one without white space and control characters, since it is shown
 * as it was given. What it leads to is looked at when they are sent.
 */
export const isHookUrl = (text: string): boolean =>
  text.length <= LENGTHS.url && !/[\s\p{Cc}\p{Bidi_Control}]/u.test(text) && fetchableUrl(text) !== undefined;

const hookUrl: Grammar<string> = {
  longest: LENGTHS.url,
  hint: { reason: 'not-a-web-address', example: 'https://example.org/hook' },
  json: { type: 'string', format: 'uri' },
  read: (raw) => (typeof raw === 'string' && isHookUrl(raw) ? { value: raw } : { fault: { stage: 'value' } }),
};

/** How many deliveries are shown unless another number is asked for. */
export const USUAL_DELIVERIES = 50;
/** The most deliveries that one answer shows. */
export const MOST_DELIVERIES = 500;

const ID = { id: { grammar: anyId, required: true } } satisfies Params;
/** None named: all of them. */
const KINDS = { kinds: { grammar: kindNames, empty: 'clears' } } as const;

/** What the routes of webhooks take. */
export const HOOK_PARAMS = {
  create: { url: { grammar: hookUrl, required: true }, ...KINDS, user: { grammar: positive } },
  one: ID,
  change: { ...ID, ...KINDS, state: { grammar: oneOf(['active', 'paused'], 'enum') } },
  deliveries: { ...ID, limit: { grammar: positive, fallback: USUAL_DELIVERIES } },
} satisfies Readonly<Record<string, Params>>;

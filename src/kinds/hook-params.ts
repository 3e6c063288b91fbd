import { fetchableUrl } from '../wordpress/web-url.ts';
import { kindNames } from './changes-params.ts';
import { type Grammar, MAX_BYTES, REFUSED } from './grammars/grammar.ts';
import { anyId, oneOf, positiveInteger } from './grammars/grammars.ts';
import type { Params } from './param.ts';

/**
 * Returns whether messages can be sent to a URL. It may not contain white space or control characters, since it is
 * shown as given. Where it leads to is checked when messages are sent.
 */
export const isHookUrl = (text: string): boolean =>
  text.length <= MAX_BYTES.url && !/[\s\p{Cc}\p{Bidi_Control}]/u.test(text) && fetchableUrl(text) !== undefined;

const hookUrl: Grammar<string> = {
  maxBytes: MAX_BYTES.url,
  hint: { reason: 'not-a-web-address', example: 'https://example.org/hook' },
  json: { type: 'string', format: 'uri' },
  read: (raw) => (typeof raw === 'string' && isHookUrl(raw) ? { value: raw } : REFUSED),
};

/** Default number of deliveries in an answer. */
export const DEFAULT_DELIVERIES = 50;
/** Maximum number of deliveries in an answer. */
export const MAX_DELIVERIES = 500;

const ID = { id: { grammar: anyId, required: true } } satisfies Params;
/** If no kinds are named, all kinds are meant. */
const KINDS = { kinds: { grammar: kindNames, empty: 'clears' } } as const;

/** Parameters of the routes of webhooks. */
export const HOOK_PARAMS = {
  create: { url: { grammar: hookUrl, required: true }, ...KINDS, user: { grammar: positiveInteger } },
  one: ID,
  change: { ...ID, url: { grammar: hookUrl }, ...KINDS, state: { grammar: oneOf(['active', 'paused'], 'enum') } },
  deliveries: { ...ID, limit: { grammar: positiveInteger, fallback: DEFAULT_DELIVERIES } },
} satisfies Readonly<Record<string, Params>>;

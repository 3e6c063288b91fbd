import type { Params } from '../kinds/param.ts';
import { shorten } from '../records/explanation.ts';
import { hasLostParent, LOST_PARENT } from '../records/lost-parent.ts';
import { type UnknownField, unknownFields, unknownNames } from '../records/unknown-fields.ts';
import { unknownTerms } from '../records/unknown-terms.ts';
import { unknownFieldSentence, unknownTermSentence } from '../refusals.ts';
import type { Site } from '../site.ts';
import { sayIn } from '../texts.ts';
import { COMMON_PARAMS } from './common-params.ts';
import { mergeParams, type RawParams } from './input.ts';
import type { ReceivedRequest } from './receive.ts';
import type { RouteMatch } from './routing.ts';

/** Maximum length of one warning, in characters. */
const MAX_WARNING_LENGTH = 100;

/** Whether requests of a method have fields that a warning may be about. */
export const mayWarn = (method: string): boolean => ['POST', 'PUT', 'PATCH'].includes(method);

/** An answered request: the endpoint, all parameters that it accepts, and the body of the answer. */
interface Answered {
  readonly match: RouteMatch;
  readonly params: Params;
  readonly answer: unknown;
  /** Whether to warn of unknown fields. Clients of `wp/v2` send more fields than the API knows. */
  readonly namesUnknownFields: boolean;
}

/**
 * Returns the header that warns of what a write has silently left out, as WordPress does: unknown fields such as
 * `titel`, which are probably mistakes, unknown terms, and a parent below the category itself
 * (`wp_check_term_hierarchy_for_loops`).
 * The standard header `Warning` is obsolete (RFC 9111, 5.5).
 */
export function warningHeader({ texts }: Site, { incoming, caller, body }: ReceivedRequest, answered: Answered): Record<string, string> {
  const { query, method } = incoming;
  if (!mayWarn(method)) return {};
  const raw = mergeParams({ query, body, path: {}, method });
  const say = sayIn(texts, caller.language);
  const fields = answered.namesUnknownFields ? unknownFieldsIn(raw, answered) : [];
  const { kind } = answered.match.route;
  const warnings = [
    ...fields.map((field) => unknownFieldSentence(say, { ...field, name: shorten(field.name) })),
    ...(kind ? unknownTerms(kind, raw, answered.answer) : []).map((term) => unknownTermSentence(say, term)),
    ...(hasLostParent(raw.parent, answered.answer) ? [say(`reasons:${LOST_PARENT}`)] : []),
  ].map(headerText);
  return warnings.length > 0 ? { 'X-Fasti-Warning': warnings.join(', ') } : {};
}

function unknownFieldsIn(raw: RawParams, { match: { route, endpoint }, params }: Answered): UnknownField[] {
  const sentParams = Object.fromEntries(Object.entries(raw).filter(([name]) => !COMMON_PARAMS.includes(name)));
  if (route.kind) return unknownFields(route.kind, params, sentParams);
  return unknownNames(Object.keys(sentParams), new Set(Object.keys(endpoint?.answer?.shape ?? {})), params);
}

/** Converts a text to printable ASCII without commas, as needed in a header that is a list. */
const headerText = (text: string): string => text.replace(/[^\x20-\x2b\x2d-\x7e]/g, '?').slice(0, MAX_WARNING_LENGTH);

import type { Params } from '../kinds/param.ts';
import { shorten } from '../records/explanation.ts';
import { unknownFields, unknownNames } from '../records/unknown-fields.ts';
import { unknownFieldSentence } from '../refusals.ts';
import type { Site } from '../site.ts';
import { sayIn } from '../texts.ts';
import { COMMON_PARAMS } from './common-params.ts';
import { mergeParams } from './input.ts';
import type { ReceivedRequest } from './receive.ts';
import type { RouteMatch } from './routing.ts';

/** Maximum length of one warning, in characters. */
const MAX_WARNING_LENGTH = 100;

/** Whether requests of a method have fields that a warning may be about. */
export const mayWarn = (method: string): boolean => ['POST', 'PUT', 'PATCH'].includes(method);

/**
 * Returns the header that warns of unknown fields in a write, such as `titel`. They have no effect, as in WordPress,
 * but are probably mistakes. The standard header `Warning` is obsolete (RFC 9111, 5.5). `params`: all parameters that
 * the endpoint accepts.
 */
export function warningHeader(
  { texts }: Site,
  { incoming, caller, body }: ReceivedRequest,
  { route: { kind }, endpoint }: RouteMatch,
  params: Params,
): Record<string, string> {
  const { query, method } = incoming;
  if (!mayWarn(method)) return {};
  const raw = mergeParams({ query, body, path: {}, method });
  const sentParams = Object.fromEntries(Object.entries(raw).filter(([name]) => !COMMON_PARAMS.includes(name)));
  const say = sayIn(texts, caller.language);
  const shownNames = new Set(Object.keys(endpoint?.answer?.shape ?? {}));
  const fields = kind ? unknownFields(kind, params, sentParams) : unknownNames(Object.keys(sentParams), shownNames, params);
  const warnings = fields.map((field) => headerText(unknownFieldSentence(say, { ...field, name: shorten(field.name) })));
  return warnings.length > 0 ? { 'X-Fasti-Warning': warnings.join(', ') } : {};
}

/** Converts a text to printable ASCII without commas, as needed in a header that is a list. */
const headerText = (text: string): string => text.replace(/[^\x20-\x2b\x2d-\x7e]/g, '?').slice(0, MAX_WARNING_LENGTH);

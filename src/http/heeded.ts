import { LANGUAGE_NAMES } from './language.ts';
import { WRAPPING_NAMES } from './protocol.ts';

/** Parameters that count on all routes, declared or not. */
export const ALWAYS_HEEDED: readonly string[] = [...WRAPPING_NAMES, ...LANGUAGE_NAMES, 'context', 'password', 'rest_route'];

import { LANGUAGE_NAMES } from './language.ts';
import { WRAPPING_NAMES } from './protocol.ts';

/** Parameters that every route takes, whether it declares them or not. */
export const COMMON_PARAMS: readonly string[] = [...WRAPPING_NAMES, ...LANGUAGE_NAMES, 'context', 'password', 'rest_route'];

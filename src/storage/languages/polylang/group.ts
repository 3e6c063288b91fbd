import { memoize } from '../../../memo.ts';
import { isRecord } from '../../../objects.ts';
import { parseSerialized } from '../../../wordpress/php/serialized.ts';

/**
 * Parses the members of a group from the description of its term: code to id. Polylang also stores other data there
 * (`sync`), and ids as integers or as texts. An unreadable description gives no members.
 */
export const membersIn = memoize((description): ReadonlyMap<string, number> => {
  const stored = parseSerialized(description);
  if (!isRecord(stored)) return new Map();
  return new Map(
    Object.entries(stored).flatMap(([code, id]) => {
      const number = typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : id;
      return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? [[code, number] as const] : [];
    }),
  );
});

import { isObject, isRecord } from '../../objects.ts';
import type { PostKind, PostValues } from '../kind.ts';
import type { LinkedKindName } from '../kind-names.ts';
import { type Grammar, type Hint, isEmpty, isEmptyList, MAX_BYTES, MAX_ITEMS, MAX_NEW_ITEMS, REFUSED, TOO_MANY_NEW } from './grammar.ts';
import { positiveInteger } from './grammars.ts';
import { hasNoId, isNumbered, isUnchosen, toItems } from './lists.ts';

/** A venue or organizer as a request names it: an existing one, or the parameters of a new one. */
export type RequestedLink = { readonly id: number } | { readonly create: Readonly<Record<string, unknown>> };

/** A venue or organizer after the checks: an existing one that may be linked, or a new one with accepted parameters. */
export type LinkPlan = { readonly id: number } | NewRecord;

const NEW_RECORD = Symbol('new record');

/** A new venue or organizer that a record brings along. The mark is one that no request can send. */
export interface NewRecord {
  readonly [NEW_RECORD]: true;
  readonly kind: PostKind;
  readonly values: PostValues;
}

/** Returns the plan of a new record of a kind, with values that the kind's fields have accepted. */
export const newRecord = (kind: PostKind, values: PostValues): NewRecord => ({ [NEW_RECORD]: true, kind, values });

/** Whether a value of a record, which may be one that was passed on as sent, is a new record. */
export const isNewRecord = (value: unknown): value is NewRecord => isObject(value) && NEW_RECORD in value;

/**
 * Records to link: ids, `{id}` or parameters of new records, as a single value, an array or comma-separated ids
 * (decision D5). An empty array, or one of choices that were not made, is not an empty value but a list of none:
 * records show an empty array too if the caller does not see the linked ones.
 */
export function requestedLinks(refersTo: LinkedKindName): Grammar<readonly RequestedLink[], readonly LinkPlan[]> {
  return {
    // The parameters of new records have their own limits.
    maxBytes: MAX_BYTES.content,
    maxListBytes: MAX_BYTES.ids,
    hint: { ...HINTS[refersTo], example: 12 },
    json: { type: 'array', items: { type: ['integer', 'object'] } },
    alsoAccepts: [{ type: ['integer', 'string', 'object'] }],
    refersTo,
    isBlank: (raw) => !isEmptyList(raw) && isEmpty(raw),
    read: (raw) => {
      if (hasMembers(raw) && membersOf(raw).every(isUnchosen)) return { value: [] };
      const items = membersOf(raw).filter((item) => !isUnchosen(item));
      if (items.length === 0 || items.length > MAX_ITEMS || typeof raw === 'boolean') return REFUSED;
      const links: RequestedLink[] = [];
      for (const item of items) {
        const link = requestedLink(item);
        if (!link) return REFUSED;
        links.push(link);
      }
      return links.filter((link) => 'create' in link).length > MAX_NEW_ITEMS ? { fault: TOO_MANY_NEW } : { value: links };
    },
  };
}

/** Besides naming a missing record, these values can be wrong in themselves: a new record with refused fields. */
const HINTS = {
  venue: { reason: 'not-a-venue', unknownReason: 'venue-not-linked' },
  organizer: { reason: 'not-an-organizer', unknownReason: 'organizer-not-linked' },
} as const satisfies Readonly<Record<string, Pick<Hint, 'reason' | 'unknownReason'>>>;

const hasMembers = (raw: unknown): boolean => Array.isArray(raw) || (isObject(raw) && isNumbered(raw));

const membersOf = (raw: unknown): unknown[] => (isRecord(raw) ? (isNumbered(raw) ? Object.values(raw) : [raw]) : toItems(raw));

/** Reads one item; undefined: refused. */
function requestedLink(item: unknown): RequestedLink | undefined {
  if (isRecord(item) && hasNoId(item)) {
    const { id: _, ...values } = item;
    return { create: values };
  }
  const id = positiveInteger.read(isRecord(item) ? item.id : item).value;
  return id === undefined ? undefined : { id };
}

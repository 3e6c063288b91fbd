import { isObject, isRecord } from '../../objects.ts';
import { REGISTERED_STATUSES } from '../../wordpress/status.ts';
import { percentDecoded } from '../../wordpress/web-url.ts';
import type { TermKindName } from '../kind-names.ts';
import { accept, type Grammar, isEmpty, MAX_BYTES, MAX_ITEMS, REFUSED, type Reference } from './grammar.ts';
import { positiveInteger } from './grammars.ts';

/** The status in the URLs of a list that was requested without a status and contains more than published records. */
export const ANY_STATUS = 'any';

/**
 * The statuses that a list is asked for, read as a list of names. Callers who may not edit posts of the kind may only
 * name `publish`. An empty text means `publish`, and `private` if the caller may read private posts. `any` counts as
 * not sent in the URLs of the lists themselves, which always contain `page` (decision D21); elsewhere it is refused, as
 * in the reference.
 */
export function listStatus(capabilities: string): Grammar<readonly string[]> {
  return {
    maxBytes: MAX_BYTES.word,
    maxListBytes: MAX_BYTES.ids,
    hint: { reason: 'not-a-listed-status', example: 'publish' },
    json: { type: 'string' },
    alsoAccepts: [{ type: 'array', items: { type: 'string' } }],
    read: (raw, can, params) => {
      if (raw === ANY_STATUS && params?.page !== undefined) return {};
      if (!can(`edit_${capabilities}`)) return isPublishAlone(raw) ? accept(['publish']) : REFUSED;
      if (raw === '') return accept(can('read_private_posts') ? ['publish', 'private'] : ['publish']);
      const names = toItems(raw);
      return names.length > 0 && names.every((name) => REGISTERED_STATUSES.includes(String(name))) ? accept(names.map(String)) : REFUSED;
    },
  };
}

/**
 * Returns whether only `publish` is named, as a text or in an array; as in the reference, not in a comma-separated
 * text.
 */
const isPublishAlone = (raw: unknown): boolean => {
  const names = Array.isArray(raw) ? raw : [raw];
  return names.length > 0 && names.every((name) => name === 'publish');
};

/** Returns whether an item of a list is empty: such items are ignored (decision D49). */
const isEmptyMember = (item: unknown): boolean => item === '' || item === null;

/**
 * Returns the items of a list given as an array or a comma-separated text. Like WordPress, it percent-decodes the text
 * once more.
 */
export function toItems(raw: unknown): unknown[] {
  if (Array.isArray(raw)) return raw;
  if (typeof raw === 'string') {
    return percentDecoded(raw)
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  }
  if (typeof raw === 'number') return [raw];
  return isObject(raw) ? Object.values(raw) : [];
}

/**
 * Returns whether an object is a list with numbered items, as forms (`organizer[0][organizer]=Anna`) and PHP after
 * `array_filter` send it.
 */
export const isNumbered = (raw: object): boolean => Object.keys(raw).length > 0 && Object.keys(raw).every((key) => /^\d+$/.test(key));

/** One or more ids. With `refersTo`, all of them must exist. */
export function ids(refersTo?: Reference): Grammar<readonly number[]> {
  return {
    maxBytes: MAX_BYTES.word,
    maxListBytes: MAX_BYTES.ids,
    hint: { reason: 'not-ids', example: '12,15' },
    json: { type: 'array', items: { type: 'integer' } },
    alsoAccepts: [{ type: ['integer', 'string'] }, { type: 'array', items: { type: 'string' } }],
    ...(refersTo ? { refersTo } : {}),
    read: (raw) => {
      const items = toItems(raw).filter((item) => !isEmptyMember(item));
      if (items.length === 0 || items.length > MAX_ITEMS) return REFUSED;
      const values = items.flatMap((item) => positiveInteger.read(item).value ?? []);
      return values.length === items.length ? accept(values) : REFUSED;
    },
  };
}

/** One or more existing terms by id, slug or name. */
export const existingTerms = (refersTo: TermKindName): Grammar<readonly (string | number)[], readonly number[]> => ({
  ...termTokens,
  refersTo,
});

/**
 * The same for parameters of which only ids have an effect, as in the reference. URLs of the list repeat other values
 * as slugs.
 */
export const termsById = (refers: TermKindName): Grammar<readonly (string | number)[]> => ({
  ...termTokens,
  refersTo: refers,
  use: 'numbers',
});

const termTokens: Omit<Grammar<readonly (string | number)[]>, 'accepted'> = {
  maxBytes: MAX_BYTES.name,
  maxListBytes: MAX_BYTES.text,
  hint: { reason: 'not-terms', example: 'jazz,12' },
  json: { type: 'array', items: { type: ['integer', 'string'] } },
  alsoAccepts: [{ type: ['integer', 'string'] }],
  read: (raw) => {
    const items = toItems(raw).filter((item) => !isEmptyMember(item));
    return items.length > 0 && items.length <= MAX_ITEMS && items.every(isToken) ? accept(items) : REFUSED;
  },
};

const isToken = (item: unknown): item is string | number =>
  (typeof item === 'string' || typeof item === 'number') && item !== '' && item !== 0 && item !== '0';

/**
 * A term as a request names it: by id, by slug or by name (existing ones first), or a new name. A bare number has an id
 * and a name: if no term has that id, it is the slug or the name of an existing one.
 */
export interface RequestedTerm {
  readonly id?: number;
  readonly slug?: string;
  readonly name?: string;
}

const NAMED_TERM = { type: 'object', properties: { id: { type: 'integer' }, slug: { type: 'string' }, name: { type: 'string' } } };

/** Terms to assign: ids, slugs, names or `{id}`, `{slug}`, `{name}`; blank items are ignored (decisions D4, D32). */
export const requestedTerms: Grammar<readonly RequestedTerm[]> = {
  maxBytes: MAX_BYTES.name,
  maxListBytes: MAX_BYTES.text,
  hint: { reason: 'not-terms', example: 'Jazz,Open air' },
  json: { type: 'array', items: { type: ['integer', 'string'] } },
  alsoAccepts: [
    { type: ['integer', 'string'] },
    NAMED_TERM,
    { type: 'array', items: { anyOf: [{ type: ['integer', 'string'] }, NAMED_TERM] } },
  ],
  isBlank: isEmpty,
  read: (raw) => {
    const items = isTermObject(raw) ? [raw] : isRecord(raw) && !isNumbered(raw) ? undefined : toItems(raw === true ? undefined : raw);
    if (items === undefined || raw === true || items.length > MAX_ITEMS) return REFUSED;
    const terms: RequestedTerm[] = [];
    for (const item of items) {
      const term = requestedTerm(item);
      if (term === 'refused') return REFUSED;
      if (term !== 'blank') terms.push(term);
    }
    return accept(terms);
  },
};

const isTermObject = (raw: unknown): raw is Record<string, unknown> =>
  isRecord(raw) && ['id', 'slug', 'name'].some((key) => Object.hasOwn(raw, key));

/**
 * Returns whether an item is the value that a form sends for a choice that was not made. Such items are ignored
 * (decision D49).
 */
export const isUnchosen = (item: unknown): boolean => item === '' || item === null || item === 0 || item === '0';

/** Whether an object describes a record without an id; an empty one counts as absent beside other values. */
export const hasNoId = ({ id, ...others }: Readonly<Record<string, unknown>>): boolean =>
  id === undefined || (isUnchosen(id) && Object.values(others).some((value) => value !== '' && value !== null));

function requestedTerm(item: unknown): RequestedTerm | 'blank' | 'refused' {
  if (isTermObject(item)) {
    if (!hasNoId(item)) {
      const id = positiveInteger.read(item.id).value;
      return id === undefined ? 'refused' : { id };
    }
    if (typeof item.slug === 'string' && item.slug.trim() !== '') return { slug: item.slug.trim() };
    return typeof item.name === 'string' && item.name.trim() !== '' ? { name: item.name.trim() } : 'refused';
  }
  if (typeof item === 'number') return Number.isSafeInteger(item) ? (item > 0 ? { id: item, name: String(item) } : 'blank') : 'refused';
  if (item === null || item === false) return 'blank';
  if (typeof item !== 'string') return 'refused';
  const text = item.trim();
  if (text === '') return 'blank';
  // A number too large for an id is a name.
  return /^\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? { id: Number(text), name: text } : { name: text };
}

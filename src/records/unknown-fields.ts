import { z } from 'zod';
import { isLinks } from '../kinds/fields.ts';
import { postKind } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { nearestName } from '../kinds/nearest-name.ts';
import type { Params } from '../kinds/param.ts';
import { memoizeByObject } from '../memo.ts';
import { isObject } from '../objects.ts';

/** Maximum number of unknown names reported for a request. */
const MAX_REPORTED = 10;

/** An unknown name in a write: `titel`, or `venue.citty` within a new venue. */
export interface UnknownField {
  readonly name: string;
  /** The known name that is probably meant. */
  readonly similarName: string | undefined;
}

/**
 * Returns the names in a write that match no parameter, at most 10. Members that records show but that cannot be set
 * are not reported, so that a record can be sent back as it was read; nor are names that begin with `_`, which are
 * WordPress's own.
 */
export function unknownFields(kind: Kind, params: Params, raw: Readonly<Record<string, unknown>>): UnknownField[] {
  const topLevelFields = unknownNames(Object.keys(raw), shownNames(kind), params);
  const nestedFields = Object.entries(kind.is === 'post' ? kind.fields : {}).flatMap(([name, field]) =>
    isLinks(field) && Object.hasOwn(raw, name) ? unknownMembers(name, postKind(field.place.kind), raw[name]) : [],
  );
  return [...topLevelFields, ...nestedFields].slice(0, MAX_REPORTED);
}

/** Returns the unknown names in linked records that the write would create. */
function unknownMembers(name: string, kind: Kind, value: unknown): UnknownField[] {
  const members = [value].flat().flatMap((item) => (isObject(item) ? Object.keys(item) : []));
  // Forms index the members of a list by number.
  const names = [...new Set(members)].filter((member) => !/^\d+$/.test(member));
  return unknownNames(names, shownNames(kind), kind.fields).map((field) => ({ ...field, name: `${name}.${field.name}` }));
}

/** Returns those of these names that are neither parameters nor members of the answer (`shown`), at most 10. */
export const unknownNames = (names: readonly string[], shown: ReadonlySet<string>, params: Params): UnknownField[] =>
  names
    .filter((name) => !name.startsWith('_') && !Object.hasOwn(params, name) && !shown.has(name))
    .slice(0, MAX_REPORTED)
    .map((name) => ({ name, similarName: nearestName(name, Object.keys(params)) }));

const shownNames = memoizeByObject(
  ({ record }: Kind): ReadonlySet<string> => new Set(record instanceof z.ZodObject ? Object.keys(record.shape) : []),
);

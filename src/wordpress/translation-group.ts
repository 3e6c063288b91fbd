/*
 * Records that are translations of one another are a group: at most one of each language. Here is what linking and
 * taking out do to it, whatever form the group is stored in.
 */

/** The members of a group: the id of a record by the code of its language. */
export type TranslationGroup = ReadonlyMap<string, number>;

/** Two records of one language would be in one group. */
export interface TranslationConflict {
  readonly conflict: string;
  readonly ids: readonly [number, number];
}

export const isConflict = (result: TranslationGroup | TranslationConflict): result is TranslationConflict => 'conflict' in result;

/** All members of these groups as one group, in the order in which they come; or the language that two of them have. */
export function joinGroups(...groups: readonly TranslationGroup[]): TranslationGroup | TranslationConflict {
  const all = new Map<string, number>();
  for (const [code, id] of groups.flatMap((group) => [...group])) {
    const known = all.get(code);
    if (known !== undefined && known !== id) return { conflict: code, ids: [known, id] };
    all.set(code, id);
  }
  return all;
}

/**
 * The records that have other translations than before, when these groups have become one, or shall become one and
 * cannot.
 */
export function regrouped(before: readonly TranslationGroup[], after: TranslationGroup | TranslationConflict): number[] {
  const moved = before.filter((group) => isConflict(after) || !isSame(group, after)).flatMap((group) => [...group.values()]);
  return [...new Set(moved)];
}

const isSame = (one: TranslationGroup, other: TranslationGroup): boolean =>
  one.size === other.size && [...one].every(([code, id]) => other.get(code) === id);

/** The group without these records. */
export const withoutMembers = (group: TranslationGroup, ...ids: readonly number[]): TranslationGroup =>
  new Map([...group].filter(([, id]) => !ids.includes(id)));

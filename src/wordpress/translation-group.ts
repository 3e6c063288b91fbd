/*
 * Records that are translations of one another form a group, with at most one record of each language. These functions
 * link records and remove them from a group, independently of how the group is stored.
 */

/** The members of a group: record ids by language code. */
export type TranslationGroup = ReadonlyMap<string, number>;

/** The conflict that two records of one language would be in the same group. */
export interface TranslationConflict {
  readonly conflict: string;
  readonly ids: readonly [number, number];
}

/** Whether groups could not be joined because two of them have different members in one language. */
export const isConflict = (result: TranslationGroup | TranslationConflict): result is TranslationConflict => 'conflict' in result;

/** Returns all members of these groups as one group, in order, or the language that two of them share. */
export function joinGroups(...groups: readonly TranslationGroup[]): TranslationGroup | TranslationConflict {
  const all = new Map<string, number>();
  for (const [code, id] of groups.flatMap((group) => [...group])) {
    const otherId = all.get(code);
    if (otherId !== undefined && otherId !== id) return { conflict: code, ids: [otherId, id] };
    all.set(code, id);
  }
  return all;
}

/**
 * Returns the records whose group changes when these groups become one, or would change if that were not a conflict.
 */
export function changedMembers(before: readonly TranslationGroup[], after: TranslationGroup | TranslationConflict): number[] {
  const memberIds = before.filter((group) => isConflict(after) || !isSame(group, after)).flatMap((group) => [...group.values()]);
  return [...new Set(memberIds)];
}

const isSame = (one: TranslationGroup, other: TranslationGroup): boolean =>
  one.size === other.size && [...one].every(([code, id]) => other.get(code) === id);

/** Returns the group without these records. */
export const withoutMembers = (group: TranslationGroup, ...ids: readonly number[]): TranslationGroup =>
  new Map([...group].filter(([, id]) => !ids.includes(id)));

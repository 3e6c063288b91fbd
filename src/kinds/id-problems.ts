import type { ProblemName } from '../errors.ts';
import { memoizeByObject } from '../memo.ts';
import type { PostKind } from './kind.ts';

/**
 * Returns a function that gives a kind the errors of other routes about a record that does not exist, is of another
 * type or is in the trash already.
 */
export const withIdProblems = ({ isInTrash, missing }: { readonly isInTrash: ProblemName; readonly missing: ProblemName }) =>
  memoizeByObject((kind: PostKind): PostKind => {
    const byId = { missing, otherType: missing, trashed: missing };
    return { ...kind, problems: { ...kind.problems, isInTrash, byId } };
  });

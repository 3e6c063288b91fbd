import type { PostKind } from '../kinds/kind.ts';
import { deskUrl, type Visit } from './visit.ts';

/*
 * Addresses of a list that differ in little from the present one.
 */

/** The parameters of the present address, without what it reports as done, some of them changed. */
function changedQuery({ request: { query } }: Visit, changes: Readonly<Record<string, string | number | undefined>>) {
  const kept = Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) =>
      typeof value === 'string' && !['done', 'count', 'failed'].includes(name) ? [[name, value] as const] : [],
    ),
  );
  return { ...kept, ...changes };
}

/**
 * The list of a kind as the present address has it, with some parameters changed, or removed where undefined. It begins
 * with its first page, unless another one is named.
 */
export const listUrl = (visit: Visit, kind: PostKind, changes: Readonly<Record<string, string | number | undefined>>): string =>
  deskUrl(visit, `/${kind.path}`, changedQuery(visit, { page: undefined, ...changes }));

/** Where a list stands, its page included, to come back to it. */
export const backOf = (visit: Visit): string =>
  `?${new URL(deskUrl(visit, '/', changedQuery(visit, {})), 'https://desk.invalid').searchParams.toString()}`;

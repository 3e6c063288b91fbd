import type { Kind } from '../kinds/kind.ts';
import { isObject } from '../objects.ts';
import { deskUrl, type Visit } from './visit.ts';

/*
 * URLs of a list with a few changes to the present one.
 */

/** Returns the parameters of the present URL with some of them changed, and without those of the reported action. */
function changeQuery({ request: { query } }: Visit, changes: Readonly<Record<string, string | number | undefined>>) {
  const keptParams = Object.entries(query).filter(([name]) => !['done', 'count', 'failed'].includes(name) && !(name in changes));
  return { ...Object.fromEntries(keptParams.flatMap(([name, value]) => flatPairs(name, value))), ...changes };
}

/**
 * Returns a parameter as PHP writes it (`http_build_query`), the members of a list or an object one by one. A filter
 * that is lost on the way would apply a bulk action to all records.
 */
function flatPairs(name: string, value: unknown): [name: string, value: string][] {
  if (typeof value === 'string') return [[name, value]];
  return !isObject(value) ? [] : Object.entries(value).flatMap(([key, member]) => flatPairs(`${name}[${key}]`, member));
}

/**
 * Returns the URL of the list of a kind with the present parameters, some of them changed, or removed if undefined. It
 * leads to the first page unless another one is named.
 */
export const listUrl = (visit: Visit, kind: Pick<Kind, 'path'>, changes: Readonly<Record<string, string | number | undefined>>): string =>
  deskUrl(visit, `/${kind.path}`, changeQuery(visit, { page: undefined, ...changes }));

/** Returns the query of a list's URL, including its page, to return to it. */
export const returnQuery = (visit: Visit): string =>
  `?${new URL(deskUrl(visit, '/', changeQuery(visit, {})), 'https://desk.invalid').searchParams.toString()}`;

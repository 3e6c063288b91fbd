import type { z } from 'zod';
import { codeOf, isRecord } from '../../objects.ts';
import { SourceFault } from '../items/items.ts';
import type { JsonObject, RemoteSite, SiteAnswer } from './site-client.ts';

/**
 * Returns the body of a list. An empty list is 404 in older versions of the plugin.
 *
 * @throws SourceFault `site-refused`, `site-not-json`
 */
export function bodyOf(site: RemoteSite, { status, body }: SiteAnswer): JsonObject {
  if (status === 200 && isRecord(body)) return body;
  if (status === 404 && codeOf(body).endsWith('-archive-page-not-found')) return {};
  if (status === 200) throw new SourceFault('site-not-json', { site: site.home });
  throw new SourceFault('site-refused', { site: site.home, status, code: codeOf(body) });
}

/** Returns the valid entries of a list; others are ignored. */
export const validEntries = <Value>(shape: z.ZodType<Value>, list: readonly unknown[]): Value[] =>
  list.flatMap((one) => {
    const { success, data } = shape.safeParse(one);
    return success ? [data] : [];
  });

/** Returns the objects of the list that a body has under this name, or none. */
export const listIn = (body: JsonObject, name: string): JsonObject[] => (Array.isArray(body[name]) ? body[name].filter(isRecord) : []);

/** Returns the number that a body has under this name, such as that of its pages; undefined if it is no number. */
export function countIn(body: JsonObject, name: string): number | undefined {
  const count = Number(body[name] ?? Number.NaN);
  return count >= 0 ? count : undefined;
}

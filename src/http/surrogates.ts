import { isLinks, isTerms } from '../kinds/fields.ts';
import { postKind, termKind } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { memoizeByObject } from '../memo.ts';

/**
 * Names under which a CDN can be told to drop an answer (`Surrogate-Key`, `Cache-Tag`): the list, and every record in
 * it, by kind and id (`events event-44 venue-12 category-3`). `kind`: what the answer is about; without it there are
 * none. A body without records has none either.
 */
export function surrogateKeys(kind: Kind | undefined, body: unknown): Record<string, string> {
  if (kind === undefined) return {};
  const found = new Set<string>();
  const records = listIn(kind, body);
  if (records) found.add(kind.path);
  for (const record of records ?? [body]) {
    if (found.size >= MOST) break;
    addKeys(found, kind, record);
  }
  if (found.size === 0) return {};
  const names = [...found].slice(0, MOST);
  return { 'Surrogate-Key': names.join(' '), 'Cache-Tag': names.join(',') };
}

/** Headers have their limits. */
const MOST = 400;

/** The records of a list: a page of the calendar's own routes, or a bare list as WordPress's routes give it. */
function listIn({ path }: Kind, body: unknown): readonly unknown[] | undefined {
  const list = isRecord(body) && 'total_pages' in body ? body[path] : body;
  return Array.isArray(list) ? list : undefined;
}

/** Adds the key of a record, those of its translations, and those of the records that are shown in it. */
function addKeys(found: Set<string>, kind: Kind, record: unknown): void {
  if (!isRecord(record) || typeof record.id !== 'number') return;
  found.add(`${kind.name}-${record.id}`);
  // A change of one of them may change what is said of it here.
  if (isRecord(record.translations)) {
    for (const one of Object.values(record.translations))
      if (isRecord(one) && typeof one.id === 'number') found.add(`${kind.name}-${one.id}`);
  }
  for (const [member, other] of shownIn(kind)) {
    const shown = record[member];
    if (!Array.isArray(shown)) addKeys(found, other, shown);
    else for (const one of shown) addKeys(found, other, one);
  }
}

/** The members of a record that hold other records, and their kinds. */
const shownIn = memoizeByObject((kind: Kind): readonly (readonly [member: string, Kind])[] => {
  if (kind.is === 'term') return [];
  return Object.entries(kind.fields).flatMap(([name, field]): [string, Kind][] => {
    if (isLinks(field)) return [[name, postKind(field.place.kind)]];
    return isTerms(field) ? [[name, termKind(field.place.kind)]] : [];
  });
});

const isRecord = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === 'object' && !Array.isArray(value);

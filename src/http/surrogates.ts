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
  const records = listIn(kind, body);
  const keys = records ? [kind.path, ...records.flatMap((record) => keysOf(kind, record))] : keysOf(kind, body);
  if (keys.length === 0) return {};
  const names = [...new Set(keys)].slice(0, MOST);
  return { 'Surrogate-Key': names.join(' '), 'Cache-Tag': names.join(',') };
}

/** Headers have their limits. */
const MOST = 400;

/** The records of a list: a page of the calendar's own routes, or a bare list as WordPress's routes give it. */
function listIn({ path }: Kind, body: unknown): readonly unknown[] | undefined {
  const list = isRecord(body) && 'total_pages' in body ? body[path] : body;
  return Array.isArray(list) ? list : undefined;
}

/** The key of a record, and those of the records that are shown in it. */
function keysOf(kind: Kind, record: unknown): string[] {
  if (!isRecord(record) || typeof record.id !== 'number') return [];
  const shown = shownIn(kind).flatMap(([member, other]) => [record[member]].flat().flatMap((one) => keysOf(other, one)));
  return [`${kind.name}-${record.id}`, ...translationsOf(record).map((id) => `${kind.name}-${id}`), ...shown];
}

/** Records that are named as translations: a change of one of them may change what is said of it here. */
const translationsOf = ({ id, translations }: Record<string, unknown>): number[] =>
  isRecord(translations)
    ? Object.values(translations).flatMap((one) => (isRecord(one) && typeof one.id === 'number' && one.id !== id ? [one.id] : []))
    : [];

/** The members of a record that hold other records, and their kinds. */
const shownIn = memoizeByObject((kind: Kind): readonly (readonly [member: string, Kind])[] => {
  if (kind.is === 'term') return [];
  return Object.entries(kind.fields).flatMap(([name, field]): [string, Kind][] => {
    if (isLinks(field)) return [[name, postKind(field.place.kind)]];
    return isTerms(field) ? [[name, termKind(field.place.kind)]] : [];
  });
});

const isRecord = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === 'object' && !Array.isArray(value);

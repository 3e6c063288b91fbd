import { isLinks, isTerms } from '../kinds/fields.ts';
import { postKind, termKind, termKindOf } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { memoizeByObject } from '../memo.ts';
import { isRecord } from '../objects.ts';
import type { PageSubject } from '../pages/page-subject.ts';

/**
 * Returns headers with the keys by which a CDN can purge an answer (`Surrogate-Key`, `Cache-Tag`): the list and every
 * record in it, by kind and id (`events event-44 venue-12 category-3`). `kind`: the kind of the records; without it
 * there are no keys. A body without records has none either. `subject`: what a page is about, which need not be among
 * its records.
 */
export function surrogateKeys(kind: Kind | undefined, body: unknown, subject: PageSubject = {}): Record<string, string> {
  if (kind === undefined) return {};
  const keys = new Set<string>(keysOf(subject));
  const records = listIn(kind, body);
  if (records) keys.add(kind.path);
  for (const record of records ?? [body]) {
    if (keys.size >= MAX_KEYS) break;
    addKeys(keys, kind, record);
  }
  if (keys.size === 0) return {};
  const names = [...keys].slice(0, MAX_KEYS);
  return { 'Surrogate-Key': names.join(' '), 'Cache-Tag': names.join(',') };
}

function keysOf({ terms = [], linked }: PageSubject): string[] {
  const termKeys = terms.flatMap(({ taxonomy, term_id: id }) => {
    const kind = termKindOf(taxonomy);
    return kind ? [`${kind.name}-${id}`] : [];
  });
  return [...termKeys, ...(linked ? [`${linked.kind}-${linked.id}`] : [])];
}

/** Maximum number of keys. Those that are too long together for a header are left out when it is sent (`fitHead`). */
const MAX_KEYS = 400;

/** Returns the records of a list: a page of the calendar's own routes, or a plain list as on WordPress's routes. */
function listIn({ path }: Kind, body: unknown): readonly unknown[] | undefined {
  const list = isRecord(body) && 'total_pages' in body ? body[path] : body;
  return Array.isArray(list) ? list : undefined;
}

/** Adds the keys of a record, of its translations, and of the records shown in it. */
function addKeys(keys: Set<string>, kind: Kind, record: unknown): void {
  if (!isRecord(record) || typeof record.id !== 'number') return;
  keys.add(`${kind.name}-${record.id}`);
  // The record shows data of its translations, so a change of one of them affects it.
  if (isRecord(record.translations)) {
    for (const one of Object.values(record.translations))
      if (isRecord(one) && typeof one.id === 'number') keys.add(`${kind.name}-${one.id}`);
  }
  for (const [member, memberKind] of recordMembers(kind)) {
    const value = record[member];
    for (const one of Array.isArray(value) ? value : [value]) {
      // The newer APIs name terms by id.
      if (typeof one === 'number') keys.add(`${memberKind.name}-${one}`);
      else addKeys(keys, memberKind, one);
    }
  }
}

/**
 * Returns the members of a record that hold other records or their ids, with their kinds, under the names of all APIs.
 */
const recordMembers = memoizeByObject((kind: Kind): readonly (readonly [member: string, Kind])[] => {
  if (kind.is === 'term') return [];
  return Object.entries(kind.fields).flatMap(([name, field]): [string, Kind][] => {
    if (isLinks(field)) return [name, postKind(field.place.kind).path].map((member) => [member, postKind(field.place.kind)]);
    if (!isTerms(field)) return [];
    const terms = termKind(field.place.kind);
    return [name, terms.taxonomy].map((member) => [member, terms]);
  });
});

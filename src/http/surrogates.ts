import { isLinks, isTerms } from '../kinds/fields.ts';
import { postKind, termKind, termKindOf } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { memoizeByObject } from '../memo.ts';
import type { PageSubject } from '../pages/page-subject.ts';

/**
 * Returns headers with the keys by which a CDN can purge an answer (`Surrogate-Key`, `Cache-Tag`): the list and every
 * record in it, by kind and id (`events event-44 venue-12 category-3`). `kind`: the kind of the records; without it
 * there are no keys. A body without records has none either. `subject`: what a page is about, which need not be among
 * its records.
 */
export function surrogateKeys(kind: Kind | undefined, body: unknown, subject: PageSubject = {}): Record<string, string> {
  if (kind === undefined) return {};
  const found = new Set<string>(keysOf(subject));
  const records = listIn(kind, body);
  if (records) found.add(kind.path);
  for (const record of records ?? [body]) {
    if (found.size >= MAX_KEYS) break;
    addKeys(found, kind, record);
  }
  if (found.size === 0) return {};
  const names = [...found].slice(0, MAX_KEYS);
  return { 'Surrogate-Key': names.join(' '), 'Cache-Tag': names.join(',') };
}

function keysOf({ term, linked }: PageSubject): string[] {
  const named = term && termKindOf(term.taxonomy);
  return [...(named ? [`${named.name}-${term.term_id}`] : []), ...(linked ? [`${linked.kind}-${linked.id}`] : [])];
}

/** Maximum number of keys. Those that are too long together for a header are left out when it is sent (`fitHead`). */
const MAX_KEYS = 400;

/** Returns the records of a list: a page of the calendar's own routes, or a plain list as on WordPress's routes. */
function listIn({ path }: Kind, body: unknown): readonly unknown[] | undefined {
  const list = isRecord(body) && 'total_pages' in body ? body[path] : body;
  return Array.isArray(list) ? list : undefined;
}

/** Adds the keys of a record, of its translations, and of the records shown in it. */
function addKeys(found: Set<string>, kind: Kind, record: unknown): void {
  if (!isRecord(record) || typeof record.id !== 'number') return;
  found.add(`${kind.name}-${record.id}`);
  // The record shows data of its translations, so a change of one of them affects it.
  if (isRecord(record.translations)) {
    for (const one of Object.values(record.translations))
      if (isRecord(one) && typeof one.id === 'number') found.add(`${kind.name}-${one.id}`);
  }
  for (const [member, other] of recordMembers(kind)) {
    const shown = record[member];
    for (const one of Array.isArray(shown) ? shown : [shown]) {
      // The newer APIs name terms by id.
      if (typeof one === 'number') found.add(`${other.name}-${one}`);
      else addKeys(found, other, one);
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

const isRecord = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === 'object' && !Array.isArray(value);

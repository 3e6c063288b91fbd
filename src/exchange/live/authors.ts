import type { Entry } from '../items/items.ts';
import { validEntries } from './answers.ts';
import { coreList } from './core-lists.ts';
import { corePerson } from './records.ts';
import type { Walk } from './walk.ts';

/**
 * Returns authors that were not yielded yet. If the site does not show an author, this is reported, because the
 * author's records will belong to the user who imports.
 */
export async function newAuthors(walk: Walk, ids: readonly number[]): Promise<Entry[]> {
  const newIds = [...new Set(ids)].filter((id) => id > 0 && !walk.people.has(id));
  const { list } = await coreList(walk, 'users', newIds, {});
  const entries: Entry[] = [];
  for (const { id, name, slug, username, email } of validEntries(corePerson, list)) {
    const login = username || slug;
    walk.people.set(id, login);
    entries.push({ kind: 'author', sourceId: login, id, login, email: email ?? '', displayName: name, metas: [] });
  }
  for (const id of newIds) {
    if (walk.people.has(id)) continue;
    walk.people.set(id, undefined);
    entries.push({ kind: 'loss', loss: { reason: 'site-author-unknown', kind: 'author', of: String(id) } });
  }
  return entries;
}

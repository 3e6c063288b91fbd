import { postKind } from '../../kinds/index.ts';
import { type ContentLanguages, isTranslated } from '../../wordpress/content-languages.ts';
import type { Database } from '../engine/database.ts';
import { pagesById } from '../engine/pages.ts';
import { formOf } from '../languages/forms.ts';
import { idsOfType } from '../lists/posts-of-type.ts';

const BATCH_SIZE = 500;

/**
 * Returns the venues and organizers that have no translation into the language of an event that links to them, so that
 * the event shows them untranslated: `venue 103 (it)`, each once.
 */
export async function untranslatedLinks(db: Database, languages: ContentLanguages): Promise<string[]> {
  const { postType, links } = postKind('event');
  const translated = Object.entries(links).filter(([, kind]) => isTranslated(languages, postKind(kind).postType));
  if (translated.length === 0 || !isTranslated(languages, postType)) return [];
  const labels = new Set<string>();
  for await (const events of pagesById(BATCH_SIZE, (after, size) => idsOfType(db, postType, after, size))) {
    const rows = await linkRows(
      db,
      events,
      translated.map(([key]) => key),
    );
    const posts = [...new Set(rows.flatMap(({ event, linked }) => [event, linked]))];
    const { posts: memberships } = await formOf(languages).memberships(db, languages, { posts, terms: [] });
    for (const { event, key, linked } of rows) {
      const code = memberships.get(event)?.language;
      const linkedMembership = memberships.get(linked);
      if (code && linkedMembership?.language && !linkedMembership.members.has(code)) labels.add(`${links[key]} ${linked} (${code})`);
    }
  }
  return [...labels];
}

interface LinkRow {
  readonly event: number;
  readonly key: string;
  readonly linked: number;
}

async function linkRows(db: Database, events: readonly number[], keys: readonly string[]): Promise<LinkRow[]> {
  const rows = await db
    .from('postmeta')
    .whereIn('post_id', [...events])
    .whereIn('meta_key', [...keys])
    .orderBy('meta_id')
    .select('post_id', 'meta_key', 'meta_value');
  return rows.flatMap(({ post_id: event, meta_key: key, meta_value: value }) =>
    key !== null && /^[1-9]\d{0,14}$/.test(value ?? '') ? [{ event, key, linked: Number(value) }] : [],
  );
}

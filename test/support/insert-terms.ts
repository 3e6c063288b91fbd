import { insertAll } from './insert-all.ts';
import type { SiteClient } from './site-client.ts';

const FIRST_ID = 70_000;

/**
 * Inserts this many terms into each taxonomy, as if each had one event. Their names come before all others:
 * `aa-post_tag-70000`.
 */
export const insertTerms = (ask: Pick<SiteClient, 'writeRows'>, taxonomies: readonly string[], count: number): Promise<void> =>
  ask.writeRows(async (db) => {
    for (const [at, taxonomy] of taxonomies.entries()) {
      const ids = Array.from({ length: count }, (_, number) => FIRST_ID + at * count + number);
      const terms = ids.map((id) => ({ term_id: id, name: `aa-${taxonomy}-${id}`, slug: `aa-${taxonomy}-${id}` }));
      const rows = ids.map((id) => ({ term_taxonomy_id: id, term_id: id, taxonomy, description: '', parent: 0, count: 1 }));
      await insertAll(db, 'terms', terms, 500);
      await insertAll(db, 'term_taxonomy', rows, 500);
    }
  });

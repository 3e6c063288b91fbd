import { translatedLink } from '../../kinds/translations.ts';
import { formOf } from '../../storage/languages/forms.ts';
import { loadPosts } from '../../storage/rows/bundle.ts';
import { idsIn, type Post } from '../../wordpress/rows.ts';
import type { WriteContext } from './write-context.ts';

/** Linked records, and those that an event shows in their place. */
export interface ShownLinks {
  readonly rows: ReadonlyMap<number, Post>;
  /** Returns the id of the record shown instead of a linked one: itself, or its published translation. */
  readonly shownInPlaceOf: (id: string) => string;
}

/**
 * Loads linked records, and their translations into the language of an event; undefined: the event shows them as they
 * are stored. WordPress stores any text as a link; one that is no id stays as it is.
 */
export async function loadShownLinks(
  { db, caller }: Pick<WriteContext, 'db' | 'caller'>,
  links: readonly string[],
  code: string | undefined,
): Promise<ShownLinks> {
  const { contentLanguages } = caller.settings;
  const ids = idsIn(links);
  if (!contentLanguages || code === undefined) return { rows: await loadPosts(db, ids), shownInPlaceOf: (id) => id };
  const languages = await formOf(contentLanguages).memberships(db, contentLanguages, { posts: ids, terms: [] });
  const translations = [...languages.posts.values()].flatMap(({ members }) => members.get(code) ?? []);
  const rows = await loadPosts(db, [...new Set([...ids, ...translations])]);
  return {
    rows,
    shownInPlaceOf: (link) => {
      const [id] = idsIn([link]);
      const shownId = id === undefined ? undefined : translatedLink(id, code, { languages, posts: rows }, caller);
      return shownId === id ? link : String(shownId);
    },
  };
}

import { postKind, termKind } from '../../kinds/index.ts';
import type { Database } from '../../storage/engine/database.ts';
import { formOf } from '../../storage/languages/forms.ts';
import { type ContentLanguages, isTranslated } from '../../wordpress/content-languages.ts';
import { isPostItem, type PostItem, type TermItem } from './items.ts';

/** Adds languages and groups of translations to items of this site, whose ids are those of its records. */
export async function withLanguages<I extends PostItem | TermItem>(
  db: Database,
  languages: ContentLanguages | undefined,
  items: readonly I[],
): Promise<I[]> {
  const translatedItems = items.filter((item) => languages && isTranslated(languages, typeOf(item)));
  if (!languages || translatedItems.length === 0) return [...items];
  const { posts, terms } = await formOf(languages).memberships(db, languages, {
    posts: translatedItems.flatMap((item) => (isPostItem(item) && item.id !== undefined ? [item.id] : [])),
    terms: translatedItems.flatMap((item) =>
      !isPostItem(item) && item.id !== undefined ? [{ term_id: item.id, taxonomy: typeOf(item) }] : [],
    ),
  });
  return items.map((item) => {
    const membership = translatedItems.includes(item) ? (isPostItem(item) ? posts : terms).get(item.id ?? 0) : undefined;
    if (!membership?.language) return item;
    const { language, members } = membership;
    return {
      ...item,
      language,
      ...(members.size > 1 ? { translation_group: String([...members.values()].reduce((lowest, id) => Math.min(lowest, id))) } : {}),
    };
  });
}

const typeOf = (item: PostItem | TermItem): string =>
  item.kind === 'attachment' ? 'attachment' : isPostItem(item) ? postKind(item.kind).postType : termKind(item.kind).taxonomy;

import { validEntries } from './answers.ts';
import { CORE_PAGE_SIZE, coreList } from './core-lists.ts';
import { type CoreMedia, coreMedia, type LiveImage } from './records.ts';
import type { Walk } from './walk.ts';

/** Maximum number of images in the texts of one page of records, so that a hostile text causes few requests. */
const MAX_TEXT_IMAGES = 1000;

/** Returns images that were not yielded yet. `ids`: images in texts, of which only WordPress's own list knows more. */
export async function newMedia(
  walk: Walk,
  shown: readonly LiveImage[],
  ids: readonly number[],
): Promise<{ image: LiveImage; core?: CoreMedia }[]> {
  const images = new Map(shown.map((one) => [one.id, one]));
  const newImages = [...new Set([...images.keys(), ...ids.slice(0, MAX_TEXT_IMAGES)])].filter((id) => !walk.images.has(id));
  const list: unknown[] = [];
  for (let at = 0; at < newImages.length; at += CORE_PAGE_SIZE)
    list.push(...(await coreList(walk, 'media', newImages.slice(at, at + CORE_PAGE_SIZE), {})));
  const mediaById = new Map(validEntries(coreMedia, list).map((media) => [media.id, media]));
  return newImages.flatMap((id) => {
    const core = mediaById.get(id);
    const image =
      images.get(id) ?? (core?.mime_type.startsWith('image/') ? { id, url: core.source_url, width: 0, height: 0, sizes: {} } : undefined);
    return image === undefined ? [] : [{ image, ...(core ? { core } : {}) }];
  });
}

import type { LossEntry } from '../items/report.ts';
import { validEntries } from './answers.ts';
import { CORE_PAGE_SIZE, coreList } from './core-lists.ts';
import { type CoreMedia, coreMedia, type LiveImage } from './records.ts';
import type { Walk } from './walk.ts';

/** Maximum number of images in the texts of one page of records, so that a hostile text causes few requests. */
const MAX_TEXT_IMAGES = 1000;

/** An image, with what WordPress's own list says about it. */
export interface ShownImage {
  readonly image: LiveImage;
  readonly core: CoreMedia | undefined;
  /** Whether its stored texts could not be read, although the site has them. */
  readonly hidesStored: boolean;
}

/** Returns images that were not yielded yet. `ids`: images in texts, of which only WordPress's own list knows more. */
export async function newMedia(
  walk: Walk,
  shown: readonly LiveImage[],
  ids: readonly number[],
): Promise<{ images: ShownImage[]; losses: LossEntry[] }> {
  const images = new Map(shown.map((one) => [one.id, one]));
  const newImages = [...new Set([...images.keys(), ...ids.slice(0, MAX_TEXT_IMAGES)])].filter((id) => !walk.images.has(id));
  const media = new Map<number, Omit<ShownImage, 'image'>>();
  const losses: LossEntry[] = [];
  for (let at = 0; at < newImages.length; at += CORE_PAGE_SIZE) {
    const page = newImages.slice(at, at + CORE_PAGE_SIZE);
    const { list, hidesStored, losses: newLosses } = await coreList(walk, 'media', page, {});
    losses.push(...newLosses);
    for (const id of page) media.set(id, { core: undefined, hidesStored });
    for (const core of validEntries(coreMedia, list)) media.set(core.id, { core, hidesStored });
  }
  const found = newImages.flatMap((id): ShownImage[] => {
    const { core, hidesStored = false } = media.get(id) ?? {};
    const image =
      images.get(id) ?? (core?.mime_type.startsWith('image/') ? { id, url: core.source_url, width: 0, height: 0, sizes: {} } : undefined);
    return image === undefined ? [] : [{ image, core, hidesStored }];
  });
  return { images: found, losses };
}

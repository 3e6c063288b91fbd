import { LRUCache } from 'lru-cache';
import { memoize } from '../memo.ts';
import { filteredContent, filteredExcerpt, type RenderOptions, wordsOf } from '../wordpress/render.ts';

/*
 * Stored texts as they are published, remembered: the same ones are rendered again and again.
 */

/** How many words of a content stand in for an excerpt that nobody wrote, in answers of WordPress's own routes. */
const EXCERPT_WORDS = 30;

/** From a stored text to a published one, with the line breaks around it. `words`: the first ones, without tags. */
const STEPS = {
  content: filteredContent,
  excerpt: filteredExcerpt,
  words: (text: string, options: RenderOptions) => wordsOf(text, options, EXCERPT_WORDS),
};
type Step = keyof typeof STEPS;

/**
 * What makes a text depend on the media library: images by id and galleries. Every other text renders to the same each
 * time.
 */
const SHOWS_LIBRARY = /wp-image-|\[gallery|wp:(image|gallery|cover|media-text)/;

/** A text as it is published; "" for an empty one. */
export function publishedText(step: Step, text: string, options: RenderOptions): string {
  if (text === '') return '';
  if (SHOWS_LIBRARY.test(text) || options.smileyPictures !== undefined) return STEPS[step](text, options);
  return KNOWN[step][options.smilies ? 'withSmilies' : 'plain'](text);
}

/** A text longer than this takes long, and more memory than many others: all such texts share one limit. */
const LONG = 100_000;
/** In characters, of texts and what they are rendered to. */
const MOST_LONG = 40_000_000;

const longTexts = new LRUCache<string, ReadonlyMap<string, string>>({
  maxSize: MOST_LONG,
  sizeCalculation: (results, text) => [...results.values()].reduce((size, result) => size + result.length, text.length),
});

const KNOWN = { content: knownBy('content'), excerpt: knownBy('excerpt'), words: knownBy('words') };

function knownBy(step: Step) {
  const rememberedWith = (smilies: boolean) =>
    memoizeText(`${step} ${smilies}`, (text) => STEPS[step](text, { smilies, images: () => undefined }));
  return { withSmilies: rememberedWith(true), plain: rememberedWith(false) };
}

/** Remembers what a pure function makes of texts, however long they are. `name`: of the function, unlike all others. */
export function memoizeText(name: string, compute: (text: string) => string): (text: string) => string {
  const short = memoize(compute);
  return (text) => {
    if (text.length <= LONG) return short(text);
    const known = longTexts.get(text);
    const found = known?.get(name);
    if (found !== undefined) return found;
    const result = compute(text);
    longTexts.set(text, new Map([...(known ?? []), [name, result]]));
    return result;
  };
}

import { memoizeText } from '../memo.ts';
import { filteredContent, filteredExcerpt, type RenderOptions, wordsOf } from '../wordpress/content/render.ts';

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

const KNOWN = { content: knownBy('content'), excerpt: knownBy('excerpt'), words: knownBy('words') };

function knownBy(step: Step) {
  const options = { images: () => undefined };
  return {
    withSmilies: memoizeText(`${step} with smilies`, (text) => STEPS[step](text, { ...options, smilies: true })),
    plain: memoizeText(step, (text) => STEPS[step](text, { ...options, smilies: false })),
  };
}

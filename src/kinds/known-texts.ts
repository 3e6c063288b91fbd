import { memoizeText } from '../memo.ts';
import { filteredContent, filteredExcerpt, type RenderOptions, wordsOf } from '../wordpress/content/render.ts';

/*
 * Cache of published texts, since the same stored texts are rendered again and again.
 */

/** Number of words of the content that replace a missing excerpt in answers of WordPress's own routes. */
const EXCERPT_WORDS = 30;

/**
 * Functions from a stored text to the published one, including its line breaks. `words`: the first words, without tags.
 */
const STEPS = {
  content: filteredContent,
  excerpt: filteredExcerpt,
  words: (text: string, options: RenderOptions) => wordsOf(text, options, EXCERPT_WORDS),
};
type Step = keyof typeof STEPS;

/**
 * Matches texts that depend on the media library: images by id and galleries. Every other text always renders to the
 * same result.
 */
const SHOWS_LIBRARY = /wp-image-|\[gallery|wp:(image|gallery|cover|media-text)/;

/** Returns a text as it is published; "" for an empty one. */
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

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
const RENDERERS = {
  content: filteredContent,
  excerpt: filteredExcerpt,
  words: (text: string, options: RenderOptions) => wordsOf(text, options, EXCERPT_WORDS),
};
type Renderer = keyof typeof RENDERERS;

/**
 * Matches texts that depend on the media library: images by id and galleries. Every other text always renders to the
 * same result.
 */
const USES_LIBRARY = /wp-image-|\[gallery|wp:(image|gallery|cover|media-text)/;

/** Returns a text as it is published; "" for an empty one. */
export function publishedText(step: Renderer, text: string, options: RenderOptions): string {
  if (text === '') return '';
  if (USES_LIBRARY.test(text) || options.smileyPictures !== undefined) return RENDERERS[step](text, options);
  return CACHED_RENDERERS[step][options.smilies ? 'withSmilies' : 'plain'](text);
}

const CACHED_RENDERERS = { content: cachedRenderer('content'), excerpt: cachedRenderer('excerpt'), words: cachedRenderer('words') };

function cachedRenderer(step: Renderer) {
  const options = { images: () => undefined };
  return {
    withSmilies: memoizeText(`${step} with smilies`, (text) => RENDERERS[step](text, { ...options, smilies: true })),
    plain: memoizeText(step, (text) => RENDERERS[step](text, { ...options, smilies: false })),
  };
}

import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { organizerJsonLd } from '../../src/calendar/json-ld.ts';
import { Rendered, StructuredData } from '../../src/html/rendered.tsx';
import {
  ksesPost,
  ksesTitle,
  sanitizeDisplayName,
  sanitizeTermDescription,
  sanitizeTermName,
  storedContent,
} from '../../src/wordpress/content/kses.ts';
import { type AllowedElements, INLINE_ELEMENTS, POST_ELEMENTS } from '../../src/wordpress/content/kses-tables.ts';
import { storedTextField, stripControlCharacters } from '../../src/wordpress/content/plain-text.ts';
import { filteredContent, filteredExcerpt, type RenderOptions, renderTitle, wordsOf } from '../../src/wordpress/content/render.ts';
import { escUrl, normalizeWebUrl } from '../../src/wordpress/web-url.ts';
import { elementsOf, faultsOfElements } from '../support/active-html.ts';

/*
 * What becomes of a text of an author without `unfiltered_html`: it is cleaned as it is when it is stored, and then
 * rendered in every way.
 */

/** The options for rendering a text beside images whose own texts are hostile, too. */
const optionsWith = (text: string): RenderOptions => ({
  smilies: true,
  smileyPictures: 'https://site.test/wp-includes/images/smilies',
  attachedImages: () => [3],
  images: (id) => ({
    url: 'https://site.test/uploads/p.png',
    link: 'https://site.test/p/',
    width: 40,
    height: 20,
    alt: storedTextField(text),
    caption: contentAsStored(text),
    sizes:
      id === 3
        ? {
            thumbnail: { url: 'https://site.test/uploads/p-1.png', width: 10, height: 5 },
            medium: { url: 'https://site.test/uploads/p-2.png', width: 20, height: 10 },
          }
        : {},
  }),
});

const contentAsStored = (text: string) => storedContent(ksesPost(stripControlCharacters(text)));
const titleAsStored = (text: string) => ksesTitle(stripControlCharacters(text)).trim();

export interface Result {
  readonly way: string;
  readonly html: string;
  readonly allowed?: AllowedElements;
}

const NOTHING: AllowedElements = new Map();

/** Everything that is made of a text and that a page or a program may show as HTML. */
export function resultsOf(text: string): Result[] {
  const options = optionsWith(text);
  const stored = contentAsStored(text);
  const content = filteredContent(stored, options);
  const words = wordsOf(stored, options);
  const page = (html: string) => renderToString(h(Rendered, { html }));
  return [
    { way: 'stored content', html: stored },
    { way: 'content', html: content },
    { way: 'content on a page', html: page(content) },
    { way: 'content that is cleaned twice', html: filteredContent(contentAsStored(content), options) },
    { way: 'excerpt', html: filteredExcerpt(stored, options) },
    { way: 'words', html: words, allowed: NOTHING },
    { way: 'words as an excerpt', html: filteredExcerpt(words, options) },
    { way: 'title', html: renderTitle(titleAsStored(text)), allowed: INLINE_ELEMENTS },
    { way: 'title on a page', html: page(renderTitle(titleAsStored(text))), allowed: POST_ELEMENTS },
    { way: 'name of a term', html: sanitizeTermName(stripControlCharacters(text)), allowed: NOTHING },
    { way: 'name of a person', html: sanitizeDisplayName(text), allowed: NOTHING },
    { way: 'description of a term', html: sanitizeTermDescription(stripControlCharacters(text)), allowed: INLINE_ELEMENTS },
    { way: 'plain text', html: storedTextField(text), allowed: NOTHING },
    { way: 'URL', html: `<a href="${escUrl(text)}">x</a><a href='${escUrl(text)}'>x</a>` },
    { way: 'stored URL', html: `<a href="${normalizeWebUrl(text) ?? ''}">x</a><a href='${normalizeWebUrl(text) ?? ''}'>x</a>` },
  ];
}

/** Structured data in the element of a page, and what a program reads in it. */
const structuredData = (text: string) =>
  [text, ''].map((excerpt) =>
    organizerJsonLd({
      title: titleAsStored(text),
      content: contentAsStored(text),
      excerpt: contentAsStored(excerpt),
      status: 'publish',
      protected: false,
      phone: storedTextField(text),
      email: storedTextField(text),
      website: normalizeWebUrl(text) ?? '',
    } as never),
  );

/** Returns the faults of everything that is made of a text, with the way in which each was made. */
export function faultsOfText(text: string): string[] {
  const structured = structuredData(text).flatMap((data) => {
    const element = renderToString(h(StructuredData, { data }));
    const ends = /<(?!\/script$)|<!--/.test(element.slice(1, -1)) ? [`structured data: ${element}`] : [];
    return [
      ...ends,
      ...Object.values(data).flatMap((value) => faultsOf({ way: 'structured data', html: String(value), allowed: NOTHING })),
    ];
  });
  return [...resultsOf(text).flatMap((result) => faultsOf(result)), ...structured];
}

/** Returns the faults of a result. `elements`: its elements and those of the tail, as a parser found them. */
export function faultsOf({ way, html, allowed }: Result, elements = elementsOf(html)): string[] {
  const faults = faultsOfElements(elements, allowed);
  return faults.length === 0 ? [] : [`${way}: ${faults.join(', ')} in ${JSON.stringify(html)}`];
}

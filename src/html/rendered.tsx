import type { JSX } from 'preact';
import { memoize } from '../memo.ts';
import { ksesPost } from '../wordpress/content/kses.ts';

/*
 * The two places where a page takes in what is already HTML. Everything else is escaped by being text in JSX.
 */

export interface RenderedProps {
  readonly html: string;
  readonly class?: string;
  /** The tag of its language, where that is not the one of the page. */
  readonly lang?: string | undefined;
}

/**
 * A text that the API publishes as HTML. It is cleaned here once more: who wrote it into the database may have been
 * allowed more than a page should show (WordPress's `unfiltered_html`). Only tags and attributes that cannot run stay.
 * It is written in the direction of its own letters, whatever that of the page is.
 */
export function Rendered({ html, class: name, lang }: RenderedProps): JSX.Element {
  return <div class={name} lang={lang} dir="auto" dangerouslySetInnerHTML={{ __html: cleaned(html) }} />;
}

const cleaned = memoize(ksesPost);

/** Structured data for programs (JSON-LD), without a character that could end the element. */
export function StructuredData({ data }: { readonly data: object }): JSX.Element {
  return <script type="application/ld+json" dangerouslySetInnerHTML={{ __html: scriptJson(data) }} />;
}

const scriptJson = (data: object): string =>
  JSON.stringify(data).replace(/[<>&\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);

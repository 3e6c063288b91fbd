import type { JSX } from 'preact';
import { memoize } from '../memo.ts';
import { ksesPost } from '../wordpress/content/kses.ts';

/*
 * The two components that insert existing HTML into a page. All other content is text in JSX and therefore escaped.
 */

export interface RenderedProps {
  readonly html: string;
  readonly class?: string;
  /** The tag of its language, if that is not the language of the page. */
  readonly lang?: string | undefined;
}

/**
 * A text that the API publishes as HTML. It is sanitized again here, since its author may have been allowed more than a
 * page should show (WordPress's `unfiltered_html`). Only tags and attributes that cannot run code stay. Its direction
 * follows from its own letters, independently of the page's.
 */
export function Rendered({ html, class: name, lang }: RenderedProps): JSX.Element {
  return <div class={name} lang={lang} dir="auto" dangerouslySetInnerHTML={{ __html: sanitizeHtml(html) }} />;
}

const sanitizeHtml = memoize(ksesPost);

/** Structured data for programs (JSON-LD), without characters that could end the element. */
export function StructuredData({ data }: { readonly data: object }): JSX.Element {
  return <script type="application/ld+json" dangerouslySetInnerHTML={{ __html: toScriptJson(data) }} />;
}

const toScriptJson = (data: object): string =>
  JSON.stringify(data).replace(/[<>&\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);

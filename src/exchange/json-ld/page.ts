import { Parser } from 'htmlparser2';
import { xmlEncoding } from '../items/encoding.ts';

/** A block of JSON-LD, and the line of the file on which it begins. */
export interface Block {
  readonly line: number;
  readonly text: string;
}

/** Maximum number of blocks on a page. */
const MAX_BLOCKS = 500;

/** Returns the JSON-LD of a file: the contents of a page's scripts, or the whole file if it is JSON. */
export function blocksOf(file: string): Block[] {
  if (/^\s*[[{]/.test(file.slice(0, 1000))) return [{ line: 1, text: file }];
  const blocks: Block[] = [];
  let [line, scannedLength] = [1, 0];
  let openBlock: { line: number; pieces: string[] } | undefined;
  const parser = new Parser({
    onopentag: (name, attributes) => {
      if (name !== 'script' || !/^application\/ld\+json\b/i.test((attributes.type ?? '').trim()) || blocks.length >= MAX_BLOCKS) return;
      for (; scannedLength < parser.startIndex; scannedLength += 1) if (file.charCodeAt(scannedLength) === 10) line += 1;
      openBlock = { line, pieces: [] };
    },
    ontext: (text) => openBlock?.pieces.push(text),
    onclosetag: (name) => {
      if (name !== 'script' || !openBlock) return;
      blocks.push({ line: openBlock.line, text: openBlock.pieces.join('') });
      openBlock = undefined;
    },
  });
  parser.end(file);
  return blocks;
}

/**
 * Returns the origin of the site that a saved page says it is from (`https://example.org`): that of its canonical
 * address, or else of the base of its links. Empty if it does not say.
 */
export function siteOf(file: string): string {
  if (/^\s*[[{]/.test(file.slice(0, 1000))) return '';
  const addresses: { canonical?: string; shared?: string; base?: string } = {};
  const parser = new Parser({
    onopentag: (name, { rel = '', property = '', href, content }) => {
      if (name === 'link' && rel.toLowerCase().split(/\s+/).includes('canonical') && href) addresses.canonical ??= href;
      if (name === 'meta' && property.toLowerCase() === 'og:url' && content) addresses.shared ??= content;
      if (name === 'base' && href) addresses.base ??= href;
    },
  });
  parser.end(file);
  const sites = [addresses.canonical, addresses.shared, addresses.base].map((address) => URL.parse(address ?? ''));
  return sites.find((site) => site !== null && /^https?:$/.test(site.protocol))?.origin ?? '';
}

/**
 * Returns the encoding that a file declares: for a page, in the XML declaration or the `meta` in its head
 * (`charset="utf-8"`, `content="text/html; charset=utf-8"`). JSON is UTF-8 (RFC 8259).
 */
export function labelOf(head: Buffer): string | undefined {
  const text = head.toString('latin1');
  if (/^(?:\xef\xbb\xbf)?\s*[[{]/.test(text)) return 'utf-8';
  return xmlEncoding(head) ?? metaEncoding(text);
}

function metaEncoding(page: string): string | undefined {
  let label: string | undefined;
  const parser = new Parser({
    onopentag: (name, { charset, content = '', 'http-equiv': header = '' }) => {
      if (name === 'meta') label ??= charset?.trim() || (/^content-type$/i.test(header) ? encodingOfType(content) : undefined);
    },
  });
  parser.end(page);
  return label;
}

/** Returns the encoding in the value of a `Content-Type`: `text/html; charset=utf-8`. */
export const encodingOfType = (type: string): string | undefined => /charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(type)?.[1];

/** The URLs in a sitemap, without fragments, which name parts of the same page. */
export interface Locations {
  readonly pages: readonly string[];
  readonly sitemaps: readonly string[];
}

/**
 * Returns the URLs in a sitemap or an index of sitemaps; undefined if the file is neither (sitemaps.org). `base`: the
 * URL of the file, to which relative URLs refer, although the protocol asks for complete ones.
 */
export function locationsOf(xml: string, base: string): Locations | undefined {
  const [pages, sitemaps]: [string[], string[]] = [[], []];
  let locParts: string[] | undefined;
  let list = pages;
  let isSitemap = false;
  const parser = new Parser(
    {
      onopentagname: (name) => {
        if (name === 'urlset' || name === 'sitemapindex') isSitemap = true;
        else if (name === 'url') list = pages;
        else if (name === 'sitemap') list = sitemaps;
        else if (name === 'loc') locParts = [];
      },
      ontext: (text) => locParts?.push(text),
      onclosetag: (name) => {
        if (name !== 'loc' || !locParts) return;
        const location = locParts.join('').trim();
        if (location !== '') list.push(absoluteUrl(location, base));
        locParts = undefined;
      },
    },
    { xmlMode: true },
  );
  parser.end(xml);
  return isSitemap ? { pages, sitemaps } : undefined;
}

/** Returns a URL in its complete form, without a fragment; a text that is no URL is returned unchanged. */
function absoluteUrl(text: string, base: string): string {
  const url = URL.parse(text, base);
  if (!url) return text;
  url.hash = '';
  return url.href;
}

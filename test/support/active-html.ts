import { Parser } from 'htmlparser2';
import { allowedStyle } from '../../src/wordpress/content/kses-style.ts';
import { type AllowedElements, POST_ELEMENTS, URL_ATTRIBUTES } from '../../src/wordpress/content/kses-tables.ts';

/** An element as a parser of HTML found it. */
export interface FoundElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Attributes that the steps of rendering add, by element, in addition to those that authors may write. */
const ADDED: Readonly<Record<string, readonly string[]>> = {
  img: ['decoding', 'loading', 'srcset', 'sizes'],
  source: ['type', 'src'],
};
/** Schemes that WordPress allows (`wp_allowed_protocols`). */
const SCHEMES = /^(?:https?|ftps?|mailto|news|irc6?|ircs|gopher|nntp|feed|telnet|mms|rtsp|sms|svn|tel|fax|xmpp|webcal|urn):/i;

/**
 * A text behind the checked one. If the checked one leaves a tag or an attribute open, a part of this text becomes an
 * attribute.
 */
export const TAIL = `<u data-tail="1">x</u> ' onmouseover=alert(1) " onmouseover=alert(1) x=" --> <u data-tail="2">x</u>`;

/** Returns the elements in an HTML text and the tail behind it, as htmlparser2 finds them. */
export function elementsOf(html: string): FoundElement[] {
  const elements: FoundElement[] = [];
  const parser = new Parser({ onopentag: (name, attributes) => elements.push({ name, attributes }) }, { decodeEntities: true });
  parser.end(html + TAIL);
  return elements;
}

/**
 * Returns what an HTML text followed by `TAIL` contains that its author could not have written: elements, attributes,
 * schemes of URLs and declarations of styles. `allowed` has what the author may write.
 */
export function faultsOfElements(elements: readonly FoundElement[], allowed: AllowedElements = POST_ELEMENTS): string[] {
  const faults = elements.flatMap(({ name, attributes }) => {
    if ('data-tail' in attributes) return Object.keys(attributes).length === 1 ? [] : ['an open tag'];
    const own = allowed.get(name);
    const added = ADDED[name] ?? [];
    if (own === undefined && added.length === 0) return [`<${name}>`];
    return Object.entries(attributes).flatMap(([attribute, value]) => {
      const isAllowed = own?.has(attribute) || added.includes(attribute) || (own?.has('data-*') && /^data-[a-z0-9_-]+$/.test(attribute));
      return isAllowed ? faultsOfValue(attribute, value) : [`<${name} ${attribute}>`];
    });
  });
  // These may stay open; within them there is only text.
  const tails = elements.filter(({ attributes }) => 'data-tail' in attributes).length;
  if (tails < 2 && !elements.some(({ name }) => name === 'textarea' || name === 'title')) faults.push(`${tails} of 2 tails`);
  return faults;
}

function faultsOfValue(attribute: string, value: string): string[] {
  if (attribute === 'style') {
    const count = (style: string) => style.split(';').filter((part) => part.trim() !== '').length;
    return count(allowedStyle(value)) === count(value) ? [] : [`style="${value}"`];
  }
  const urls = attribute === 'srcset' ? value.split(',') : URL_ATTRIBUTES.has(attribute) ? [value] : [];
  return urls.flatMap((url) => {
    const read = url.replace(/^[\0-\x20]+/, '').replace(/[\t\n\r]/g, '');
    return /^[a-z][a-z0-9+.-]*:/i.test(read) && !SCHEMES.test(read) ? [`${attribute}="${url}"`] : [];
  });
}

import { trimOf } from '../trim.ts';
import { withoutBadProtocol } from '../web-url.ts';
import { forwardSearch } from './html-pieces.ts';
import { STYLE_GRADIENTS, STYLE_PROPERTIES, STYLE_URLS } from './kses-tables.ts';

/**
 * Returns the allowed declarations of a `style` attribute, joined by `;` (`safecss_filter_attr`): known properties,
 * without escapes, comments and functions, except `var`, `calc` and similar ones, gradients, and `url` with an allowed
 * scheme.
 */
export function allowedStyle(style: string): string {
  return style
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\n\r\t]/g, '')
    .split(';')
    .filter((declaration) => declaration !== '')
    .map((declaration) => trimOf(declaration, ' \t\v'))
    .filter(isAllowed)
    .join(';');
}

function isAllowed(declaration: string): boolean {
  const colon = declaration.indexOf(':');
  if (colon === -1) return isHarmless(declaration);
  const property = declaration.slice(0, colon).trim();
  const value = declaration.slice(colon + 1).trim();
  const custom = /^--[\w-]+$/.test(property);
  if (!custom && !STYLE_PROPERTIES.has(property)) return false;
  let rest = declaration;
  if (custom ? value.startsWith('url(') : STYLE_URLS.has(property)) {
    const { urls, otherText } = urlsIn(value);
    if (urls.some((url) => url === '' || url === '0' || withoutBadProtocol(url) !== url)) return false;
    rest = `${property}:${otherText}`;
  }
  if ((custom ? value.includes('-gradient(') : STYLE_GRADIENTS.has(property)) && isGradient(value)) rest = rest.replaceAll(value, '');
  return isHarmless(withoutFunctions(rest));
}

/** Returns the URLs in all `url(...)` of a value, without quotes, and the text around them. */
function urlsIn(value: string): { urls: string[]; otherText: string } {
  const closing = forwardSearch(value, ')');
  const urls: string[] = [];
  let otherText = '';
  let position = 0;
  for (let start = value.indexOf('url('); start !== -1; start = value.indexOf('url(', position)) {
    const urlStart = start + 'url('.length;
    // The URL has at least one character, which may be a bracket.
    const end = closing(urlStart + 1);
    if (end === -1) break;
    urls.push(unquote(trimOf(value.slice(urlStart, end), ' ')).trim());
    otherText += value.slice(position, start);
    position = end + 1;
  }
  return { urls, otherText: otherText + value.slice(position) };
}

const unquote = (text: string): string =>
  text.length > 1 && /^["']/.test(text) && text.endsWith(text.charAt(0)) ? text.slice(1, -1) : text;

const isHarmless = (text: string) => !/[\\(&=}]|\/\*/.test(text);

/** Returns whether a value is a gradient. Its colours may be written as `rgb(...)`; other brackets are not allowed. */
function isGradient(value: string): boolean {
  const inner = /^(?:repeating-)?(?:linear|radial|conic)-gradient\((.*)\)$/s.exec(value)?.[1];
  return inner !== undefined && !/[()]/.test(inner.replace(/rgba?\([^()]*\)/g, ''));
}

/** Removes calls of harmless functions including their brackets, if these are balanced. */
function withoutFunctions(text: string): string {
  const calls = /\b(?:var|calc|min|max|minmax|clamp|repeat)\(/g;
  const closings = closingBrackets(text);
  let out = '';
  let position = 0;
  for (let call = calls.exec(text); call !== null; call = calls.exec(text)) {
    const closing = closings.get(call.index + call[0].length - 1);
    if (closing === undefined) continue;
    out += text.slice(position, call.index);
    position = closing + 1;
    calls.lastIndex = position;
  }
  return out + text.slice(position);
}

function closingBrackets(text: string): Map<number, number> {
  const openPositions: number[] = [];
  const pairs = new Map<number, number>();
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '(') openPositions.push(at);
    else if (text[at] === ')') {
      const start = openPositions.pop();
      if (start !== undefined) pairs.set(start, at);
    }
  }
  return pairs;
}

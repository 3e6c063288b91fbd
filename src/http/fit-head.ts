/**
 * Maximum length of the head of an answer, in bytes. nginx answers 502 in place of an answer with a longer head, unless
 * `proxy_buffer_size` is raised: by default it has 4 kB, of which its cache takes a part.
 */
const MAX_HEAD_LENGTH = 3700;

/** Part of it for the status line, and for headers that Node adds or whose values are set for each request. */
const OTHER_LENGTH = 350;

/** Bytes between the name and the value of a header, and after the value. */
const SEPARATORS_LENGTH = 4;

/**
 * Shortens headers until the head of an answer has a length that proxies accept. The keys for CDNs are shortened first,
 * then the links: the one to the next page, which clients follow, last of all.
 */
export function fitHead(head: Map<string, string>): void {
  const excess = excessOf(head);
  if (excess <= 0) return;
  shorten(head, 'Surrogate-Key', ' ', Math.ceil(excess / 2));
  shorten(head, 'Cache-Tag', ',', Math.ceil(excess / 2));
  shortenLinks(head, excessOf(head));
}

function excessOf(head: ReadonlyMap<string, string>): number {
  let length = OTHER_LENGTH;
  for (const [name, value] of head) length += name.length + value.length + SEPARATORS_LENGTH;
  return length - MAX_HEAD_LENGTH;
}

/** Removes whole members from the end of a list, at least `by` bytes of them. */
function shorten(head: Map<string, string>, name: string, separator: string, by: number): void {
  const value = head.get(name);
  if (value === undefined || by <= 0) return;
  const end = by < value.length ? value.lastIndexOf(separator, value.length - by) : 0;
  if (end > 0) head.set(name, value.slice(0, end));
  else head.delete(name);
}

/** Removes links, at least `by` bytes of them: the previous page first, then from the end, and last the next page. */
function shortenLinks(head: Map<string, string>, by: number): void {
  const value = head.get('Link');
  if (value === undefined || by <= 0) return;
  const links = value.split(/, (?=<)/);
  const rank = (link: string): number => (link.endsWith('; rel="prev"') ? 0 : link.endsWith('; rel="next"') ? 2 : 1);
  const removed = new Set<string>();
  let excess = by;
  for (const link of links.toReversed().sort((one, other) => rank(one) - rank(other))) {
    if (excess <= 0) break;
    removed.add(link);
    excess -= link.length + ', '.length;
  }
  const kept = links.filter((link) => !removed.has(link));
  if (kept.length > 0) head.set('Link', kept.join(', '));
  else head.delete('Link');
}

import { hash } from 'node:crypto';
import type { Metas, Post, Term } from './rows.ts';

/**
 * Metas that WordPress writes although nobody changes the record: who has it open in the editor (`_edit_lock`), and
 * embedded videos cached when the page is shown (`_oembed_*`).
 */
const PASSING_META = /^_edit_lock$|^_oembed_/;

/**
 * The version of an event, venue, organizer or file: a digest of its own rows. It changes whenever the record changes,
 * whoever changed it. Linked terms count by id only; comments and pings don't count at all. `key` is a secret of the
 * site: without it, the digest could be used to test guesses about what a record hides.
 */
export function postVersion(key: string, row: Post, metas: Metas | undefined, terms: readonly Pick<Term, 'term_taxonomy_id'>[]): string {
  const { comment_count: _, to_ping, pinged, ...columns } = row;
  const kept = [...(metas ?? [])].filter(([name]) => !PASSING_META.test(name)).sort(([one], [other]) => (one < other ? -1 : 1));
  return digest(key, [columns, kept, terms.map((term) => term.term_taxonomy_id).sort((one, other) => one - other)]);
}

/** The version of a category or tag. The number of its events doesn't count. */
export function termVersion(key: string, { count: _, ...columns }: Term): string {
  return digest(key, columns);
}

/** The length of a version, in hexadecimal digits. */
export const VERSION_DIGITS = 20;

/** The key comes first and the digest is cut short, so it cannot be extended. HMAC would take several times as long. */
const digest = (key: string, parts: unknown): string => hash('sha256', `${key}\n${JSON.stringify(parts)}`, 'hex').slice(0, VERSION_DIGITS);

/** The preconditions of a write (RFC 9110, 13.1). Tags are quoted, as in headers; `*` stands for any. */
export interface Preconditions {
  readonly match?: '*' | readonly string[];
  readonly noneMatch?: '*' | readonly string[];
  /**
   * The record must not have changed after this moment, in milliseconds since 1970; only whole seconds are compared.
   */
  readonly unmodifiedSince?: number;
}

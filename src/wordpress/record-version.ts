import { hash } from 'node:crypto';
import type { Metas, Post, Term } from './rows.ts';

/**
 * Metas that WordPress writes without a change of the record: who has it open in the editor (`_edit_lock`), and
 * embedded videos cached when the page is shown (`_oembed_*`).
 */
const TRANSIENT_META = /^_edit_lock$|^_oembed_/;

/**
 * Returns the version of an event, venue, organizer or file: a digest of its own rows. It changes whenever the record
 * changes, including by other programs. Linked terms count only by id; comments and pings do not count. `key` is a
 * secret of the site: without it, the digest could be used to test guesses about hidden contents of a record.
 */
export function postVersion(key: string, row: Post, metas: Metas | undefined, terms: readonly Pick<Term, 'term_taxonomy_id'>[]): string {
  const { comment_count: _, to_ping, pinged, ...columns } = row;
  const lastingMetas = [...(metas ?? [])].filter(([name]) => !TRANSIENT_META.test(name)).sort(([one], [other]) => (one < other ? -1 : 1));
  return digest(key, [columns, lastingMetas, terms.map((term) => term.term_taxonomy_id).sort((one, other) => one - other)]);
}

/** Returns the version of a category or tag. The number of its events does not count. */
export function termVersion(key: string, { count: _, ...columns }: Term): string {
  return digest(key, columns);
}

/** The length of a version, in hexadecimal digits. */
export const VERSION_DIGITS = 20;

/**
 * Returns the digest of a version. The key comes first and the digest is truncated, so it cannot be extended. HMAC
 * would take several times as long.
 */
const digest = (key: string, parts: unknown): string => hash('sha256', `${key}\n${JSON.stringify(parts)}`, 'hex').slice(0, VERSION_DIGITS);

/** The preconditions of a write (RFC 9110, 13.1). Tags are quoted, as in headers; `*` matches any. */
export interface Preconditions {
  readonly match?: '*' | readonly string[];
  readonly noneMatch?: '*' | readonly string[];
  /**
   * The record must not have changed after this moment, in milliseconds since 1970; only whole seconds are compared.
   */
  readonly unmodifiedSince?: number;
}

import { hash } from 'node:crypto';
import type { Metas, Post, Term } from './rows.ts';

/**
 * Metas that WordPress writes without anybody changing the record: who has it open in the editor, and what embedded videos look like, kept as the page is
 * shown.
 */
const PASSING_META = /^_edit_lock$|^_oembed_/;

/**
 * The version of an event, venue, organizer or file: a digest of its own rows, so that it changes with the record, whoever changed it, and with nothing else.
 * The terms and records that it links to count by their ids alone. Comments and pings are not part of it. `key`: a secret of the site, without which nobody can
 * try out what a record hides.
 */
export function postVersion(key: string, row: Post, metas: Metas | undefined, terms: readonly Pick<Term, 'term_taxonomy_id'>[]): string {
  const { comment_count: _, to_ping, pinged, ...columns } = row;
  const kept = [...(metas ?? [])].filter(([name]) => !PASSING_META.test(name)).sort(([one], [other]) => (one < other ? -1 : 1));
  return digest(key, [columns, kept, terms.map((term) => term.term_taxonomy_id).sort((one, other) => one - other)]);
}

/** The version of a category or tag. How many events have it is not part of it. */
export function termVersion(key: string, { count: _, ...columns }: Term): string {
  return digest(key, columns);
}

/** Versions are this many hexadecimal digits. */
export const VERSION_DIGITS = 20;

/** With the key before it, and cut short: nobody can go on from a digest (HMAC would take several times as long). */
const digest = (key: string, parts: unknown): string => hash('sha256', `${key}\n${JSON.stringify(parts)}`, 'hex').slice(0, VERSION_DIGITS);

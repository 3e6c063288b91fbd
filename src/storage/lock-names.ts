import { foldText } from './collation.ts';

/*
 * The names that writers give to `lockNames` before they look for what must not be there twice: two of them that look for the same thing give the same name.
 */

/** A slug that no other post of the type may have. For files of the library (`attachment`) it is looked for in all types. */
export const slugLock = (postType: string, slug: string): string => `${postType}:slug:${slug}`;

/** A venue or organizer of this title, which is used again instead of being made a second time (decision D8). */
export const titleLock = (postType: string, title: string): string => `${postType}:title:${foldText(title)}`;

/** A term of this name in its taxonomy, whatever its case and accents. */
export const termNameLock = (taxonomy: string, name: string): string => `${taxonomy}:name:${foldText(name)}`;

/** A slug of a term: one that a term of another taxonomy has is passed over too. */
export const termSlugLock = (slug: string): string => `term:slug:${slug}`;

/** The logins, addresses and nicenames of all users: a new one is compared with each of them. */
export const USERS_LOCK = 'users';

import type { Site } from '../site.ts';
import { costliestPasswordHashes } from '../storage/rows/users.ts';
import { costOfHash } from '../wordpress/passwords.ts';

/** A hash that is computed if the site has no other one: of a random text that was not kept. */
const DUMMY_HASH = '$wp$2y$10$Cwq0dH6sXXTVR0qTRcK3Vu0oIcCXEQ1TLRZM1dcKn0JrN0o/8Yfvy';
/** Time for which the hashes of a site are remembered, in milliseconds: finding them takes a look at every user. */
const CACHE_MS = 3_600_000;
/**
 * Hashes with a higher work factor than PHP's highest default are no decoys: each failure would take as long as they
 * do, which is seconds.
 */
const MAX_BCRYPT_COST = 12;

const hashesBySite = new WeakMap<object, { readonly at: number; readonly hashes: Promise<readonly string[]> }>();

/**
 * Returns hashes to compute after a wrong password, in addition to the user's own, so that the time does not tell
 * whether there is such a user: the slowest hash of each algorithm among all users, except one like the user's own.
 *
 * @param ownHash empty if there is no such user
 */
export async function decoysBeside(site: Pick<Site, 'db'>, ownHash: string): Promise<readonly string[]> {
  return (await usualHashes(site)).filter((hash) => costOfHash(hash) !== costOfHash(ownHash));
}

function usualHashes(site: Pick<Site, 'db'>): Promise<readonly string[]> {
  const now = performance.now();
  const cached = hashesBySite.get(site);
  if (cached && now - cached.at < CACHE_MS) return cached.hashes;
  const hashes = costliestPasswordHashes(site.db).then((found) => {
    const decoys = found.filter((hash) => costOfHash(hash) !== '' && bcryptCostOf(hash) <= MAX_BCRYPT_COST);
    return decoys.length > 0 ? decoys : [DUMMY_HASH];
  });
  hashesBySite.set(site, { at: now, hashes });
  hashes.catch(() => hashesBySite.delete(site));
  return hashes;
}

const bcryptCostOf = (hash: string): number => Number(/^(?:\$wp)?\$2[aby]\$(\d\d)\$/.exec(hash)?.[1] ?? 0);

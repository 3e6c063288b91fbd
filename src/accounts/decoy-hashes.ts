import type { Site } from '../site.ts';
import { passwordHashesOfEachCost } from '../storage/rows/users.ts';
import { costOfHash, type HashCost } from '../wordpress/passwords.ts';

/** A hash that is computed if the site has no other one: of a random text that was not kept. */
const DUMMY_HASH = '$wp$2y$10$Cwq0dH6sXXTVR0qTRcK3Vu0oIcCXEQ1TLRZM1dcKn0JrN0o/8Yfvy';
/** Time for which the hashes of a site are remembered, in milliseconds: finding them takes a look at every user. */
const CACHE_MS = 3_600_000;
/**
 * Hashes with higher work factors than these are no decoys: each failure would take as long as they do, which is
 * seconds. They are PHP's highest default, and the factor of phpass that takes as long (WordPress used 13).
 */
const MAX_FACTORS: Readonly<Record<HashCost['algorithm'], number>> = { bcrypt: 12, phpass: 16 };

const hashesBySite = new WeakMap<object, { readonly at: number; readonly hashes: Promise<readonly string[]> }>();

/**
 * Returns hashes to compute after a wrong password, in addition to the user's own, so that the time does not tell
 * whether there is such a user: the slowest hash of each algorithm among all users, except one like the user's own.
 * Argon2 is no such algorithm, since it takes seconds here: with one hash of it, guesses at any name would keep out
 * everybody. Failures for the users that have such a hash, or one beyond `MAX_FACTORS`, can take longer than others
 * after a pause (`failure-time.ts`).
 *
 * @param ownHash empty if there is no such user
 */
export async function decoysBeside(site: Pick<Site, 'db'>, ownHash: string): Promise<readonly string[]> {
  const own = costOfHash(ownHash);
  return (await usualHashes(site)).filter((hash) => {
    const cost = costOfHash(hash);
    return cost?.algorithm !== own?.algorithm || cost?.factor !== own?.factor;
  });
}

function usualHashes(site: Pick<Site, 'db'>): Promise<readonly string[]> {
  const now = performance.now();
  const cached = hashesBySite.get(site);
  if (cached && now - cached.at < CACHE_MS) return cached.hashes;
  const hashes = passwordHashesOfEachCost(site.db).then(slowestOfEachAlgorithm);
  hashesBySite.set(site, { at: now, hashes });
  hashes.catch(() => hashesBySite.delete(site));
  return hashes;
}

function slowestOfEachAlgorithm(stored: readonly string[]): readonly string[] {
  const slowest = new Map<HashCost['algorithm'], { readonly hash: string; readonly factor: number }>();
  for (const hash of stored) {
    const { algorithm, factor } = costOfHash(hash) ?? {};
    if (algorithm === undefined || factor === undefined || factor > MAX_FACTORS[algorithm]) continue;
    if (factor > (slowest.get(algorithm)?.factor ?? 0)) slowest.set(algorithm, { hash, factor });
  }
  return slowest.size > 0 ? [...slowest.values()].map(({ hash }) => hash) : [DUMMY_HASH];
}

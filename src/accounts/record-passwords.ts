import { fail } from '../errors.ts';
import { postTypes } from '../kinds/index.ts';
import type { Site } from '../site.ts';
import { countProtected } from '../storage/post-visibility.ts';
import { attemptsOf } from './attempts.ts';

/**
 * Lets a request go on that brings the password of a protected record, unless its address has been wrong too often, in
 * signing in or in this. A password is wrong when it opens no record of the site, though some are protected.
 *
 * The right one is refused along with the others then: else the refusals would not keep anybody from trying them all.
 * From other addresses it goes on working.
 *
 * @param password parameter `password` as it came; what is no text, or empty, opens nothing and counts as none
 * @throws too-many-requests with `data.retry_after` in seconds
 */
export async function admitRecordPassword(site: Site, password: unknown, address: string): Promise<void> {
  if (typeof password !== 'string' || password === '') return;
  const attempts = attemptsOf(site);
  const wait = attempts.waitOf(address, site.clock());
  if (wait !== undefined) fail('too-many-requests', { data: { retry_after: wait } });
  const { all, opened } = await countProtected(site.db, postTypes, password);
  if (all > 0 && opened === 0) attempts.failed(address, undefined, site.clock());
}

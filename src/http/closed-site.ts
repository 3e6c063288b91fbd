import type { RequestHandler } from 'express';
import type { SiteSettings } from '../calendar/settings.ts';
import { fail, type ProblemName } from '../errors.ts';
import type { Site } from '../site.ts';
import { isNetwork } from '../storage/rows/options.ts';
import { type SiteState, whyClosed } from '../wordpress/network.ts';

const PROBLEMS: Readonly<Record<Exclude<SiteState, 'open'>, ProblemName>> = {
  deleted: 'site-deleted',
  inactive: 'site-inactive',
  suspended: 'site-suspended',
};

/**
 * Refuses requests to a site that its network has closed, whoever sends them (`ms_site_check`): WordPress does not know
 * yet at this point who sends an application password.
 */
export function refuseClosedSite(site: Site): RequestHandler {
  return async (_req, _res, next) => {
    const reading = site.forAnonymousReads();
    // A site without a network needs no settings for this.
    const network = (await isNetwork(reading.db)) ? (await reading.settings()).network : undefined;
    requireOpenSite({ network });
    next();
  };
}

/**
 * Requires that the network of the site, if there is one, has not closed it.
 *
 * @throws site-deleted, site-inactive, site-suspended
 */
export function requireOpenSite({ network }: Pick<SiteSettings, 'network'>): void {
  const state = whyClosed(network);
  if (state) fail(PROBLEMS[state]);
}

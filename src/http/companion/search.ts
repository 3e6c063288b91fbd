import { EMBED } from '../../kinds/core/params.ts';
import { SEARCH_PARAMS } from '../../kinds/core/search.ts';
import { searchSite } from '../../records/core/site-search.ts';
import { endpoint, type ServedRoute } from '../endpoint.ts';
import { requestsEmbed } from '../term-view.ts';
import { corePage } from './core-reply.ts';

/** WordPress's own route for searching the whole site. */
export const searchRoute: ServedRoute = {
  pattern: '/search',
  texts: 'site-search',
  endpoints: [
    endpoint({
      methods: ['GET'],
      summary: 'search.list',
      params: SEARCH_PARAMS,
      unlistedParams: EMBED,
      mode: 'read',
      allow: 'anyone',
      run: async (site, caller, values) => corePage(await searchSite(site, caller, values, requestsEmbed('self', values._embed))),
    }),
  ],
};

import { BLOG_BASES, type BlogType } from '../../kinds/core-blog.ts';
import { BLOG_FILTERS, BLOG_READING, EMBED, ID } from '../../kinds/core-params.ts';
import { listBlogPosts, mayReadBlogPost, readBlogPost } from '../../records/blog-posts.ts';
import { endpoint, recordEndpoint, type ServedRoute } from '../endpoint.ts';
import { pageWithEmbeds, recordWithEmbeds } from './embeds.ts';

const ofType = (type: BlogType): ServedRoute[] => [
  {
    pattern: `/${BLOG_BASES[type]}`,
    texts: 'core',
    endpoints: [
      endpoint({
        methods: ['GET'],
        summary: `${BLOG_BASES[type]}.list`,
        params: BLOG_FILTERS[type],
        unlisted: EMBED,
        mode: 'read',
        allow: 'anyone',
        run: async (site, caller, values) => pageWithEmbeds(site, caller, await listBlogPosts(site, caller, type, values), values._embed),
      }),
    ],
  },
  {
    pattern: `/${BLOG_BASES[type]}/(?P<id>\\d+)`,
    texts: 'core',
    endpoints: [
      recordEndpoint({
        methods: ['GET'],
        summary: `${BLOG_BASES[type]}.read`,
        params: { ...ID, ...BLOG_READING },
        unlisted: EMBED,
        mode: 'read',
        allow: (lookUp, _caller, values) => mayReadBlogPost(lookUp, type, values),
        run: async (site, caller, values) => {
          const record = await readBlogPost(site, caller, type, values.id, values);
          return { ...(await recordWithEmbeds(site, caller, { record }, { embed: values._embed, hasPage: true })), timeliness: 'always' };
        },
      }),
    ],
  },
];

/** WordPress's own routes of the posts of the blog and of pages, for readers. */
export const blogRoutes: readonly ServedRoute[] = [...ofType('post'), ...ofType('page')];

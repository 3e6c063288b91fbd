import { BLOG_BASES, type BlogType } from '../../kinds/core/blog.ts';
import { BLOG_FILTERS, BLOG_READ_PARAMS } from '../../kinds/core/blog-params.ts';
import { EMBED, ID, READ_CONTEXT } from '../../kinds/core/params.ts';
import { blogCategory } from '../../kinds/core/term.ts';
import { BLOG_CATEGORY_FILTERS } from '../../kinds/core/term-params.ts';
import { listBlogPosts, mayListBlog, mayReadBlogPost, readBlogPost } from '../../records/core/blog-posts.ts';
import { listCoreTerms, mayListCoreTerms, mayReadCoreTerm, readCoreTerm } from '../../records/core/terms.ts';
import { endpoint, recordEndpoint, type ServedRoute } from '../endpoint.ts';
import { pageWithEmbeds, recordWithEmbeds } from './embeds.ts';

const routesOfType = (type: BlogType): ServedRoute[] => [
  {
    pattern: `/${BLOG_BASES[type]}`,
    texts: 'core',
    endpoints: [
      endpoint({
        methods: ['GET'],
        summary: `${BLOG_BASES[type]}.list`,
        params: BLOG_FILTERS[type],
        unlistedParams: EMBED,
        mode: 'read',
        allow: (_look, caller, values) => mayListBlog(caller, type, values),
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
        params: { ...ID, ...BLOG_READ_PARAMS },
        unlistedParams: EMBED,
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

const CATEGORIES: readonly ServedRoute[] = [
  {
    pattern: `/${blogCategory.restBase}`,
    texts: 'core',
    endpoints: [
      endpoint({
        methods: ['GET'],
        summary: 'categories.list',
        params: BLOG_CATEGORY_FILTERS,
        unlistedParams: EMBED,
        mode: 'read',
        allow: (lookUp, caller, values) => mayListCoreTerms(lookUp, caller, blogCategory, values),
        run: async (site, caller, values) =>
          pageWithEmbeds(
            site,
            caller,
            { ...(await listCoreTerms(site, caller, blogCategory, values)), timeliness: 'always' },
            values._embed,
          ),
      }),
    ],
  },
  {
    pattern: `/${blogCategory.restBase}/(?P<id>\\d+)`,
    texts: 'core',
    endpoints: [
      recordEndpoint({
        methods: ['GET'],
        summary: 'categories.read',
        params: { ...ID, ...READ_CONTEXT },
        unlistedParams: EMBED,
        mode: 'read',
        allow: (lookUp, caller, values) => mayReadCoreTerm(lookUp, caller, blogCategory, values),
        run: async (site, caller, values) => {
          const { record } = await readCoreTerm(site, caller, blogCategory, values.id, values);
          return { ...(await recordWithEmbeds(site, caller, { record }, { embed: values._embed, hasPage: false })), timeliness: 'always' };
        },
      }),
    ],
  },
];

/** WordPress's own routes of blog posts, their categories, and pages; read-only. */
export const blogRoutes: readonly ServedRoute[] = [...routesOfType('post'), ...routesOfType('page'), ...CATEGORIES];

import {
  ENDINGS,
  ENDINGS_OF_ALL,
  FEED_VALUES,
  type FeedForm,
  type PathPart,
  QUERY_PAGES,
  SECTIONS,
  type Section,
  type SlugName,
} from '../kinds/feed-pages.ts';

/*
 * What the documentation says of feeds, made of the table that routing goes by: the table of addresses, and the example
 * of a proxy that routes exactly these.
 */

/** The slugs of a site that has not changed them, and examples of all that is in paths besides. */
const SLUGS: Readonly<Record<SlugName, string>> = { events: 'events', event: 'event', tag: 'tag' };
const EXAMPLES: Readonly<Record<PathPart, string>> = {
  category: 'sport',
  tag: 'outdoor',
  event: 'spring-fair',
  linked: 'teatro-rossi',
  month: '2030-06',
  day: '2030-08-05',
  number: '2',
  page: '2',
};

/** A path with the usual slugs and these texts in the places of its parts. */
const fillPath = (path: string, parts: Readonly<Record<PathPart, string>>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: SlugName) => SLUGS[name]).replace(/:(\w+)/g, (_, part: PathPart) => parts[part]);

const exampleOf = (path: string): string => fillPath(path, EXAMPLES);

const withFeeds = SECTIONS.filter(({ feeds }) => feeds !== 'none');
/**
 * Addresses of feeds and what they hold, one row each. Every page of the whole calendar stands for the same one of a
 * category and of a tag.
 */
export function feedRows(): Row[] {
  const [all, ...others] = withFeeds;
  const main = `/${SLUGS.events}/`;
  const news = [...ENDINGS, ...ENDINGS_OF_ALL].filter(([, form]) => form !== 'ical');
  return [
    ...(all?.pages ?? []).map(
      ({ path, meaning }): Row => [`${main}${path === '' ? '' : `${exampleOf(path)}/`}?ical=1`, TYPES.ical, meaning],
    ),
    ...others.map(({ path, meaning }): Row => [`/${exampleOf(path)}/?ical=1`, TYPES.ical, meaning]),
    [`${main}category/music/concerts/jazz/2030-01/?ical=1`, TYPES.ical, 'any of these pages of a category, parents before it or not'],
    [`${main}?outlook-ical=1`, TYPES.ical, '`outlook-ical` is as good as `ical`, whatever the value'],
    [`${main}ical/`, TYPES.ical, 'the same without a query, for every page'],
    ...QUERY_PAGES.map(({ query, meaning }): Row => [`/?${query}`, TYPES[formIn(query)], meaning]),
    ...news.map(([ending, form]): Row => [`${main}${ending}/`, TYPES[form], 'what has not ended, as news']),
    [`${main}category/sport/feed/`, TYPES.rss2, 'news of a category or a tag'],
    [`/${SLUGS.tag}/outdoor/feed/`, TYPES.rss2, 'all events with a tag, the latest published first'],
    [`/${SLUGS.event}/spring-fair/?format=jsonld`, TYPES.jsonld, 'an event as structured data (schema.org)'],
  ];
}

type Row = [address: string, type: string, meaning: string];

const formIn = (query: string): FeedForm => (query.includes('ical=1') ? 'ical' : 'rss2');

const TYPES: Readonly<Record<FeedForm, string>> = {
  ical: 'text/calendar',
  rss2: 'application/rss+xml',
  atom: 'application/atom+xml',
  rdf: 'application/rdf+xml',
  jsonld: 'application/ld+json',
};

// ------------------------------------------------------------------------------------------------- nginx
/** What stands for the parts of a path in the patterns of nginx. */
const PATTERNS: Readonly<Record<PathPart, string>> = {
  category: '([^/?]+/)*[^/?]+',
  tag: '[^/?]+',
  event: '[^/?]+',
  linked: '[^/?]+',
  month: '\\d{4}-\\d\\d',
  day: '\\d{4}-\\d\\d-\\d\\d',
  number: '\\d+',
  page: '\\d+',
};

const patternOf = (path: string): string => fillPath(path, PATTERNS);

function oneOf(patterns: Iterable<string>): string {
  const all = [...patterns];
  return all.length === 1 ? all[0]! : `(${all.join('|')})`;
}
const ICAL_QUERY = '(.*&)?(outlook-)?ical(=|&|$)';
const VALUES = oneOf(FEED_VALUES.keys());
const NEWS_QUERY = `(.*&)?feed=${VALUES}(&|$)`;
const JSON_LD_QUERY = '(.*&)?format=jsonld(&|$)';

/** The addresses of sections with the same pages that are feeds, as a pattern. */
function sectionsPattern(sections: readonly [Section, ...Section[]]): string {
  const [{ pages, feeds, shared }] = sections;
  const news = feeds === 'all' && !shared;
  const below = pages.filter(({ path }) => path !== '').map(({ path }) => patternOf(path));
  const page = `/${oneOf(sections.map(({ path }) => patternOf(path)))}${below.length > 0 ? `(/${oneOf(below)})?` : ''}`;
  const endings = [...ENDINGS].filter(([, form]) => news || form === 'ical').map(([ending]) => ending);
  const queries = [ICAL_QUERY, ...(news ? [NEWS_QUERY] : []), ...(feeds === 'ical' ? [JSON_LD_QUERY] : [])];
  return `${page}(/${oneOf(endings)}/?(\\?|$)|/?\\?${oneOf(queries)})`;
}

/** Sections by what they have in common. */
function groupedSections(): [Section, ...Section[]][] {
  const groups: [Section, ...Section[]][] = [];
  for (const section of withFeeds) {
    const group = groups.find(
      ([{ pages, feeds, shared }]) => pages === section.pages && feeds === section.feeds && shared === section.shared,
    );
    if (group) group.push(section);
    else groups.push([section]);
  }
  return groups;
}

/** Patterns of all addresses that are feeds, below what may stand before each of them. */
const feedPatterns = (): string[] => [
  ...groupedSections().map(sectionsPattern),
  `/${SLUGS.events}/${oneOf(ENDINGS_OF_ALL.keys())}/?(\\?|$)`,
  `/?\\?${ICAL_QUERY}`,
  `/?\\?(?=${NEWS_QUERY})(.*&)?(post_type=tribe_events(&|$)|tribe_events_cat)`,
  `/?\\?(?=${JSON_LD_QUERY})(.*&)?tribe_events=`,
];

/** The configuration of nginx before a WordPress, for these languages of the API. */
export function nginxExample(languages: readonly string[]): string {
  const language = `(/(${languages.join('|')}))?`;
  const routes = [
    `^${language}(/index\\.php)?${language}/wp-json/(tribe/events|calendar/events|tec)/v1(/|\\?|$)`,
    `^${language}(/index\\.php)?${language}/?\\?(.*&)?rest_route=(/|%2F)(tribe(/|%2F)events|calendar(/|%2F)events|tec)(/|%2F)v1`,
    ...feedPatterns().map((pattern) => `^(/index\\.php)?${language}${pattern}`),
  ];
  return `upstream wordpress { server 127.0.0.1:8000; }
upstream fasti {
  server 127.0.0.1:8080;
  # server 127.0.0.1:8081;  # a second process, which takes over while the first one restarts
  keepalive 16;
}

map $request_uri $calendar {
  default wordpress;
${routes.map((route) => `  "~${route}" fasti;`).join('\n')}
}

server {
  listen 80;
  # listen 443 ssl;
  # ssl_certificate     /etc/ssl/example.org.pem;
  # ssl_certificate_key /etc/ssl/example.org.key;
  server_name example.org;
  client_max_body_size 16m;  # as UPLOAD_LIMIT

  proxy_http_version 1.1;
  proxy_set_header Connection "";
  proxy_set_header Host $host;
  proxy_set_header X-Forwarded-For $remote_addr;
  proxy_set_header X-Forwarded-Proto $scheme;

  location / {
    proxy_pass http://$calendar;
    error_page 502 504 = @wordpress;
  }
  # While Fasti does not run, WordPress answers reads. A write might have been done already.
  location @wordpress {
    if ($request_method !~ "^(GET|HEAD)$") { return 502; }
    proxy_pass http://wordpress;
  }
}`;
}

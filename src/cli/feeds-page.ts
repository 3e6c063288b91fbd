import {
  CALENDAR_FEED_PATH_ENDINGS,
  FEED_PARAM_FORMATS,
  FEED_PATH_ENDINGS,
  type FeedFormat,
  hasFeedPath,
  hasNewsFeeds,
  type PathPart,
  QUERY_PAGES,
  SECTIONS,
  type Section,
  type SlugName,
  WHOLE_CALENDAR,
} from '../kinds/feed-pages.ts';

/*
 * Documentation of feeds, generated from the routing table: the table of addresses, and the example of a proxy
 * configuration that routes exactly these.
 */

/** Default slugs, and examples for the other variable parts of paths. */
const DEFAULT_SLUGS: Readonly<Record<SlugName, string>> = { events: 'events', event: 'event', tag: 'tag' };
const EXAMPLE_PARTS: Readonly<Record<PathPart, string>> = {
  category: 'sport',
  tag: 'outdoor',
  event: 'spring-fair',
  linked: 'teatro-rossi',
  month: '2030-06',
  day: '2030-08-05',
  number: '2',
  page: '2',
};

/** Fills in the default slugs and these texts for the variable parts of a path. */
const fillPath = (path: string, parts: Readonly<Record<PathPart, string>>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: SlugName) => DEFAULT_SLUGS[name]).replace(/:(\w+)/g, (_, part: PathPart) => parts[part]);

const exampleOf = (path: string): string => fillPath(path, EXAMPLE_PARTS);

const sectionsWithFeeds = SECTIONS.filter(({ feeds }) => feeds !== 'none');
/**
 * Returns the addresses of feeds and their contents, one row each. The pages of the whole calendar are listed only
 * once, although they also exist for each category and tag.
 */
export function feedRows(): Row[] {
  const [wholeCalendar, ...otherSections] = sectionsWithFeeds;
  const main = `/${DEFAULT_SLUGS.events}/`;
  const news = [...FEED_PATH_ENDINGS, ...CALENDAR_FEED_PATH_ENDINGS].filter(([, form]) => form !== 'ical');
  return [
    ...(wholeCalendar?.pages ?? []).map(
      ({ path, meaning }): Row => [`${main}${path === '' ? '' : `${exampleOf(path)}/`}?ical=1`, TYPES.ical, meaning],
    ),
    ...otherSections.map(({ path, meaning }): Row => [`/${exampleOf(path)}/?ical=1`, TYPES.ical, meaning]),
    [`${main}category/music/concerts/jazz/2030-01/?ical=1`, TYPES.ical, 'any of these pages for a category, with or without its parents'],
    [`${main}?outlook-ical=1`, TYPES.ical, '`outlook-ical` is equivalent to `ical`, with any value'],
    [`${main}ical/`, TYPES.ical, 'the same without a query; works for every page'],
    ...QUERY_PAGES.map(({ query, meaning }): Row => [`/?${query}`, TYPES[formOfQuery(query)], meaning]),
    ...news.map(([ending, form]): Row => [`${main}${ending}/`, TYPES[form], 'events that have not ended, as a news feed']),
    [`${main}category/sport/feed/`, TYPES.rss2, 'news feed of a category or a tag'],
    [`/${DEFAULT_SLUGS.tag}/outdoor/feed/`, TYPES.rss2, 'all events with a tag, the latest published first'],
    [`/${DEFAULT_SLUGS.event}/spring-fair/?format=jsonld`, TYPES.jsonld, 'an event as structured data (schema.org)'],
  ];
}

type Row = [address: string, type: string, meaning: string];

const formOfQuery = (query: string): FeedFormat => (query.includes('ical=1') ? 'ical' : 'rss2');

const TYPES: Readonly<Record<FeedFormat, string>> = {
  ical: 'text/calendar',
  rss2: 'application/rss+xml',
  atom: 'application/atom+xml',
  rdf: 'application/rdf+xml',
  jsonld: 'application/ld+json',
};

// ------------------------------------------------------------------------------------------------- nginx
/** Patterns in nginx for the variable parts of a path. */
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

function alternatives(patterns: Iterable<string>): string {
  const list = [...patterns];
  return list.length === 1 ? list[0]! : `(${list.join('|')})`;
}
const ICAL_QUERY = '(.*&)?(outlook-)?ical(=|&|$)';
const FEED_VALUES_PATTERN = alternatives(FEED_PARAM_FORMATS.keys());
const NEWS_QUERY = `(.*&)?feed=${FEED_VALUES_PATTERN}(&|$)`;
const JSON_LD_QUERY = '(.*&)?format=jsonld(&|$)';

/** Returns a pattern for the feeds of sections with the same pages. */
function sectionsPattern(sections: readonly [Section, ...Section[]]): string {
  const [{ pages, feeds, shared }] = sections;
  const hasNews = hasNewsFeeds({ feeds }) && !shared;
  const pagePatterns = pages.filter(({ path }) => path !== '').map(({ path }) => patternOf(path));
  const page = `/${alternatives(sections.map(({ path }) => patternOf(path)))}${pagePatterns.length > 0 ? `(/${alternatives(pagePatterns)})?` : ''}`;
  const endings = [...FEED_PATH_ENDINGS]
    .filter(([, form]) => hasFeedPath({ feeds }, form) && (hasNews || form === 'ical'))
    .map(([ending]) => ending);
  const queries = [ICAL_QUERY, ...(hasNews ? [NEWS_QUERY] : []), ...(feeds === 'ical' ? [JSON_LD_QUERY] : [])];
  return `${page}(/${alternatives(endings)}/?(\\?|$)|/?\\?${alternatives(queries)})`;
}

/** Groups sections that have the same pages and feeds. */
function groupedSections(): [Section, ...Section[]][] {
  const groups: [Section, ...Section[]][] = [];
  for (const section of sectionsWithFeeds) {
    const group = groups.find(
      ([{ pages, feeds, shared }]) => pages === section.pages && feeds === section.feeds && shared === section.shared,
    );
    if (group) group.push(section);
    else groups.push([section]);
  }
  return groups;
}

/** Returns patterns for all addresses of feeds, without the prefixes that may precede them. */
const feedPatterns = (): string[] => [
  ...groupedSections().map(sectionsPattern),
  `/${alternatives(WHOLE_CALENDAR.map(patternOf))}/${alternatives(CALENDAR_FEED_PATH_ENDINGS.keys())}/?(\\?|$)`,
  `/?\\?${ICAL_QUERY}`,
  `/?\\?(?=${NEWS_QUERY})(.*&)?(post_type=tribe_events(&|$)|tribe_events_cat)`,
  `/?\\?(?=${JSON_LD_QUERY})(.*&)?tribe_events=`,
];

/** Returns an nginx configuration for running in front of a WordPress, with these languages of the API. */
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
  # The editors' area and its files, and <fasti-events> for pages of other sites:
  # "~^/(admin|_fasti)(/|\\?|$)" fasti;
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
  # While Fasti is down, WordPress answers reads. Writes are not repeated: Fasti may already have carried them out.
  location @wordpress {
    if ($request_method !~ "^(GET|HEAD)$") { return 502; }
    proxy_pass http://wordpress;
  }
}`;
}

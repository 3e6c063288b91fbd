import { z } from 'zod';
import type { AllowedValues } from '../host/setting-error.ts';
import { trimEndOf } from '../wordpress/trim.ts';
import {
  ipAddress,
  isFreeNamespace,
  isGeocoderUrlTemplate,
  isProxyTrust,
  isSiteUrl,
  isTileUrlTemplate,
  keySetting,
  languageCode,
  proxyTrust,
  sizeSetting,
  splitAtCommas,
  wholeNumber,
} from './values.ts';

/**
 * A setting. `env`: name of the environment variable; `fallback`: default if the variable is absent or empty
 * (undefined: none); `allowed`: description of valid values for error messages and the docs; `secret`: the value is
 * never shown; `exact`: surrounding white space is part of the value.
 * `docs/configuration.md` is generated from this table.
 */
export interface Setting {
  readonly env: string;
  readonly type: string;
  readonly fallback: string | undefined;
  readonly allowed: AllowedValues;
  readonly meaning: string;
  readonly schema: z.ZodType<unknown, string>;
  readonly secret?: true;
  readonly exact?: true;
}

export const settings = {
  port: {
    env: 'PORT',
    type: 'number',
    fallback: '8080',
    allowed: ['whole-number', { from: 0, to: 65535 }],
    meaning: 'The port the server listens on; 0 takes any that is free.',
    schema: wholeNumber(0, 65_535),
  },
  host: {
    env: 'HOST',
    type: 'text',
    fallback: '127.0.0.1',
    allowed: ['host'],
    meaning:
      'The address the server listens on; by default only this machine, such as a proxy on it, reaches it. `0.0.0.0` is every address of the machine: passwords then travel unencrypted unless something in between encrypts them.',
    schema: z.string().regex(/^[\w.:%-]+$/),
  },
  siteUrl: {
    env: 'SITE_URL',
    type: 'URL',
    fallback: undefined,
    allowed: ['web-address'],
    meaning: "The public address of the site, which begins every URL in an answer. When absent, the site's own `home` option says it.",
    schema: z
      .string()
      .refine(isSiteUrl)
      .transform((value) => trimEndOf(value, '/')),
  },
  metricsPort: {
    env: 'METRICS_PORT',
    type: 'number',
    fallback: undefined,
    allowed: ['whole-number', { from: 0, to: 65535 }],
    meaning:
      'The port, on the address `HOST`, where `/metrics` is served for Prometheus, all workers together; 0 takes any that is free. When absent, there is no such port.',
    schema: wholeNumber(0, 65_535),
  },
  metricsToken: {
    env: 'METRICS_TOKEN',
    type: 'text',
    fallback: undefined,
    allowed: ['token'],
    meaning: 'Who reads `/metrics` must send this as a bearer token; with it, `/metrics` is also served on `PORT`.',
    schema: z.string().regex(/^[\w-]{16,200}$/),
    secret: true,
  },
  databaseUrl: {
    env: 'DATABASE_URL',
    type: 'URL',
    fallback: 'sqlite:data/fasti.sqlite',
    allowed: ['database'],
    meaning:
      'Where the data are. A MySQL or MariaDB address also takes `?socketPath=` and `?ssl=true`, and may list several servers of one cluster, `mysql://user:password@a:3306,b:3306/name`: the first usable one is used (docs/scaling.md).',
    schema: z.string().regex(/^(sqlite:.+|mysql:\/\/.+)$/),
    secret: true,
  },
  databaseReadUrl: {
    env: 'DATABASE_READ_URL',
    type: 'URL',
    fallback: undefined,
    allowed: ['replicas'],
    meaning:
      'Replicas of `DATABASE_URL`, from which anonymous callers are answered. Everything else goes to `DATABASE_URL`, and so do reads for which no replica has caught up with this process.',
    schema: z.string().regex(/^mysql:\/\/.+$/),
    secret: true,
  },
  databaseReadLag: {
    env: 'DATABASE_READ_LAG_MS',
    type: 'number',
    fallback: '2000',
    allowed: ['whole-number', { from: 100, to: 3600000 }],
    meaning: 'How many milliseconds a replica may lag behind. One that is further behind is not read.',
    schema: wholeNumber(100, 3_600_000),
  },
  folder: {
    env: 'FASTI_FOLDER',
    type: 'path',
    fallback: undefined,
    allowed: ['folder'],
    meaning:
      'The folder that relative paths in settings start from, and that may hold the file `.env`; by default the current one. The command `bin/fasti` sets it to the folder of the project.',
    schema: z.string(),
  },
  tablePrefix: {
    env: 'TABLE_PREFIX',
    type: 'text',
    fallback: 'wp_',
    allowed: ['prefix'],
    meaning: 'What the names of the WordPress tables begin with (`$table_prefix` in `wp-config.php`).',
    schema: z.string().regex(/^\w{1,20}$/),
  },
  networkSite: {
    env: 'NETWORK_SITE',
    type: 'number',
    fallback: '1',
    allowed: ['whole-number', { from: 1, to: 1000000000 }],
    meaning:
      'Which site of a WordPress network (multisite) is served, by the number in the names of its tables (`wp_2_posts`); `TABLE_PREFIX` stays `wp_`, and `UPLOADS_DIR` is the folder of that site (`uploads/sites/2`). 1: the first one, or a site that is in no network.',
    schema: wholeNumber(1, 1_000_000_000),
  },
  restNamespace: {
    env: 'REST_NAMESPACE',
    type: 'text',
    fallback: 'calendar/events/v1',
    allowed: ['namespace'],
    meaning: 'The namespace of the API. `tribe/events/v1` is served beside it, whatever stands here.',
    schema: z
      .string()
      .regex(/^[a-z0-9_-]+(\/[a-z0-9_-]+)+$/)
      .refine(isFreeNamespace),
  },
  languages: {
    env: 'LANGUAGES',
    type: 'list',
    fallback: 'en,it',
    allowed: ['languages'],
    meaning:
      'The languages of the texts; each needs its folder in `locales/`, which a build copies. The first one is the default of the site.',
    schema: z
      .string()
      .transform(splitAtCommas)
      .pipe(z.tuple([languageCode()], languageCode()))
      .refine((codes) => new Set(codes).size === codes.length)
      .transform((codes): readonly [string, ...string[]] => Object.freeze(codes)),
  },
  contentLanguages: {
    env: 'CONTENT_LANGUAGES',
    type: 'choice',
    fallback: 'auto',
    allowed: ['one-of', { choices: 'auto, off, polylang, wpml' }],
    meaning:
      'Where the languages of events, venues, organizers and categories are read from. `auto`: from the tables of WPML or Polylang, whichever is active, and in a database without WordPress from rows in the form of Polylang. `off`: content has no language.',
    schema: z.enum(['auto', 'off', 'polylang', 'wpml']),
  },
  contentLanguageDefault: {
    env: 'CONTENT_LANGUAGE_DEFAULT',
    type: 'text',
    fallback: 'auto',
    allowed: ['content-language'],
    meaning:
      'The language of the records in lists for which a request chooses none: `all` of them, the `default` one of the site, or the one of this code. `auto`: all where WordPress runs Polylang, which lists them so; otherwise the default one.',
    schema: z.string().regex(/^[A-Za-z][\w-]{1,19}$/),
  },
  uploadsDir: {
    env: 'UPLOADS_DIR',
    type: 'path',
    fallback: 'data/uploads',
    allowed: ['folder'],
    meaning:
      'The folder of uploaded files, as `wp-content/uploads` of WordPress; served at that path to everybody, so that nothing else belongs into it.',
    schema: z.string(),
  },
  backupsDir: {
    env: 'BACKUPS_DIR',
    type: 'path',
    fallback: 'data/backups',
    allowed: ['folder'],
    meaning:
      'The folder of backups: the page *Health* at `/admin` lists them, and puts new ones there, unless it is within `UPLOADS_DIR`, which web servers serve to everybody. `fasti backup` writes to whatever file it is given.',
    schema: z.string(),
  },
  maxPerPage: {
    env: 'MAX_PER_PAGE',
    type: 'number',
    fallback: '50',
    allowed: ['whole-number', { from: 1, to: 1000 }],
    meaning:
      'The longest page of a list of the API. A longer one that is asked for becomes this long. Lists of `wp/v2` and `tec/v1` have at most 100 records on a page.',
    schema: wholeNumber(1, 1000),
  },
  workers: {
    env: 'WORKERS',
    type: 'number',
    fallback: '1',
    allowed: ['whole-number', { from: 1, to: 64 }],
    meaning: 'How many processes serve on the one port; as many as there are processors is a good number.',
    schema: wholeNumber(1, 64),
  },
  cache: {
    env: 'CACHE',
    type: 'switch',
    fallback: 'on',
    allowed: ['one-of', { choices: 'on, off' }],
    meaning: 'Whether answers to anonymous callers are kept in memory until something changes.',
    schema: z.enum(['on', 'off']).transform((value) => value === 'on'),
  },
  cacheBytes: {
    env: 'CACHE_MB',
    type: 'number',
    fallback: '64',
    allowed: ['whole-number', { from: 1, to: 4096 }],
    meaning: 'How many megabytes of answers are kept in memory, per process.',
    schema: wholeNumber(1, 4096).transform((megabytes) => megabytes * 1024 * 1024),
  },
  cacheFreshness: {
    env: 'CACHE_FRESHNESS_MS',
    type: 'number',
    fallback: '100',
    allowed: ['whole-number', { from: 0, to: 60000 }],
    meaning: 'After how many milliseconds a process notices what another process has written. Its own writes it sees at once.',
    schema: wholeNumber(0, 60_000),
  },
  cacheStale: {
    env: 'CACHE_STALE_SECONDS',
    type: 'number',
    fallback: '60',
    allowed: ['whole-number', { from: 1, to: 86400 }],
    meaning:
      'Where WordPress writes to the same MySQL or MariaDB database: for how many seconds, at most, an answer is still given that a change made wrong without the server showing it. What the server shows, which is nearly everything, is noticed after `CACHE_FRESHNESS_MS`.',
    schema: wholeNumber(1, 86_400).transform((seconds) => seconds * 1000),
  },
  followWordpress: {
    env: 'FOLLOW_WORDPRESS',
    type: 'switch',
    fallback: 'on',
    allowed: ['one-of', { choices: 'on, off' }],
    meaning:
      'Where WordPress writes to the same database (`SHARED_WITH_WORDPRESS`): whether its changes are taken into the journal, for `/changes` and webhooks, and into the index, which lists are then read from. With `off` each of them makes all that is remembered old, and lists are read from its tables.',
    schema: z.enum(['on', 'off']).transform((value) => value === 'on'),
  },
  journalDays: {
    env: 'JOURNAL_DAYS',
    type: 'number',
    fallback: '90',
    allowed: ['whole-number', { from: 1, to: 3650 }],
    meaning:
      'For how many days changes stay in the journal. A client that has not asked for changes for longer has to read everything again.',
    schema: wholeNumber(1, 3650),
  },
  changeStreams: {
    env: 'CHANGE_STREAMS',
    type: 'number',
    fallback: '100',
    allowed: ['whole-number', { from: 0, to: 10000 }],
    meaning:
      'How many clients may follow `/changes/stream` at the same time, per process. A quarter of the places is for those who have signed in, and no user has more than three quarters. Anonymous clients at one address have ten places.',
    schema: wholeNumber(0, 10_000),
  },
  webhookAddresses: {
    env: 'WEBHOOK_ADDRESSES',
    type: 'list',
    fallback: '',
    allowed: ['addresses'],
    meaning:
      'Addresses that webhooks may be sent to although they are inside your own network. All others must be public, and are reached on the ports 80, 443 and 8080 only.',
    schema: z
      .string()
      .transform((list) => splitAtCommas(list).filter((one) => one !== ''))
      .pipe(z.array(ipAddress())),
  },
  sharedWithWordpress: {
    env: 'SHARED_WITH_WORDPRESS',
    type: 'choice',
    fallback: 'auto',
    allowed: ['one-of', { choices: 'auto, on, off' }],
    meaning:
      'Whether WordPress writes to the same database meanwhile, so that its changes are looked for too. `auto`: where the calendar plugin is active in it, even if nobody runs that WordPress any more. With `off`, run `fasti reindex` once.',
    schema: z.enum(['auto', 'on', 'off']),
  },
  pages: {
    env: 'PAGES',
    type: 'choice',
    fallback: 'auto',
    allowed: ['one-of', { choices: 'auto, on, off' }],
    meaning:
      'Whether the calendar is served as HTML pages too: `/`, `/events/`, `/event/…`, `/venue/…`, `/organizer/…`. `auto`: unless WordPress serves them, that is, unless the calendar plugin is active in this database (`SHARED_WITH_WORDPRESS`).',
    schema: z.enum(['auto', 'on', 'off']),
  },
  themeDir: {
    env: 'THEME_DIR',
    type: 'path',
    fallback: undefined,
    allowed: ['folder'],
    meaning: 'A folder with stylesheets, a logo and views that make the HTML pages look like the rest of your site (docs/pages.md).',
    schema: z.string(),
  },
  mapTiles: {
    env: 'MAP_TILES',
    type: 'URL',
    fallback: undefined,
    allowed: ['map-tiles'],
    meaning:
      "Where the form of a venue takes its map from, on which editors drag a pin to the venue: `https://tiles.example.org/{z}/{x}/{y}.png`. Editors' browsers load it from there. When absent, there is no map, and nothing is loaded from elsewhere.",
    schema: z.string().refine(isTileUrlTemplate),
  },
  mapAttribution: {
    env: 'MAP_ATTRIBUTION',
    type: 'text',
    fallback: undefined,
    allowed: ['short-text'],
    meaning: 'Whose map it is, as its provider wants it said below the map: `© OpenStreetMap contributors`.',
    schema: z.string().max(200),
  },
  geocoderUrl: {
    env: 'GEOCODER_URL',
    type: 'text',
    fallback: undefined,
    allowed: ['geocoder'],
    meaning:
      'Where the form of a venue finds the coordinates of an address: `https://nominatim.example.org/search?format=jsonv2&limit=1&q={address}`. Fasti asks it, when an editor presses the button, and reads JSON as Nominatim gives it, or GeoJSON (Photon, Pelias). When absent, there is no such button.',
    schema: z.string().refine(isGeocoderUrlTemplate),
    // Many services require an API key, anywhere in the URL.
    secret: true,
  },
  customTables: {
    env: 'CUSTOM_TABLES',
    type: 'choice',
    fallback: 'auto',
    allowed: ['one-of', { choices: 'auto, off' }],
    meaning:
      'Whether lists of events read the two tables of the calendar plugin. `auto`: as the options of the site say. `off`: never; for a site that sets `TEC_CUSTOM_TABLES_V1_DISABLED` as a constant or in its environment, which the database does not tell.',
    schema: z.enum(['auto', 'off']),
  },
  logLevel: {
    env: 'LOG_LEVEL',
    type: 'choice',
    fallback: 'info',
    allowed: ['one-of', { choices: 'fatal, error, warn, info, debug, trace, silent' }],
    meaning: 'The least important entries that are still written to the log.',
    schema: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
  },
  logFormat: {
    env: 'LOG_FORMAT',
    type: 'choice',
    fallback: 'auto',
    allowed: ['one-of', { choices: 'auto, json, pretty' }],
    meaning:
      'How the log is written: `json`, one object on each line, or `pretty`, for people. `auto`: for people on a terminal, else JSON.',
    schema: z.enum(['auto', 'json', 'pretty']),
  },
  trustProxy: {
    env: 'TRUST_PROXY',
    type: 'text',
    fallback: 'off',
    allowed: ['proxies'],
    meaning:
      "Whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed: nobody's, everybody's, those of the given number of proxies before the server, or of proxies at these addresses.",
    schema: z.string().refine(isProxyTrust).transform(proxyTrust),
  },
  basicAuth: {
    env: 'BASIC_AUTH',
    type: 'choice',
    fallback: 'always',
    allowed: ['one-of', { choices: 'always, https' }],
    meaning:
      'When application passwords are accepted: on every connection, or only on encrypted ones (as WordPress does outside local installations; behind a proxy this needs `TRUST_PROXY`). On others they are ignored.',
    schema: z.enum(['always', 'https']),
  },
  loggedInKey: keySetting('LOGGED_IN_KEY'),
  loggedInSalt: keySetting('LOGGED_IN_SALT'),
  nonceKey: keySetting('NONCE_KEY'),
  nonceSalt: keySetting('NONCE_SALT'),
  emptyTrashDays: {
    env: 'EMPTY_TRASH_DAYS',
    type: 'number',
    fallback: '30',
    allowed: ['whole-number', { from: 0, to: 36500 }],
    meaning:
      'As in WordPress, 0 means that there is no trash and deleting is final. With any other number there is one: Fasti deletes nothing from it by itself, a WordPress that runs on the same database does so after as many days.',
    schema: wholeNumber(0, 36_500),
  },
  bodyLimit: sizeSetting(
    'BODY_LIMIT',
    '1mb',
    'The largest body of a request that holds JSON or a form, files not counted. 64 kB at most are taken from callers who have not signed in, and with GET and DELETE. A larger one is refused with 413.',
  ),
  uploadLimit: sizeSetting(
    'UPLOAD_LIMIT',
    '16mb',
    'The largest body of a request that uploads a file, whatever goes with the file included. A larger one is refused with 413.',
  ),
  bodyMemory: sizeSetting(
    'BODY_MEMORY',
    '48mb',
    'How much memory the bodies of all requests may take together, per process; never less than one upload. A body takes the length it announces as soon as it begins, one sent in chunks the longest it may have until it has come in. A quarter is for callers who have not signed in, and no user gets more than two thirds. What goes beyond is refused with 503.',
  ),
  shutdownSeconds: {
    env: 'SHUTDOWN_SECONDS',
    type: 'number',
    fallback: '10',
    allowed: ['whole-number', { from: 0, to: 3600 }],
    meaning:
      'How long requests under way may take to finish once the server is asked to stop. A few seconds later it has ended, whatever happens.',
    schema: wholeNumber(0, 3600),
  },
  watchdogSeconds: {
    env: 'WATCHDOG_SECONDS',
    type: 'number',
    fallback: '30',
    allowed: ['whole-number', { from: 0, to: 3600 }],
    meaning:
      'A process that is stuck for so long, in an endless loop for instance, is killed; one of several workers is replaced, else whoever started it starts it again. 0: never.',
    schema: wholeNumber(0, 3600),
  },
} as const satisfies Record<string, Setting>;

/** Names of the environment variables that are settings. */
export const settingVariables: readonly string[] = Object.values(settings).map(({ env }) => env);

import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { configurationPage } from '../src/cli/docs.ts';
import { ConfigError, readConfig, servedNamespaces } from '../src/config/config.ts';
import { type Setting, settings } from '../src/config/settings.ts';
import { SettingError, type SettingProblem } from '../src/host/setting-error.ts';
import { companionNamespaces } from '../src/http/companion/namespaces.ts';
import { settingSentence } from '../src/refusals.ts';
import { loadTexts, sayIn } from '../src/texts.ts';

const { allowed: _allowed, ...problems } = JSON.parse(readFileSync(new URL('../locales/en/cli.json', import.meta.url), 'utf8')).settings;
const KEYS = { LOGGED_IN_KEY: 'a', LOGGED_IN_SALT: 'b', NONCE_KEY: 'c', NONCE_SALT: 'd' };
const complaint = (env: Record<string, string>) => {
  try {
    readConfig(env);
  } catch (error) {
    return error;
  }
};
const texts = await loadTexts(['en', 'it']);
const sentence = (error: unknown, language = 'en') => (error instanceof SettingError ? settingSentence(sayIn(texts, language), error) : '');

/** Words that occur in English sentences about settings and in no Italian one. */
const ENGLISH =
  /\b(the|must|be|cannot|is|are|which|with|without|and|or|of|letters|number|numbers|address|folder|text|names|given|path|user)\b/i;

describe('sentences about settings that cannot be used', () => {
  it.each(Object.values<Setting>(settings).map((setting) => [setting.env, setting] as const))(
    'are in one language: %s',
    (env, { schema }) => {
      const wrong = ['§', '-1', ' '.repeat(300)].find(
        (value) => !schema.safeParse(value.trim() || undefined).success && value.trim() !== '',
      );
      const error = wrong === undefined ? undefined : complaint({ [env]: wrong });
      if (error === undefined) return;
      expect(sentence(error, 'it').replace('{address}', '')).not.toMatch(ENGLISH);
      expect(sentence(error, 'it')).not.toBe(sentence(error));
      expect(sentence(error, 'it')).not.toContain('cli:');
    },
  );

  it.each(Object.keys(problems))('exist in every language for %s', (problem) => {
    const words = {
      name: 'X',
      value: '1',
      file: 'f',
      other: 'Y',
      reason: 'r',
      form: 'm',
      server: 's',
      parameters: 'p',
      parameter: 'p',
      missing: 'A',
      names: 'B',
      languages: 'l',
      language: 'l',
      folder: 'd',
    };
    const error = new SettingError(problem as SettingProblem, words, { allowed: ['folder'] });
    expect(sentence(error, 'it')).not.toMatch(/\{\{|cli:/);
    expect(sentence(error, 'it').replace(/sqlite:PERCORSO/, '')).not.toMatch(ENGLISH);
    expect(sentence(error, 'en')).not.toMatch(/\{\{|cli:/);
  });
});

describe('settings', () => {
  it('have defaults', () =>
    expect(readConfig({})).toEqual({
      port: 8080,
      host: '127.0.0.1',
      siteUrl: undefined,
      metricsPort: undefined,
      metricsToken: undefined,
      databaseUrl: 'sqlite:data/fasti.sqlite',
      databaseReadUrl: undefined,
      databaseReadLag: 2000,
      tablePrefix: 'wp_',
      networkSite: 1,
      restNamespace: 'calendar/events/v1',
      languages: ['en', 'it'],
      uploadsDir: 'data/uploads',
      backupsDir: 'data/backups',
      workers: 1,
      maxPerPage: 50,
      pages: 'auto',
      themeDir: undefined,
      mapTiles: undefined,
      geocoderUrl: undefined,
      mapAttribution: undefined,
      contentLanguages: 'auto',
      contentLanguageDefault: 'auto',
      followWordpress: true,
      journalDays: 90,
      logFormat: 'auto',
      cache: true,
      cacheBytes: 64 * 1024 * 1024,
      cacheFreshness: 100,
      cacheStale: 60_000,
      changeStreams: 100,
      webhookAddresses: [],
      logLevel: 'info',
      trustProxy: false,
      basicAuth: 'always',
      keys: undefined,
      emptyTrashDays: 30,
      bodyLimit: 1024 * 1024,
      uploadLimit: 16 * 1024 * 1024,
      bodyMemory: 48 * 1024 * 1024,
      sharedWithWordpress: 'auto',
      customTables: 'auto',
      shutdownSeconds: 10,
      watchdogSeconds: 30,
    }));
  it('cannot be changed afterwards', () => {
    expect(Object.isFrozen(readConfig(KEYS))).toBe(true);
    expect(Object.isFrozen(readConfig(KEYS).keys)).toBe(true);
    expect(Object.isFrozen(readConfig({}).languages)).toBe(true);
  });

  it.each([
    ['PORT', '0', 'port', 0],
    ['PORT', ' 3000 ', 'port', 3000],
    ['PORT', '', 'port', 8080],
    ['HOST', '::1', 'host', '::1'],
    ['SITE_URL', 'https://example.com/town/', 'siteUrl', 'https://example.com/town'],
    ['DATABASE_URL', 'mysql://u:p@localhost/db', 'databaseUrl', 'mysql://u:p@localhost/db'],
    ['DATABASE_URL', 'sqlite::memory:', 'databaseUrl', 'sqlite::memory:'],
    ['DATABASE_READ_LAG_MS', '500', 'databaseReadLag', 500],
    ['TABLE_PREFIX', 'blog_2_', 'tablePrefix', 'blog_2_'],
    ['NETWORK_SITE', '1000000000', 'networkSite', 1_000_000_000],
    ['LANGUAGES', 'it, en', 'languages', ['it', 'en']],
    ['LANGUAGES', 'pt-BR', 'languages', ['pt-BR']],
    ['CACHE', 'off', 'cache', false],
    ['TRUST_PROXY', 'on', 'trustProxy', true],
    ['TRUST_PROXY', '2', 'trustProxy', 2],
    ['TRUST_PROXY', 'loopback, 10.0.0.0/8', 'trustProxy', 'loopback,10.0.0.0/8'],
    ['TRUST_PROXY', 'fd00::/8', 'trustProxy', 'fd00::/8'],
    ['WEBHOOK_ADDRESSES', '10.0.0.5, FD00:0:0::0005,', 'webhookAddresses', ['10.0.0.5', 'fd00::5']],
    ['BASIC_AUTH', 'https', 'basicAuth', 'https'],
    ['EMPTY_TRASH_DAYS', '0', 'emptyTrashDays', 0],
    ['BODY_LIMIT', '1000', 'bodyLimit', 1000],
    ['BODY_LIMIT', '2MB', 'bodyLimit', 2 * 1024 * 1024],
    ['BODY_LIMIT', '512 kb', 'bodyLimit', 512 * 1024],
    ['UPLOAD_LIMIT', '20mb', 'uploadLimit', 20 * 1024 * 1024],
    ['BODY_MEMORY', '1gb', 'bodyMemory', 1024 ** 3],
  ])('%s=%j', (name, given, field, value) => expect(readConfig({ [name]: given })).toHaveProperty(field, value));

  it.each([
    ['PORT', 'eighty'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '8080.5'],
    ['HOST', 'a host'],
    ['SITE_URL', 'example.com'],
    ['SITE_URL', 'ftp://example.com'],
    ['SITE_URL', 'https:example.com'],
    ['SITE_URL', 'https:\\\\example.com'],
    ['SITE_URL', 'https://example.com/a b'],
    ['SITE_URL', 'https://example.com/?p=1'],
    ['SITE_URL', 'https://:secret@example.com/'],
    ['TABLE_PREFIX', 'wp-'],
    ['TABLE_PREFIX', 'wp_`; DROP'],
    ['REST_NAMESPACE', 'calendar'],
    ['REST_NAMESPACE', '/calendar/v1'],
    ['REST_NAMESPACE', 'wp/v2'],
    ['REST_NAMESPACE', 'tec/v1'],
    ['REST_NAMESPACE', 'batch/v1'],
    ['REST_NAMESPACE', 'wp/v2/calendar'],
    ['REST_NAMESPACE', 'tribe/events'],
    ['REST_NAMESPACE', 'tribe/events/v1/mine'],
    ['LANGUAGES', 'en,'],
    ['LANGUAGES', 'en,it,en'],
    ['LANGUAGES', '../etc'],
    ['MAX_PER_PAGE', '0'],
    ['CACHE', 'yes'],
    ['LOG_LEVEL', 'loud'],
    ['TRUST_PROXY', 'my-proxy'],
    ['WEBHOOK_ADDRESSES', 'hooks.internal'],
    ['WEBHOOK_ADDRESSES', '10.0.0.5;10.0.0.6'],
    ['WEBHOOK_ADDRESSES', '10.0.0.0/8'],
    ['BASIC_AUTH', 'never'],
    ['EMPTY_TRASH_DAYS', '-1'],
    ['BODY_LIMIT', '0'],
    ['BODY_LIMIT', '8 miles'],
    ['SHUTDOWN_SECONDS', 'soon'],
  ])('%s=%s is refused in one line that names it, what was given and what is allowed', (name, given) => {
    const error = complaint({ [name]: given });
    expect(error).toBeInstanceOf(ConfigError);
    expect(sentence(error)).toMatch(/^\w+ is ".*"; it must be .+\.$/);
    expect(sentence(error)).toContain(`${name} is ${JSON.stringify(given)};`);
  });
  it('names replicas only of a database that may have some', () => {
    const replicas = { DATABASE_READ_URL: 'mysql://u:p@a,b/db' };
    expect(readConfig({ ...replicas, DATABASE_URL: 'mysql://u:p@c/db' }).databaseReadUrl).toBe('mysql://u:p@a,b/db');
    expect(sentence(complaint(replicas))).toBe(
      'DATABASE_READ_URL is given, but DATABASE_URL names an SQLite database, which has no replicas.',
    );
  });
  it('does not repeat a secret', () =>
    expect(sentence(complaint({ DATABASE_URL: 'postgres://u:hush@h/db' }))).toBe(
      'DATABASE_URL has a value that cannot be used; it must be sqlite:PATH, sqlite::memory: or mysql://user:password@host:port/name.',
    ));
});

describe("WordPress's keys and salts", () => {
  it('are taken together', () =>
    expect(readConfig(KEYS).keys).toEqual({ loggedInKey: 'a', loggedInSalt: 'b', nonceKey: 'c', nonceSalt: 'd' }));
  it('keep leading and trailing spaces, which one key in a dozen has', () =>
    expect(readConfig({ ...KEYS, LOGGED_IN_KEY: ' a', NONCE_SALT: 'd ' }).keys).toMatchObject({ loggedInKey: ' a', nonceSalt: 'd ' }));
  it('are refused if one of the four is missing', () => {
    const { NONCE_SALT: _, ...three } = KEYS;
    expect(sentence(complaint(three))).toBe(
      'NONCE_SALT is absent; LOGGED_IN_KEY, LOGGED_IN_SALT, NONCE_KEY, NONCE_SALT must be given together or not at all.',
    );
    expect(sentence(complaint({ LOGGED_IN_KEY: 'a' }))).toBe(
      'LOGGED_IN_SALT, NONCE_KEY, NONCE_SALT are absent; LOGGED_IN_KEY, LOGGED_IN_SALT, NONCE_KEY, NONCE_SALT must be given together or not at all.',
    );
  });
});

describe('the folder of backups', () => {
  it.each([
    { UPLOADS_DIR: '/srv/uploads', BACKUPS_DIR: '/srv/uploads/backups' },
    { UPLOADS_DIR: '/srv/up', BACKUPS_DIR: '/srv/up-backups' },
    { UPLOADS_DIR: 'data' },
  ])('does not keep a site from starting, since the doctor reports where it is: %j', (env) => expect(() => readConfig(env)).not.toThrow());
});

describe('FASTI_FOLDER', () => {
  const pathsOf = (env: Record<string, string>) => {
    const { databaseUrl, uploadsDir, backupsDir } = readConfig({ FASTI_FOLDER: '/srv/fasti', ...env });
    return [databaseUrl, uploadsDir, backupsDir];
  };
  it('is the base of relative paths', () => {
    expect(pathsOf({})).toEqual(['sqlite:/srv/fasti/data/fasti.sqlite', '/srv/fasti/data/uploads', '/srv/fasti/data/backups']);
    expect(pathsOf({ DATABASE_URL: 'sqlite:./a.sqlite', UPLOADS_DIR: '../up', BACKUPS_DIR: 'kept' })).toEqual([
      'sqlite:/srv/fasti/a.sqlite',
      '/srv/up',
      '/srv/fasti/kept',
    ]);
  });
  it.each(['sqlite:/a.sqlite', 'sqlite:///a.sqlite', 'sqlite::memory:', 'mysql://u:p@h/n'])('does not change %s', (url) =>
    expect(pathsOf({ DATABASE_URL: url, UPLOADS_DIR: '/up', BACKUPS_DIR: '/kept' })).toEqual([url, '/up', '/kept']),
  );
});

describe('namespaces', () => {
  it('are our own and the one that existing clients use', () =>
    expect(servedNamespaces(readConfig({}))).toEqual(['calendar/events/v1', 'tribe/events/v1']));
  it('cannot be one that serves another interface', () => {
    for (const namespace of companionNamespaces().keys()) expect(complaint({ REST_NAMESPACE: namespace })).toBeInstanceOf(ConfigError);
    expect(complaint({ REST_NAMESPACE: 'wp/v20' })).toBeUndefined();
  });
  it('are a single one if REST_NAMESPACE is the one that existing clients use', () =>
    expect(servedNamespaces(readConfig({ REST_NAMESPACE: 'tribe/events/v1' }))).toEqual(['tribe/events/v1']));
});

it('docs/configuration.md is up to date', () =>
  expect(readFileSync(new URL('../docs/configuration.md', import.meta.url), 'utf8')).toBe(configurationPage(texts)));

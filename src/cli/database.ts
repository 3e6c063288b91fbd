import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { createPasswordLink, LINK_LIFETIME_SECONDS } from '../accounts/password-links.ts';
import type { SiteSettings } from '../calendar/settings.ts';
import { type Config, localAddress } from '../config/config.ts';
import { settings } from '../config/settings.ts';
import { DESK_PATH, passwordLinkUrl } from '../desk/visit.ts';
import { whyIndexUnused } from '../records/list-index.ts';
import { addSiteLanguage, requireLanguagesOfNewSite } from '../records/site-languages.ts';
import { seedEvents } from '../sample/generate.ts';
import { seedSample } from '../sample/seed.ts';
import { servesPages } from '../settings-reader.ts';
import type { Site } from '../site.ts';
import { DatabaseUnavailable, hasTable } from '../storage/engine/database.ts';
import { rebuildIndex } from '../storage/freshness/index-rebuild.ts';
import { countEvents } from '../storage/index/event-index-rebuild.ts';
import { findInstallation } from '../storage/schema/installation.ts';
import { migrate } from '../storage/schema/migrate.ts';
import { toIdentityOptions } from '../upkeep/site-options.ts';
import { isLanguageCode, knownLanguage } from '../wordpress/language-names.ts';
import { restUrl } from '../wordpress/links.ts';
import { groupedPassword } from '../wordpress/passwords.ts';
import { trimEndOf } from '../wordpress/trim.ts';
import { parseZone } from '../wordpress/zones.ts';
import { type Administrator, installSite, requireNoSite } from './install.ts';
import { CliError, EXIT_CODE, type Io } from './io.ts';
import { listenAddress, visitAddress } from './listen-address.ts';
import { actingAsUser, parseNumber, userOf, withExamples } from './options.ts';
import { writePasswordFile } from './password-file.ts';
import { print } from './print.ts';
import { actingCaller, configOf, notInstalled, progressOf, type Session, withDatabase, withNewDatabase, withSite } from './session.ts';
import { optionInvalid } from './site-options.ts';
import { onceReachable } from './wait-for-database.ts';

/** Options of `init`, which all have a default. */
interface InitOptions {
  readonly url?: string;
  readonly title?: string;
  readonly timezone?: string;
  readonly login?: string;
  readonly email?: string;
  readonly sample?: boolean;
  /** Whether to ask for missing values at a terminal. */
  readonly asksForMissing?: boolean;
  /** Whether the database may contain sites with other table prefixes. */
  readonly besideOthers?: boolean;
}

/** Adds `start`, `serve`, `init`, `migrate` and `seed`. */
export function addDatabaseCommands(program: Command, session: Session): void {
  const { say, io } = session;

  withExamples(program.command('start').description(say('database.start')), say, [
    'fasti start',
    'DATABASE_URL=mysql://user:password@localhost/wordpress fasti start',
  ])
    .option('--sample', say('database.start-sample'))
    .action((options: InitOptions) => start(session, options));

  withExamples(program.command('serve').description(say('database.serve')), say, [
    'fasti serve',
    'PORT=3000 LOG_LEVEL=warn fasti serve',
  ]).action(async () => {
    await withDatabase(session, 'write', requireSite).catch((error: unknown) => {
      // If the database is unavailable, the server waits for it.
      if (!(error instanceof DatabaseUnavailable)) throw error;
    });
    await io.serve({});
  });

  addInit(program, session);

  withExamples(program.command('migrate').description(say('database.migrate')), say, ['fasti migrate']).action(() =>
    withDatabase(session, 'write', async (site) => {
      io.onFirstChange?.();
      const steps = await migrate(site.db);
      print(io, `${say(steps.length > 0 ? 'done.migrated' : 'done.current', { steps: steps.join(', ') })}\n`);
      const isSite = (await findInstallation(site.db)) === 'site';
      if (isSite && (await whyIndexUnused(site)) === 'missing') print(io, `${say('done.index-missing')}\n`);
    }),
  );

  withExamples(program.command('reindex').description(say('database.reindex')), say, ['fasti reindex']).action(() =>
    withSite(session, 'write', (site) => reindex(session, site)),
  );

  addSeed(program, session);
}

function addInit(program: Command, session: Session): void {
  const { say } = session;
  withExamples(program.command('init').description(say('database.init')), say, [
    'fasti init',
    "fasti init --url=https://calendar.example.org --title='Town calendar' --login=anna --email=anna@example.org",
    'fasti init --sample',
    'fasti init --languages=en,it',
  ])
    .option('--url <url>', say('database.url'))
    .option('--title <text>', say('database.title'))
    .option('--timezone <name>', say('database.timezone'))
    .option('--login <name>', say('database.login'))
    .option('--email <address>', say('database.email'))
    .option('--sample', say('database.sample'))
    .option('--languages <codes>', say('database.languages'))
    .action((options: InitOptions & { readonly languages?: string }) =>
      withNewDatabase(session, async (site) => {
        const codes = parseLanguages(options.languages);
        if (codes.length > 0) requireLanguagesOfNewSite(site.config);
        const besideOthers = Boolean(session.io.env[settings.tablePrefix.env]?.trim());
        await init(session, site, { ...options, besideOthers, asksForMissing: !options.sample });
        for (const code of codes) await addSiteLanguage(site, { code });
        if (options.sample) await seedByCommand(session, site);
      }),
    );
}

function addSeed(program: Command, session: Session): void {
  const { say } = session;
  withExamples(actingAsUser(program.command('seed')).description(say('database.seed')), say, ['fasti seed', 'fasti seed --events 20000'])
    .option('--events <number>', say('database.events'))
    .option('--every-language', say('database.every-language'))
    .action((options: { events?: string; everyLanguage?: boolean }, command: Command) =>
      withSite(session, 'write', async (site) => {
        const events = parseNumber('events', options.events);
        const user = userOf(command);
        const count = await seedByCommand(session, site, user);
        if (events !== undefined) await generateEvents(session, site, events, { user, everyLanguage: options.everyLanguage });
        else if (count === 0) throw new CliError('already-seeded');
      }),
    );
}

/** Returns the languages of a new site; the first one is the default. Throws CliError `language-code-invalid`. */
function parseLanguages(text: string | undefined): string[] {
  const codes = [...new Set(text?.split(',').map((code) => code.trim()) ?? [])];
  const wrong = codes.find((code) => !isLanguageCode(code) || !knownLanguage(code));
  if (wrong !== undefined) throw new CliError('language-code-invalid', { code: wrong }, EXIT_CODE.usage);
  return codes;
}

// ------------------------------------------------------------------------------------------------- verbs
async function requireSite(site: Site): Promise<void> {
  if ((await findInstallation(site.db)) !== 'site') throw await notInstalled(site);
}

async function init(session: Session, site: Site, options: InitOptions): Promise<void> {
  const { io, say } = session;
  const { besideOthers = false } = options;
  // Nobody should answer questions in vain.
  await requireNoSite(site.db, besideOthers);
  const url = trimEndOf(options.url ?? site.config.siteUrl ?? localAddress(site.config), '/');
  const { email, ...rest } = await askIdentity(session, options, url);
  const identityValues = { url, ...rest };
  const identity = toIdentityOptions(identityValues);
  if (typeof identity === 'string') throw optionInvalid(session, identity, identityValues[identity]);
  const administrator: Administrator = { login: options.login ?? 'admin', email };
  const passwordName = say('database.password-name');
  const password = await installSite(site, { identity, email }, administrator, { passwordName, besideOthers });
  print(io, `${say('done.installed', { url })}\n`);
  const link = passwordLinkUrl(url, await createPasswordLink(site, administrator.login, LINK_LIFETIME_SECONDS.first));
  const credentials = say('done.administrator', { login: administrator.login, password: groupedPassword(password) });
  const message = `${say('done.sign-in-link', { url: link, minutes: LINK_LIFETIME_SECONDS.first / 60 })}\n${credentials}\n`;
  print(io, io.isTerminal ? message : `${savePassword(session, site.config, message, administrator.login)}\n`);
  if (administrator.email === '' && !options.sample) print(io, `${say('done.no-email', { login: administrator.login })}\n`);
}

/**
 * Returns name, time zone and email address of a new site: as given, otherwise as the user answers at the terminal,
 * otherwise derived from host and machine.
 */
async function askIdentity(
  session: Session,
  options: InitOptions,
  url: string,
): Promise<{ readonly title: string; readonly timezone: string; readonly email: string }> {
  const { io, say } = session;
  const defaults = options.sample
    ? { title: say('database.sample-title'), timezone: SAMPLE_ZONE }
    : { title: URL.canParse(url) ? new URL(url).hostname : url, timezone: machineTimeZone(io) };
  const answer = async (value: string | undefined, question: string, suggestion: string): Promise<string> =>
    value ?? (options.asksForMissing && io.ask ? await io.ask(say(`database.${question}`), suggestion) : suggestion);
  return {
    title: await answer(options.title, 'ask-title', defaults.title),
    timezone: await answer(options.timezone, 'ask-timezone', defaults.timezone),
    // A wrong address would be worse than none.
    email: await answer(options.email, 'ask-email', ''),
  };
}

/** Returns the time zone of the machine, or UTC if it is unknown; some machines use a special name for that. */
const machineTimeZone = ({ zone = '' }: Io): string => (parseZone(zone)?.rules ? zone : 'UTC');

/** Time zone of the sample calendar. */
const SAMPLE_ZONE = 'Europe/Rome';

/**
 * Writes the password to a file if there is no terminal, since output ends up in logs then. Returns the sentence that
 * names the file.
 */
function savePassword({ say }: Session, config: Config, text: string, login: string): string {
  try {
    return say('done.administrator-file', { login, file: writePasswordFile(config, text) });
  } catch (error) {
    return say('done.administrator-unknown', { login, reason: error instanceof Error ? error.message : String(error) });
  }
}

/** Writes the sample calendar. Returns the number of its events, 0 if it exists already. */
async function seedByCommand(session: Session, site: Site, user?: string): Promise<number> {
  const { io, say } = session;
  const caller = await actingCaller(site, session, user);
  const count = await seedSample(site, caller, (total, work) => progressOf(session)(say('database.seeding'), total, work));
  if (count > 0) print(io, `${say('done.seeded', { count })}\n`);
  return count;
}

async function reindex(session: Session, site: Site): Promise<void> {
  const { io, say } = session;
  const { contentLanguages: languages, shared } = await site.settings();
  const reason = await whyIndexUnused(site);
  if (reason === 'no-tables' || !(await hasTable(site.db, 'tec_occurrences'))) return print(io, `${say('done.not-indexed')}\n`);
  if (reason === 'not-followed') return print(io, `${say('done.not-followed')}\n`);
  const total = await countEvents(site.db);
  const { events, unindexable, isGivenUp } = await progressOf(session)(say('database.reindexing', { count: total }), total, (advance) =>
    rebuildIndex(site.db, site.clock, { marksComplete: true, onProgress: advance, languages, shared }),
  );
  if (unindexable.length > 0)
    throw new CliError('unfit-for-index', { ids: unindexable.slice(0, MAX_IDS_LISTED).join(', '), count: unindexable.length });
  if (isGivenUp) throw new CliError('index-given-up');
  print(io, `${say('done.reindexed', { count: events })}\n`);
}

const MAX_IDS_LISTED = 20;

async function generateEvents(
  session: Session,
  site: Site,
  events: number,
  { user, everyLanguage }: { readonly user: string | undefined; readonly everyLanguage: boolean | undefined },
): Promise<void> {
  const { io, say } = session;
  const caller = await actingCaller(site, session, user);
  await progressOf(session)(say('database.generating', { count: events }), events, (onProgress) =>
    seedEvents(site, caller, events, { everyLanguage, onProgress }),
  );
  print(io, `${say('done.generated', { count: events })}\n`);
}

/** Creates the site, unless another process has created one in the meantime. Returns whether it did. */
async function initUnlessInstalled(session: Session, site: Site, options: InitOptions): Promise<boolean> {
  try {
    await init(session, site, options);
    return true;
  } catch (error) {
    if (error instanceof CliError && error.problem === 'already-installed') return false;
    throw error;
  }
}

/**
 * Runs `npm start`: turns an empty database into a site, an embedded one with the sample calendar, and serves it. A
 * WordPress database is served as it is.
 */
async function start(session: Session, options: InitOptions): Promise<void> {
  const { io, say } = session;
  const config = configOf(session);
  const isEmbedded = config.databaseUrl.startsWith('sqlite:');
  const prepare = async (site: Site): Promise<SiteSettings> => {
    if ((await findInstallation(site.db)) !== 'site') {
      const withSample = isEmbedded || options.sample === true;
      const isNew = await initUnlessInstalled(session, site, { ...options, sample: withSample });
      if (isNew && withSample) await seedByCommand(session, site);
    }
    return site.settings();
  };
  await onceReachable(session, config, () => withNewDatabase(session, ({ db }) => findInstallation(db)));
  // A site that was left half prepared would be taken for a complete one by another attempt.
  const settings = await withNewDatabase(session, prepare);
  // A local test site follows the configured port.
  const followsPort = config.siteUrl === undefined && /^http:\/\/localhost(:\d+)?$/.test(settings.home);
  const home = followsPort ? localAddress(config) : settings.home;
  await io.serve(followsPort ? { SITE_URL: home } : {});
  if (await waitUntilServing(config, io)) printAddresses(session, config, { ...settings, home });
  else print(io, `\n${say('done.not-ready', { url: `${listenAddress(config)}/health/ready` })}\n${say('done.ends')}\n`);
}

const SERVER_START_TIMEOUT_MS = 10_000;
const POLL_INTERVAL_MS = 50;

/**
 * Waits until the server responds, so that the printed addresses work. Returns false if it does not within ten seconds.
 * If the system chooses the port, the address is unknown, and the server counts as running.
 */
async function waitUntilServing(config: Config, { wait = (milliseconds) => sleep(milliseconds, true) }: Io): Promise<boolean> {
  const address = listenAddress(config);
  if (address === undefined) return true;
  for (let remainingMs = SERVER_START_TIMEOUT_MS; remainingMs > 0; ) {
    const startTime = performance.now();
    const answer = await fetch(`${address}/health/ready`, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(Math.ceil(remainingMs)),
    }).catch(() => undefined);
    if (answer?.ok) return true;
    if (!(await wait(POLL_INTERVAL_MS))) return false;
    remainingMs -= Math.max(POLL_INTERVAL_MS, performance.now() - startTime);
  }
  return false;
}

/**
 * Prints the addresses of the site and its first pages, at the address on which this process listens. That may differ
 * from the public one.
 */
function printAddresses({ io, say }: Session, config: Config, settings: SiteSettings): void {
  const home = visitAddress(config) + trimEndOf(new URL(settings.home).pathname, '/');
  const urlOf = (path: string, query: readonly (readonly [string, string])[] = []) =>
    restUrl({ home, settings }, `${config.restNamespace}${path}`, query);
  const urls = [
    ...(servesPages(config, settings) ? [`${home}/`] : []),
    `${home}/doc`,
    urlOf('/events'),
    urlOf('/events', [['per_page', '3']]),
  ];
  print(io, `\n${say('done.listening', { url: settings.home, port: config.port })}\n${urls.map((url) => `  ${url}`).join('\n')}\n`);
  print(io, `${say('done.desk', { url: home + DESK_PATH })}\n${say('done.ends')}\n`);
}

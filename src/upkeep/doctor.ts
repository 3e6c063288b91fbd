import { access, constants, stat } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { listUsers } from '../accounts/users.ts';
import { mayHaveRecurrence } from '../calendar/settings.ts';
import { kinds, termKind } from '../kinds/index.ts';
import { languagesOf } from '../records/record-languages.ts';
import { dropTree } from '../records/term-writes.ts';
import type { Site } from '../site.ts';
import {
  addKey,
  attachedFiles,
  brokenValues,
  type IndexState,
  indexState,
  inspectDatabase,
  makeTables,
  mendValue,
  missingKeys,
  missingTables,
  openImports,
  postsOfNobody,
  sharedSlugs,
  wrongCounts,
} from '../storage/audit/audit.ts';
import { auditDates, type DateFault, REPAIRABLE, repairDates } from '../storage/audit/event-audit.ts';
import { languageFaults } from '../storage/audit/language-audit.ts';
import { ORPHANS } from '../storage/audit/orphans.ts';
import { type PluginState, pluginState } from '../storage/audit/plugin.ts';
import { ROW_FAULTS } from '../storage/audit/post-faults.ts';
import {
  auditRecurrences,
  datesWithoutEvent,
  eventsOfManyStarts,
  postNearBase,
  type RecurrenceFault,
  relationsToNothing,
  removeRelations,
  repairFlag,
  repairRecurrence,
} from '../storage/audit/recurrence-audit.ts';
import { untranslatedLinks } from '../storage/audit/untranslated-links.ts';
import type { ServerReport } from '../storage/engine/cluster.ts';
import type { Database } from '../storage/engine/database.ts';
import type { Inspection } from '../storage/engine/dialect.ts';
import { pagesOf } from '../storage/engine/pages.ts';
import { hasForeignChanges, takeOverChanges } from '../storage/freshness/foreign-changes.ts';
import { comesTo, positionOf } from '../storage/freshness/replicas.ts';
import { indexEvents, type OptionalLanguages } from '../storage/index/event-index.ts';
import { reindexEvents } from '../storage/index/event-index-rebuild.ts';
import { beginCounting } from '../storage/journal/entries.ts';
import { everythingTouched, noteChange } from '../storage/journal/touched.ts';
import { renewEdges } from '../storage/rows/calendar-edges.ts';
import { countsChanges } from '../storage/rows/changes.ts';
import { recount } from '../storage/rows/terms.ts';
import { migrate, pendingMigrations } from '../storage/schema/migrate.ts';
import { findRecurrenceTables } from '../storage/schema/recurrence-tables.ts';
import { countInLanguage } from '../storage/translations/site-languages.ts';
import { mendedArray } from '../wordpress/serialized-repair.ts';
import { nowUtc, parseZone } from '../wordpress/time.ts';
import { trimEndOf } from '../wordpress/trim.ts';

/** Something that is not as it should be. `name`: of a sentence in `upkeep:findings`. */
export interface Finding {
  readonly name: string;
  /** An error gives wrong answers or stops something; a warning should be known; a note may be as it should be. */
  readonly severity: 'error' | 'warning' | 'note';
  readonly count: number;
  readonly examples: readonly string[];
  /** Puts it right; absent: that is for a person to decide. */
  readonly fix?: () => Promise<void>;
}

/** What a site runs on. */
export interface Versions {
  readonly fasti: string;
  readonly node: string;
  readonly database: string;
  /** Version of the rules of time zones. */
  readonly zones: string;
}

export interface Health {
  readonly versions: Versions;
  /** The servers of the database and its replicas; none for an SQLite file. */
  readonly servers: readonly (ServerReport & { readonly replica: boolean })[];
  /** The WordPress plugin that reports changes; absent: there is no sign of it. */
  readonly plugin?: PluginState;
  readonly findings: readonly Finding[];
}

const EXAMPLES = 10;

/**
 * Looks a site through: its database and tables, what is in them, its files and settings. It only reads; what can be
 * repaired without a choice to be made has a `fix`.
 *
 * @throws DatabaseUnavailable
 */
export async function examine(site: Site, version: string): Promise<Health> {
  const { db } = site;
  const inspection = await inspectDatabase(db);
  const versions = { fasti: version, node: process.versions.node, database: inspection.version, zones: process.versions.tz ?? '' };
  const tables = await tableFindings(site, inspection);
  const servers = [
    ...(await db.cluster.report()).map((server) => ({ ...server, replica: false })),
    ...(await Promise.all(site.replicas.map((replica) => replica.cluster.report()))).flat().map((server) => ({ ...server, replica: true })),
  ];
  // Without all tables nothing else can be asked.
  if (tables.some(({ name }) => name === 'tables-missing')) return { versions, servers, findings: tables };
  const plugin = await pluginState(db);
  return {
    versions,
    servers,
    ...(plugin ? { plugin } : {}),
    findings: [
      ...tables,
      ...(await serverFindings(site, servers)),
      ...(await settingFindings(site)),
      ...(await orphanFindings(site)),
      ...(await rowFindings(site)),
      ...(await languageFindings(site)),
      ...(await dateFindings(site)),
      ...(await recurrenceFindings(site)),
      ...(await valueFindings(site)),
      ...(await fileFindings(site)),
      ...(await noteFindings(site)),
      ...pluginFindings(site, plugin),
    ],
  };
}

const finding = (name: string, severity: Finding['severity'], all: readonly string[], fix?: () => Promise<void>): Finding[] =>
  all.length === 0 ? [] : [{ name, severity, count: all.length, examples: all.slice(0, EXAMPLES), ...(fix ? { fix } : {}) }];

/** Runs a repair as one transaction, and says that something was changed. */
const repair = (site: Site, work: (db: Database) => Promise<unknown>) => (): Promise<void> =>
  site.db.transaction(async (db) => {
    await work(db);
    everythingTouched(db);
    noteChange(db, { now: site.clock() });
  });

// ------------------------------------------------------------------------------------------------- tables
async function tableFindings(site: Site, inspection: Inspection): Promise<Finding[]> {
  const { db } = site;
  const missing = await missingTables(db);
  const own = missing.filter((name) => name.startsWith(`${db.prefix}fasti_`));
  const keys = missingKeys(db, inspection);
  const faultyTables = (what: Inspection['faults'][number]['what']) =>
    inspection.faults.filter((fault) => fault.what === what).map(({ of, value }) => [of, value].filter(Boolean).join(' '));
  const pending = missing.length > 0 ? [] : await pendingMigrations(db);
  return [
    ...finding('database-damaged', 'error', faultyTables('damaged')),
    // WordPress's own tables are WordPress's to make.
    ...finding(
      'tables-missing',
      'error',
      missing,
      own.length === missing.length
        ? async () => {
            await migrate(db);
            await makeTables(db, await missingTables(db));
          }
        : undefined,
    ),
    ...finding('steps-pending', 'error', pending, async () => void (await migrate(db))),
    ...finding(
      'keys-missing',
      'warning',
      keys.map(({ table, columns }) => `${table} (${columns.join(', ')})`),
      async () => {
        for (const key of keys) await addKey(db, key);
      },
    ),
    ...finding('engine', 'warning', faultyTables('engine')),
    ...finding('charset', 'warning', faultyTables('charset')),
  ];
}

// ------------------------------------------------------------------------------------------------- servers
async function serverFindings({ db, replicas, config }: Site, servers: Health['servers']): Promise<Finding[]> {
  const serverLines = (which: (server: Health['servers'][number]) => boolean) =>
    servers.filter(which).map(({ name, detail }) => (detail.startsWith(name) ? detail : `${name}: ${detail}`));
  const position = replicas.length > 0 ? await positionOf(db) : undefined;
  const behind = await Promise.all(
    replicas.map(async (replica, place) => {
      const { name, fitness } = servers.filter((server) => server.replica)[place]!;
      if (fitness === 'unfit' || !position) return [];
      return (await comesTo(replica, position, config.databaseReadLag)) ? [] : [name];
    }),
  );
  return [
    ...finding(
      'servers-unfit',
      'warning',
      // One that takes no writes is what a second server usually is.
      serverLines(({ fitness, inUse, replica }) => !replica && fitness !== 'fit' && (fitness !== 'read-only' || inUse)),
    ),
    ...finding(
      'replicas-unfit',
      'warning',
      serverLines(({ fitness, replica }) => replica && fitness === 'unfit'),
    ),
    ...finding('replicas-behind', 'warning', behind.flat()),
  ];
}

// ------------------------------------------------------------------------------------------------- settings
async function settingFindings(site: Site): Promise<Finding[]> {
  const settings = await site.settings();
  const { raw, timezoneString, roles } = settings;
  const absent = ['home', 'siteurl', `${site.db.prefix}user_roles`].filter((name) => !raw.get(name));
  const administrators = (await listUsers(site)).filter((user) => user.roles.includes('administrator'));
  const home = trimEndOf(raw.get('home') ?? '', '/');
  return [
    ...finding('settings-missing', 'error', absent),
    ...finding('roles-unreadable', 'error', roles !== null && typeof roles === 'object' ? [] : [`${site.db.prefix}user_roles`]),
    ...finding('zone-of-site', 'error', timezoneString !== '' && !parseZone(timezoneString) ? [timezoneString] : []),
    ...finding('no-administrator', 'warning', administrators.length === 0 ? [''] : []),
    ...finding('address-differs', 'warning', home !== '' && home !== settings.home ? [`${home} / ${settings.home}`] : []),
  ];
}

// ------------------------------------------------------------------------------------------------- rows
async function orphanFindings(site: Site): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { name, find, fix } of ORPHANS) {
    const { count, examples } = await find(site.db);
    const mend = repair(site, async (db) => {
      await fix(db);
      if (name === 'parents-gone') await dropTree(db, termKind('category'));
    });
    if (count > 0) findings.push({ name, severity: name === 'rows-without-event' ? 'error' : 'warning', count, examples, fix: mend });
  }
  const counts = await wrongCounts(site.db);
  findings.push(
    ...finding(
      'counts-wrong',
      'error',
      counts.map(({ name, count, real }) => `${name}: ${count} / ${real}`),
      repair(site, (db) =>
        recount(
          db,
          counts.map(({ termTaxonomyId }) => termTaxonomyId),
        ),
      ),
    ),
    ...finding(
      'slugs-shared',
      'warning',
      (await sharedSlugs(site.db, (await site.settings()).contentLanguages)).map(({ type, slug, count }) => `${type} ${slug} (${count})`),
    ),
    ...finding('authors-gone', 'warning', (await postsOfNobody(site.db)).map(String)),
  );
  return findings;
}

async function rowFindings(site: Site): Promise<Finding[]> {
  const { zone } = await site.settings();
  const findings: Finding[] = [];
  for (const { name, severity, find, fix } of ROW_FAULTS) {
    const mend = fix && repair(site, (db) => fix(db, { zone, now: site.clock() }).then(() => dropTree(db, termKind('category'))));
    findings.push(...finding(name, severity, await find(site.db), mend));
  }
  return findings;
}

/** What is wrong with the languages of records, and which records have none: these are invisible in most lists. */
async function languageFindings(site: Site): Promise<Finding[]> {
  const settings = await site.settings();
  const { contentLanguages: languages } = settings;
  if (!languages) return [];
  const findings: Finding[] = [];
  for (const { name, severity, find, fix } of languageFaults(languages))
    findings.push(...finding(name, severity, await find(site.db), repair(site, fix)));
  const neutral: string[] = [];
  for (const kind of kinds) {
    const own = languagesOf({ settings }, kind);
    const count = own ? await countInLanguage(site.db, languages, own.of, null) : 0;
    if (count > 0) neutral.push(`${kind.path}: ${count}`);
  }
  return [
    ...findings,
    ...finding('languages-missing', 'warning', neutral),
    ...finding('links-untranslated', 'note', await untranslatedLinks(site.db, languages)),
  ];
}

async function dateFindings(site: Site): Promise<Finding[]> {
  const { occurrenceTables: rows, recurrence, calendar, contentLanguages } = await site.settings();
  const found = new Map<DateFault, number[]>();
  for await (const { id, fault } of auditDates(site.db, { rows, recurrence })) found.set(fault, [...(found.get(fault) ?? []), id]);
  return [...found].flatMap(([fault, ids]) => {
    const mend = async (): Promise<void> => {
      for (const some of pagesOf(ids, AT_ONCE)) {
        await repair(site, async (db) => {
          const kept = { rows, recurrence, now: nowUtc(site.clock()), cutoff: calendar.cutoff };
          for (const id of some) await repairDates(db, id, kept);
          await indexEvents(db, some, contentLanguages);
          if (rows) await renewEdges(db);
        })();
      }
    };
    return finding(
      `event-${fault}`,
      fault === 'all-day-times' ? 'warning' : 'error',
      ids.map(String),
      REPAIRABLE.has(fault) ? mend : undefined,
    );
  });
}

/** Repairs of events that recur: those that make no choice for anybody. */
const RECURRENCE_REPAIRS: ReadonlyMap<RecurrenceFault, (db: Database, post: number, now: string) => Promise<void>> = new Map([
  ['dates-differ', repairRecurrence],
  ['flag-wrong', repairFlag],
]);

async function recurrenceFindings(site: Site): Promise<Finding[]> {
  const { db } = site;
  const { recurrence, occurrenceTables, raw, contentLanguages } = await site.settings();
  const posts = [
    ...finding('recurrence-many-starts', 'warning', (await eventsOfManyStarts(db)).map(String)),
    ...finding('recurrence-parents-gone', 'warning', (await datesWithoutEvent(db)).map(String)),
  ];
  if (!recurrence) {
    const missing = occurrenceTables && mayHaveRecurrence(raw) && !(await findRecurrenceTables(db)).columns;
    return [...posts, ...finding('recurrence-columns-missing', 'warning', missing ? [''] : [])];
  }
  const now = nowUtc(site.clock());
  const found = new Map<RecurrenceFault, number[]>();
  for await (const { post, fault } of auditRecurrences(db, now)) found.set(fault, [...(found.get(fault) ?? []), post]);
  const events = [...found].flatMap(([fault, ids]) => {
    const mend = RECURRENCE_REPAIRS.get(fault);
    const fix = repair(site, async (trx) => {
      for (const id of ids) await mend?.(trx, id, now);
      await indexEvents(trx, ids, contentLanguages);
      await renewEdges(trx);
    });
    return finding(`recurrence-${fault}`, SEVERE.has(fault) ? 'error' : 'warning', ids.map(String), mend && fix);
  });
  const relations = recurrence.series ? await relationsToNothing(db) : [];
  const near = await postNearBase(db, recurrence);
  return [
    ...posts,
    ...events,
    ...finding(
      'recurrence-series-gone',
      'warning',
      relations.map(String),
      repair(site, (trx) => removeRelations(trx, relations)),
    ),
    ...finding('recurrence-base-near', 'warning', near === undefined ? [] : [`${near} / ${recurrence.base}`]),
  ];
}

/** Faults that make lists wrong. */
const SEVERE: ReadonlySet<RecurrenceFault> = new Set(['dates-differ', 'first-differs', 'flag-wrong', 'rule-unreadable']);

/** Events that one transaction repairs. */
const AT_ONCE = 200;

async function valueFindings(site: Site): Promise<Finding[]> {
  const [mendable, broken]: [string[], string[]] = [[], []];
  for await (const value of brokenValues(site.db))
    (mendedArray(value.value) === undefined ? broken : mendable).push(`${value.table} ${value.of}`);
  return [
    ...finding('values-broken', 'warning', broken),
    ...finding('values-mendable', 'warning', mendable, async () => {
      for await (const value of brokenValues(site.db)) {
        const mended = mendedArray(value.value);
        if (mended !== undefined) await repair(site, (db) => mendValue(db, value, mended))();
      }
    }),
  ];
}

// ------------------------------------------------------------------------------------------------- files
async function fileFindings({ db, config }: Site): Promise<Finding[]> {
  const folder = await stat(config.uploadsDir).catch(() => undefined);
  const [missing, astray]: [string[], string[]] = [[], []];
  for await (const { id, file } of attachedFiles(db)) {
    const below = normalize(file);
    if (file === '' || /^https?:/i.test(file)) continue;
    if (below.startsWith('..') || below.startsWith('/')) astray.push(`${id} ${file}`);
    else if (folder) await access(join(config.uploadsDir, below), constants.R_OK).catch(() => missing.push(`${id} ${file}`));
  }
  const writable = folder?.isDirectory()
    ? await access(config.uploadsDir, constants.W_OK).then(
        () => true,
        () => false,
      )
    : true;
  return [
    ...finding('uploads-missing', 'warning', folder?.isDirectory() ? [] : [config.uploadsDir]),
    ...finding('uploads-locked', 'warning', writable ? [] : [config.uploadsDir]),
    ...finding('files-unreadable', 'warning', missing),
    ...finding('files-astray', 'error', astray),
  ];
}

// ------------------------------------------------------------------------------------------------- notes of our own
async function noteFindings(site: Site): Promise<Finding[]> {
  const { db } = site;
  const { shared, occurrenceTables, contentLanguages: languages } = await site.settings();
  const index = !occurrenceTables ? 'trusted' : shared ? await indexBesideOthers(db, languages) : await indexState(db, languages);
  const reindex = async () => void (await reindexEvents(db, site.clock, { trust: true, languages }));
  const takeOver = async () => {
    await takeOverChanges(db, site.clock, { languages });
    // The first time nobody can tell what was changed.
    if ((await indexState(db, languages)) !== 'trusted') await reindex();
  };
  return [
    ...finding(
      'counter-missing',
      'error',
      (await countsChanges(db)) ? [] : [''],
      async () => void (await beginCounting(db, nowUtc(site.clock()))),
    ),
    ...finding('index-wrong', 'error', index === 'wrong' ? [''] : [], reindex),
    ...finding('index-behind', 'warning', index === 'behind' ? [''] : [], takeOver),
    ...finding('index-off', 'warning', index === 'off' ? [''] : [], reindex),
    ...finding('imports-open', 'warning', await openImports(db)),
  ];
}

/** The index beside a WordPress. What that has written since is no fault of it: a server takes that over. */
async function indexBesideOthers(db: Database, languages: OptionalLanguages): Promise<IndexState | 'behind'> {
  const state = await indexState(db, languages);
  if (state !== 'wrong') return state;
  // A server may have taken it over since the index was read.
  return (await hasForeignChanges(db, languages)) ? 'behind' : indexState(db, languages);
}

/** A server takes notes over with each look for changes, as long as requests come in. */
const STUCK_MS = 10 * 60_000;

function pluginFindings({ clock }: Site, plugin: PluginState | undefined): Finding[] {
  const { waiting = 0, oldest = null } = plugin ?? {};
  const isStuck = oldest !== null && oldest < nowUtc(new Date(clock().getTime() - STUCK_MS));
  return isStuck ? [{ name: 'plugin-unread', severity: 'warning', count: waiting, examples: [oldest] }] : [];
}

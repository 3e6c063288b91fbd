import { basename, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { DateOrder } from '../exchange/csv/dates.ts';
import { isCsvSource } from '../exchange/csv/read.ts';
import { type RejectedFile, writeRejected } from '../exchange/csv/rejected.ts';
import { importItems } from '../exchange/import/importer.ts';
import { fetchFile } from '../exchange/import/media.ts';
import { type PreviewedRecord, previewOf } from '../exchange/import/preview.ts';
import { highestIdFor } from '../exchange/import/recurrence.ts';
import { SourceFault } from '../exchange/items/items.ts';
import { isIncomplete, type Report } from '../exchange/items/report.ts';
import { type Source, survey } from '../exchange/items/source.ts';
import { latestOf } from '../exchange/items/versions.ts';
import { openSource, READ_AS } from '../exchange/sources.ts';
import { postKinds } from '../kinds/index.ts';
import type { Caller } from '../records/caller.ts';
import type { Site } from '../site.ts';
import { sqlitePath } from '../storage/audit/snapshot.ts';
import { languageOfCode } from '../wordpress/content-languages.ts';
import { SETTABLE_STATUSES } from '../wordpress/status.ts';
import { nowUtc, textFromUnix, unixFromText, ZERO_DATE } from '../wordpress/time.ts';
import { mappingText, previewText, rejectedText, reportText, roundText } from './import-report.ts';
import { CliError, EXIT } from './io.ts';
import { chosen, credentialsIn, numberOf, REPORT_FORMATS, type ReportFormat, userOf, withExamples, withReportFormat } from './options.ts';
import { oneLine, print } from './print.ts';
import { clearLine, showLine, showRate } from './rate.ts';
import { actingCaller, type Session, withSite } from './session.ts';

type Options = Readonly<Record<string, unknown>>;

const KINDS = postKinds.map(({ name }) => name);
const DATE_ORDERS = ['ymd', 'dmy', 'mdy'] as const satisfies readonly DateOrder[];

/** Adds `import`. */
export function addImportCommand(program: Command, session: Session): void {
  const { say } = session;
  const command = withExamples(program.command('import <source...>').description(say('exchange:import.about')), say, [
    'fasti import mysql://user:password@localhost/wordpress --dry-run',
    'fasti import export-1.xml export-2.xml --media',
    'fasti import venues.csv organizers.csv events.csv --date-order=dmy',
    'fasti import events.csv --map "Titolo=name" --map "Data=start_date" --preview',
    'fasti import events.csv --date-order=mdy --skip-bad-rows --category=Music --status=draft',
    'fasti import calendar.jsonl --resume',
    'fasti import https://old.example --media --follow=300',
    'fasti import https://town.example/calendar.ics',
    'fasti import https://club.example/concerts/ --as=jsonld --dry-run',
    'fasti import https://club.example --sitemap',
  ])
    .option('--dry-run', say('exchange:import.dry-run'))
    .option('--preview [records]', say('exchange:import.preview'))
    .option('--resume', say('exchange:import.resume'))
    .option('--settings', say('exchange:import.settings'))
    .option('--content-language <code>', say('exchange:import.content-language'))
    .option('--media', say('exchange:import.media'))
    .option('--filter-html', say('exchange:import.filter-html'))
    .option('--prefix <prefix>', say('exchange:import.prefix'), 'wp_')
    .option('--site <number>', say('exchange:import.site'))
    .option('--source <name>', say('exchange:import.source'))
    .option('--as <format>', say('exchange:import.as'))
    .option('--sitemap', say('exchange:import.sitemap'))
    .option('--date-order <order>', say('exchange:import.date-order'))
    .option('--kind <kind>', say('exchange:import.kind'))
    .option('--map <column=field>', say('exchange:import.map'), collect)
    .option('--skip-bad-rows', say('exchange:import.skip-bad-rows'))
    .option('--status <status>', say('exchange:import.status'))
    .option('--category <name>', say('exchange:import.category'), collect)
    .option('--remote-user <login:password>', say('exchange:import.remote-user'))
    .option('--rate <number>', say('exchange:import.requests'))
    .option('--from <date>', say('exchange:import.from'))
    .option('--to <date>', say('exchange:import.to'))
    .option('--follow [seconds]', say('exchange:import.follow'));
  withReportFormat(command, say).action((places: string[], given: Options) => importByCommand(session, places, given, userOf(command)));
}

async function importByCommand(session: Session, places: readonly string[], given: Options, user: string | undefined): Promise<void> {
  const order = orderOf(session, places, given, user);
  const report = await withSite(session, order.dryRun ? 'read' : 'write', (site) => importAndFollow(site, order));
  if (isIncomplete(report)) throw new CliError('incomplete', {}, EXIT.incomplete);
}

/** The arguments and options of the command. */
interface Order {
  readonly session: Session;
  readonly places: readonly string[];
  readonly given: Options;
  readonly user: string | undefined;
  readonly format: ReportFormat;
  readonly dryRun: boolean;
  /** Number of records to preview, if requested. */
  readonly preview: number | undefined;
  /** Seconds between two rounds of following; undefined imports once. */
  readonly follow: number | undefined;
  readonly ofSource: ReturnType<typeof sourceOptions>;
}

function orderOf(session: Session, places: readonly string[], given: Options, user: string | undefined): Order {
  const preview = given.preview === true ? USUAL_PREVIEW : numberOf('preview', given.preview);
  return {
    session,
    places,
    given,
    user,
    format: chosen('format', String(given.format), REPORT_FORMATS),
    dryRun: given.dryRun === true || preview !== undefined,
    preview,
    follow: given.follow === true ? USUAL_PAUSE_S : numberOf('follow', given.follow),
    ofSource: sourceOptions(session, given),
  };
}

/** Imports, prints the report, and continues to follow the source if requested. Returns the first report. */
async function importAndFollow(site: Site, order: Order): Promise<Report> {
  const { session, given, format, dryRun, follow } = order;
  const { io, say } = session;
  const { report, rejected, preview, hint } = await importOnce(site, order, { resume: given.resume === true, keepsRejected: true });
  const extras = { ...(preview ? { preview } : {}), ...(rejected.length > 0 ? { rejected } : {}) };
  print(
    io,
    format === 'json'
      ? `${JSON.stringify({ ...report, ...extras })}\n`
      : reportText(report, say, { files: order.places.map((place) => basename(place)), hint }) + rejectedText(rejected, say),
  );
  if (follow !== undefined && !dryRun)
    await followSource(
      session,
      format,
      follow * 1000,
      async () => (await importOnce(site, order, { resume: false, keepsRejected: false })).report,
    );
  return report;
}

async function importOnce(
  site: Site,
  order: Order,
  { resume, keepsRejected }: { readonly resume: boolean; readonly keepsRejected: boolean },
): Promise<Outcome> {
  const { session, places, user, dryRun, ofSource } = order;
  const { io } = session;
  const caller = await actingCaller(site, session, user);
  const progress: Progress = { dryRun, written: resume };
  const stopListening = io.onInterrupt?.(() => howToGoOn(session, progress));
  try {
    const source = await openSource(places, { ...ofSource, caller, resume, target: targetOf(site, order), folder: io.temporary });
    try {
      const outcome = await importFrom(source, { order, site, caller, resume, progress });
      const rejected = keepsRejected && !dryRun && ofSource.skipBadRows && isCsvSource(source) ? await writeRejected(source) : [];
      return { ...outcome, rejected, hint: source.hint };
    } finally {
      await source.close();
    }
  } finally {
    stopListening?.();
  }
}

/** Returns the options about the source. */
function sourceOptions(session: Session, given: Options) {
  const { io, say } = session;
  return {
    prefix: String(given.prefix),
    site: numberOf('site', given.site),
    dateOrder: chosen('date-order', given.dateOrder, DATE_ORDERS),
    kind: chosen('kind', given.kind, KINDS),
    map: headingMap(given.map),
    skipBadRows: given.skipBadRows === true,
    status: chosen('status', given.status, SETTABLE_STATUSES),
    categories: listOf(given.category).filter((name) => name.trim() !== ''),
    credentials: credentialsIn(given.remoteUser ?? io.env.FASTI_REMOTE_USER),
    rate: numberOf('rate', given.rate),
    as: chosen('as', given.as, READ_AS),
    sitemap: given.sitemap === true,
    ...daysOf(given),
    onWalk: (entries: number) => showLine(session, say('exchange:import.walking', { entries })),
  };
}

/** The result of an import, and further output. */
interface Outcome {
  readonly report: Report;
  /** The first records, if requested. */
  readonly preview?: readonly PreviewedRecord[] | undefined;
  /** Files with rejected rows. */
  readonly rejected: readonly RejectedFile[];
  readonly hint: Source['hint'];
}

/** Collects the values of a repeatable option. */
const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];
const listOf = (given: unknown): readonly string[] => (Array.isArray(given) ? given.map(String) : []);

/** Returns the pairs of `--map`, split at the last `=`, since a heading may contain one. Throws CliError `no-map`. */
function headingMap(given: unknown): ReadonlyMap<string, string> {
  return new Map(
    listOf(given).map((pair) => {
      const cut = pair.lastIndexOf('=');
      if (cut < 1) throw new CliError('no-map', { value: pair }, EXIT.usage);
      return [pair.slice(0, cut).trim(), pair.slice(cut + 1).trim()] as const;
    }),
  );
}

/** Default number of records for `--preview`. */
const USUAL_PREVIEW = 5;

/** Progress of an import. */
interface Progress {
  readonly dryRun: boolean;
  /** Whether a part of it has been committed. */
  written: boolean;
}

/** Returns the message for a user who interrupts the import. */
function howToGoOn(session: Session, { dryRun, written }: Progress): string {
  clearLine(session);
  const name = dryRun ? 'stopped-rehearsal' : written ? 'stopped-importing' : 'stopped-reading';
  return `${session.say(`exchange:import.${name}`)}\n`;
}

/** Identifies the target of an import: the database and its prefix, and whether it is a dry run. */
const targetOf = ({ config: { databaseUrl }, db: { prefix } }: Site, { dryRun }: Pick<Order, 'dryRun'>): string => {
  const path = sqlitePath(databaseUrl);
  return [path === undefined ? databaseUrl : resolve(path), prefix, dryRun ? 'rehearsal' : ''].join(' ');
};

/** Default pause between two rounds of following, in seconds. */
const USUAL_PAUSE_S = 300;

/**
 * Repeats the import until a signal ends the process, and reports the changes. If the site cannot be reached, the next
 * round tries again.
 */
async function followSource({ io, say }: Session, format: ReportFormat, pause: number, once: () => Promise<Report>): Promise<void> {
  const wait = io.wait ?? ((milliseconds: number) => sleep(milliseconds, true));
  while (await wait(pause)) {
    const time = nowUtc(io.clock?.() ?? new Date());
    try {
      const report = await once();
      print(io, format === 'json' ? `${JSON.stringify({ time, ...report })}\n` : roundText(report, time, say));
    } catch (error) {
      if (!(error instanceof SourceFault)) throw error;
      io.err(`${time} ${oneLine(say(`exchange:faults.${error.fault}`, error.values))}\n`);
    }
  }
}

/** One run of an import. */
interface Run {
  readonly order: Order;
  readonly site: Site;
  readonly caller: Caller;
  readonly resume: boolean;
  readonly progress: Progress;
}

async function importFrom(source: Source, run: Run): Promise<Pick<Outcome, 'report' | 'preview'>> {
  const { order, site, caller, resume, progress } = run;
  const { session, given, format, dryRun, preview } = order;
  const { io, say } = session;
  if (io.terminal) io.err(`${say('exchange:import.surveying')}\n`);
  const { entries, highestId, versions } = await survey(source, highestIdFor(caller.settings));
  if (dryRun && format === 'text' && isCsvSource(source)) print(io, mappingText(source, say));
  const filterHtml = given.filterHtml === true;
  const trust = { trusted: caller.viewer.can('unfiltered_html') && !filterHtml };
  const shown = preview === undefined ? undefined : await previewOf(source, caller, trust, preview);
  if (shown && format === 'text') print(io, previewText(shown, say));
  const show = showRate(session, say('exchange:import.importing'), entries);
  const report = await importItems(site, caller, latestOf(source.entries(), versions), {
    source: typeof given.source === 'string' && given.source.trim() !== '' ? given.source : source.name(),
    dryRun,
    resume,
    settings: given.settings === true,
    language: languageOf(caller, given.contentLanguage),
    filterHtml,
    trustedAccounts: source.trustedAccounts ?? false,
    highestId,
    ...(given.media === true ? { fetchFile: (item, stored) => fetchFile(site, caller, item, { ...source.fetching, stored }) } : {}),
    onProgress: (done) => {
      progress.written = true;
      show(done);
    },
  });
  clearLine(session);
  return { report, preview: shown };
}

/** Returns a content language. Throws CliError `no-languages`, `language-unknown`. */
function languageOf({ settings: { contentLanguages } }: Caller, code: unknown): string | undefined {
  if (typeof code !== 'string') return undefined;
  if (!contentLanguages) throw new CliError('no-languages', {}, EXIT.usage);
  if (!languageOfCode(contentLanguages, code)) throw new CliError('language-unknown', { code }, EXIT.usage);
  return code;
}

/** Returns the range of days for which repeating events are imported. Throws CliError `no-day`, `days-turned`. */
function daysOf(given: Options): { readonly from: string | undefined; readonly to: string | undefined } {
  const [from, to] = [dayOf('from', given.from), dayOf('to', given.to)];
  if (from !== undefined && to !== undefined && to < from) throw new CliError('days-turned', { from, to }, EXIT.usage);
  return { from, to };
}

/** Validates a day in the form `YYYY-MM-DD`. Throws CliError `no-day`. */
function dayOf(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const midnight = `${String(value)} 00:00:00`;
  if (!/^\d{4}-\d\d-\d\d$/.test(String(value)) || midnight === ZERO_DATE || textFromUnix(unixFromText(midnight)) !== midnight)
    throw new CliError('no-day', { name, value: String(value) }, EXIT.usage);
  return String(value);
}

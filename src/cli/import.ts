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
import { READABLE_FORMATS } from '../exchange/items/file-formats.ts';
import { SourceFault } from '../exchange/items/items.ts';
import { isIncomplete, type Report } from '../exchange/items/report.ts';
import { type Source, surveySource } from '../exchange/items/source.ts';
import { latestVersions } from '../exchange/items/versions.ts';
import { openSource } from '../exchange/sources.ts';
import { postKinds } from '../kinds/index.ts';
import type { Caller } from '../records/caller.ts';
import type { Site } from '../site.ts';
import { DatabaseUnavailable } from '../storage/engine/database.ts';
import { sqlitePath } from '../storage/engine/sqlite/connection.ts';
import { languageOfCode } from '../wordpress/content-languages.ts';
import { SETTABLE_STATUSES } from '../wordpress/status.ts';
import { isRealDate, utcFromDate } from '../wordpress/time.ts';
import { unavailableSentence } from './error-report.ts';
import { mappingText, previewText, rejectedText, reportText, roundText } from './import-report.ts';
import { CliError, EXIT_CODE } from './io.ts';
import { isPiped, shownPath, withLocalFiles } from './local-files.ts';
import {
  actingAsUser,
  choiceOf,
  parseCredentials,
  parseNumber,
  REPORT_FORMATS,
  type ReportFormat,
  userOf,
  withExamples,
  withReportFormat,
} from './options.ts';
import { oneLine, print } from './print.ts';
import { clearLine, showLine, showRate } from './rate.ts';
import { actingCaller, type Session, withSite } from './session.ts';

type Options = Readonly<Record<string, unknown>>;

const KINDS = postKinds.map(({ name }) => name);
const DATE_ORDERS = ['ymd', 'dmy', 'mdy'] as const satisfies readonly DateOrder[];

/** Adds `import`. */
export function addImportCommand(program: Command, session: Session): void {
  const { say } = session;
  const command = withExamples(actingAsUser(program.command('import <source...>')).description(say('exchange:import.about')), say, [
    'fasti import mysql://user:password@localhost/wordpress --dry-run',
    'fasti import export-1.xml export-2.xml --media',
    'fasti import venues.csv organizers.csv events.csv --date-order=dmy',
    'fasti import events.csv --map "Titolo=name" --map "Data=start_date" --preview',
    'fasti import events.csv --date-order=mdy --skip-bad-rows --category=Music --status=draft',
    'fasti import calendar.jsonl --resume',
    'fasti import https://old.example --media --follow=300',
    'fasti import https://town.example/calendar.ics',
    'fasti import "https://sheets.example/town/pub?output=csv" --as=csv --follow=3600',
    'fasti import https://club.example/concerts/ --as=jsonld --dry-run',
    'fasti import - --as=csv --dry-run < events.txt',
    'fasti import https://club.example --sitemap',
  ])
    .option('--dry-run', say('exchange:import.dry-run'))
    .option('--preview [records]', say('exchange:import.preview'))
    .option('--resume', say('exchange:import.resume'))
    .option('--settings', say('exchange:import.settings'))
    .option('--content-language <code>', say('exchange:import.content-language'))
    .option('--media', say('exchange:import.media'))
    .option('--filter-html', say('exchange:import.filter-html'))
    .option('--restore-deleted', say('exchange:import.restore-deleted'))
    .option('--prefix <prefix>', say('exchange:import.prefix'), 'wp_')
    .option('--site <number>', say('exchange:import.site'))
    .option('--source <name>', say('exchange:import.source'))
    .option('--as <format>', say('exchange:import.as'))
    .option('--sitemap', say('exchange:import.sitemap'))
    .option('--date-order <order>', say('exchange:import.date-order'))
    .option('--kind <kind>', say('exchange:import.kind'))
    .option('--map <column=field>', say('exchange:import.map'), appendValue)
    .option('--skip-bad-rows', say('exchange:import.skip-bad-rows'))
    .option('--status <status>', say('exchange:import.status'))
    .option('--category <name>', say('exchange:import.category'), appendValue)
    .option('--remote-user <login:password>', say('exchange:import.remote-user'))
    .option('--rate <number>', say('exchange:import.requests'))
    .option('--from <date>', say('exchange:import.from'))
    .option('--to <date>', say('exchange:import.to'))
    .option('--follow [seconds]', say('exchange:import.follow'));
  withReportFormat(command, say).action((places: string[], options: Options) => importByCommand(session, places, options, userOf(command)));
}

async function importByCommand(session: Session, places: readonly string[], options: Options, user: string | undefined): Promise<void> {
  const args = parseArguments(session, places, options, user);
  const { format } = args.sourceOptions;
  const pipes = (await Promise.all(places.map(isPiped))).filter(Boolean).length;
  if (pipes > 0 && format === undefined)
    throw new CliError('source-format-unknown', { formats: READABLE_FORMATS.join(', ') }, EXIT_CODE.usage);
  if (pipes > 0 && args.follow !== undefined) throw new CliError('nothing-to-follow', {}, EXIT_CODE.usage);
  const report = await withSite(session, args.dryRun ? 'read' : 'write', (site) => importAndFollow(site, args));
  if (isIncomplete(report)) throw new CliError('incomplete', {}, EXIT_CODE.incomplete);
}

/** The arguments and options of the command. */
interface ImportArguments {
  readonly session: Session;
  readonly places: readonly string[];
  readonly options: Options;
  readonly user: string | undefined;
  readonly format: ReportFormat;
  readonly dryRun: boolean;
  /** Number of records to preview, if requested. */
  readonly preview: number | undefined;
  /** Seconds between two rounds of following; undefined imports once. */
  readonly follow: number | undefined;
  readonly sourceOptions: ReturnType<typeof sourceOptions>;
}

function parseArguments(session: Session, places: readonly string[], options: Options, user: string | undefined): ImportArguments {
  const preview = parseNumber('preview', options.preview);
  return {
    session,
    places,
    options,
    user,
    format: choiceOf('format', String(options.format), REPORT_FORMATS),
    dryRun: options.dryRun === true || preview !== undefined,
    preview,
    follow: parseNumber('follow', options.follow),
    sourceOptions: sourceOptions(session, options),
  };
}

/** Imports, prints the report, and continues to follow the source if requested. Returns the first report. */
async function importAndFollow(site: Site, args: ImportArguments): Promise<Report> {
  const { session, options, format, dryRun, follow } = args;
  const { io, say } = session;
  const { report, rejected, rejectedFault, preview, hint, files } = await importOnce(site, args, {
    resume: options.resume === true,
    keepsRejected: true,
  });
  const extras = { ...(preview ? { preview } : {}), ...(rejected.length > 0 ? { rejected } : {}) };
  print(
    io,
    format === 'json'
      ? `${JSON.stringify({ ...report, ...extras })}\n`
      : reportText(report, say, { files, hint }) + rejectedText(rejected, say),
  );
  if (rejectedFault) {
    const reason = say(`exchange:faults.${rejectedFault.fault}`, rejectedFault.values);
    io.err(`${oneLine(say('exchange:import.rejected-unwritten', { reason }))}\n`);
  }
  if (follow !== undefined && !dryRun)
    await followSource(
      session,
      format,
      follow * 1000,
      async () => (await importOnce(site, args, { resume: false, keepsRejected: false })).report,
    );
  return report;
}

interface Round {
  readonly resume: boolean;
  /** Whether rejected rows are written to a file. */
  readonly keepsRejected: boolean;
}

const importOnce = (site: Site, args: ImportArguments, round: Round): Promise<Outcome> =>
  withLocalFiles(args.session.io, args.places, args.sourceOptions.format, (files) => importFiles(site, args, files, round));

async function importFiles(
  site: Site,
  args: ImportArguments,
  places: readonly string[],
  { resume, keepsRejected }: Round,
): Promise<Outcome> {
  const { session, user, dryRun, sourceOptions } = args;
  const { io } = session;
  const caller = await actingCaller(site, session, user);
  const progress: Progress = { dryRun, hasWritten: resume };
  const stopListening = io.onInterrupt?.(() => interruptMessage(session, progress));
  try {
    const source = await openSource(places, { ...sourceOptions, caller, resume, target: importTarget(site, args), folder: io.temporary });
    try {
      const outcome = await importFrom(source, { args, site, caller, resume, progress });
      const keeps = keepsRejected && !dryRun && sourceOptions.skipBadRows;
      return {
        ...outcome,
        ...(await keepRejected(keeps ? source : undefined)),
        hint: source.hint,
        files: places.map((place) => basename(place)),
      };
    } finally {
      await source.close();
    }
  } finally {
    stopListening?.();
  }
}

/**
 * Writes the rejected rows of a table beside it, if they are kept. The others are imported by then, which has to be
 * reported even if these cannot be written.
 */
async function keepRejected(source: Source | undefined): Promise<Pick<Outcome, 'rejected' | 'rejectedFault'>> {
  if (!source || !isCsvSource(source)) return { rejected: [] };
  try {
    return { rejected: await writeRejected(source, shownPath) };
  } catch (error) {
    if (!(error instanceof SourceFault)) throw error;
    return { rejected: [], rejectedFault: error };
  }
}

/** Returns the options about the source. */
function sourceOptions(session: Session, options: Options) {
  const { io, say } = session;
  return {
    prefix: String(options.prefix),
    site: parseNumber('site', options.site),
    dateOrder: choiceOf('date-order', options.dateOrder, DATE_ORDERS),
    kind: choiceOf('kind', options.kind, KINDS),
    map: headingMap(options.map),
    skipBadRows: options.skipBadRows === true,
    status: choiceOf('status', options.status, SETTABLE_STATUSES),
    categories: toList(options.category).filter((name) => name.trim() !== ''),
    credentials: parseCredentials(options.remoteUser ?? io.env.FASTI_REMOTE_USER),
    rate: parseNumber('rate', options.rate),
    format: choiceOf('as', options.as, READABLE_FORMATS),
    sitemap: options.sitemap === true,
    ...parseDays(options),
    onWalkProgress: (entries: number) => showLine(session, say('exchange:import.walking', { entries })),
  } satisfies Partial<Parameters<typeof openSource>[1]>;
}

/** The result of an import, and further output. */
interface Outcome {
  readonly report: Report;
  /** The first records, if requested. */
  readonly preview?: readonly PreviewedRecord[] | undefined;
  /** Files with rejected rows. */
  readonly rejected: readonly RejectedFile[];
  /** The reason why such a file could not be written. */
  readonly rejectedFault?: SourceFault;
  readonly hint: Source['hint'];
  /** Names of the files that were read. */
  readonly files: readonly string[];
}

/** Collects the values of a repeatable option. */
const appendValue = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];
const toList = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

/** Returns the pairs of `--map`, split at the last `=`, since a heading may contain one. Throws CliError `no-map`. */
function headingMap(value: unknown): ReadonlyMap<string, string> {
  return new Map(
    toList(value).map((pair) => {
      const separatorIndex = pair.lastIndexOf('=');
      if (separatorIndex < 1) throw new CliError('no-map', { value: pair }, EXIT_CODE.usage);
      return [pair.slice(0, separatorIndex).trim(), pair.slice(separatorIndex + 1).trim()] as const;
    }),
  );
}

/** Progress of an import. */
interface Progress {
  readonly dryRun: boolean;
  /** Whether a part of it has been committed. */
  hasWritten: boolean;
}

/** Returns the message for a user who interrupts the import. */
function interruptMessage(session: Session, { dryRun, hasWritten }: Progress): string {
  clearLine(session);
  const name = dryRun ? 'stopped-rehearsal' : hasWritten ? 'stopped-importing' : 'stopped-reading';
  return `${session.say(`exchange:import.${name}`)}\n`;
}

/** Identifies the target of an import: the database and its prefix, and whether it is a dry run. */
const importTarget = ({ config: { databaseUrl }, db: { prefix } }: Site, { dryRun }: Pick<ImportArguments, 'dryRun'>): string => {
  const path = sqlitePath(databaseUrl);
  return [path === undefined ? databaseUrl : resolve(path), prefix, dryRun ? 'rehearsal' : ''].join(' ');
};

/**
 * Repeats the import until a signal ends the process, and reports the changes. If the site or the database cannot be
 * reached, the next round tries again.
 */
async function followSource({ io, say }: Session, format: ReportFormat, pause: number, importAgain: () => Promise<Report>): Promise<void> {
  const wait = io.wait ?? ((milliseconds: number) => sleep(milliseconds, true));
  while (await wait(pause)) {
    const time = utcFromDate(io.clock?.() ?? new Date());
    try {
      const report = await importAgain();
      print(io, format === 'json' ? `${JSON.stringify({ time, ...report })}\n` : roundText(report, time, say));
    } catch (error) {
      // Only a new process can open a database file that has replaced the former one.
      if (!(error instanceof SourceFault || (error instanceof DatabaseUnavailable && error.reason !== 'replaced'))) throw error;
      const sentence = error instanceof SourceFault ? say(`exchange:faults.${error.fault}`, error.values) : unavailableSentence(say, error);
      io.err(`${time} ${oneLine(sentence)}\n`);
    }
  }
}

/** One run of an import. */
interface Run {
  readonly args: ImportArguments;
  readonly site: Site;
  readonly caller: Caller;
  readonly resume: boolean;
  readonly progress: Progress;
}

async function importFrom(source: Source, run: Run): Promise<Pick<Outcome, 'report' | 'preview'>> {
  const { args, site, caller, resume, progress } = run;
  const { session, options, format, dryRun, preview } = args;
  const { io, say } = session;
  if (io.isErrorTerminal ?? io.isTerminal) io.err(`${say('exchange:import.surveying')}\n`);
  const { entries, highestId, versions } = await surveySource(source, highestIdFor(caller.settings));
  if (dryRun && format === 'text' && isCsvSource(source)) print(io, mappingText(source, say));
  const filterHtml = options.filterHtml === true;
  const trust = { isTrusted: caller.viewer.can('unfiltered_html') && !filterHtml };
  const previewedRecords = preview === undefined ? undefined : await previewOf(source, caller, trust, preview);
  if (previewedRecords && format === 'text') print(io, previewText(previewedRecords, say));
  const show = showRate(session, say('exchange:import.importing'), entries);
  const report = await importItems(site, caller, latestVersions(source.entries(), versions), {
    source: typeof options.source === 'string' && options.source.trim() !== '' ? options.source : source.name(),
    dryRun,
    resume,
    settings: options.settings === true,
    language: contentLanguageOf(caller, options.contentLanguage),
    filterHtml,
    restoreDeleted: options.restoreDeleted === true,
    trustedAccounts: source.trustedAccounts ?? false,
    highestId,
    ...(options.media === true
      ? { fetchFile: (item, stored, request) => fetchFile(site, caller, item, { ...source.fetching, stored, request }) }
      : {}),
    onProgress: (count) => {
      progress.hasWritten = true;
      show(count);
    },
  });
  clearLine(session);
  return { report, preview: previewedRecords };
}

/** Returns a content language. Throws CliError `no-languages`, `language-unknown`. */
function contentLanguageOf({ settings: { contentLanguages } }: Caller, code: unknown): string | undefined {
  if (typeof code !== 'string') return undefined;
  if (!contentLanguages) throw new CliError('no-languages', {}, EXIT_CODE.usage);
  if (!languageOfCode(contentLanguages, code)) throw new CliError('language-unknown', { code }, EXIT_CODE.usage);
  return code;
}

/** Returns the range of days for which repeating events are imported. Throws CliError `no-day`, `days-turned`. */
function parseDays(options: Options): { readonly from: string | undefined; readonly to: string | undefined } {
  const [from, to] = [parseDay('from', options.from), parseDay('to', options.to)];
  if (from !== undefined && to !== undefined && to < from) throw new CliError('days-turned', { from, to }, EXIT_CODE.usage);
  return { from, to };
}

/** Validates a day in the form `YYYY-MM-DD`. Throws CliError `no-day`. */
function parseDay(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (!/^\d{4}-\d\d-\d\d$/.test(String(value)) || !isRealDate(String(value)))
    throw new CliError('no-day', { name, value: String(value) }, EXIT_CODE.usage);
  return String(value);
}

import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { DateOrder } from '../exchange/csv-dates.ts';
import type { CsvSource } from '../exchange/csv-read.ts';
import { writeCsv } from '../exchange/csv-write.ts';
import { exportEntries, itemsOf } from '../exchange/exporter.ts';
import { calendarHead, eventRecords } from '../exchange/ical-records.ts';
import { writeCalendar } from '../exchange/ical-write.ts';
import { importItems } from '../exchange/importer.ts';
import { type Entry, type Item, SourceFault } from '../exchange/items.ts';
import { writeJsonLines } from '../exchange/json-lines.ts';
import { fetchFile } from '../exchange/media.ts';
import { addTally, count, isIncomplete, lose, newTally, type Report, reportOf } from '../exchange/report.ts';
import { type Source, survey } from '../exchange/source.ts';
import { FILE_FORMATS, type FileFormat, formatOf, openSource } from '../exchange/sources.ts';
import { writeWxr } from '../exchange/wxr-write.ts';
import { postKind, postKinds } from '../kinds/index.ts';
import type { Param, PostKind, PostKindName, Values } from '../kinds/kind.ts';
import type { Caller } from '../records/caller.ts';
import { acceptParams } from '../records/input.ts';
import type { Site } from '../site.ts';
import { SETTABLE_STATUSES } from '../wordpress/status.ts';
import { CliError, EXIT } from './io.ts';
import { credentialsIn, type Globals, withExamples } from './options.ts';
import { oneLine, print } from './print.ts';
import { clearLine, showRate } from './rate.ts';
import { actingCaller, type Session, withSite } from './session.ts';

type Options = Readonly<Record<string, unknown>>;

const KINDS = postKinds.map(({ name }) => name);
const DATE_ORDERS = ['ymd', 'dmy', 'mdy'] as const satisfies readonly DateOrder[];

/** Adds `import` and `export`. */
export function addExchangeCommands(program: Command, session: Session): void {
  const { say } = session;
  withExamples(program.command('import <source...>').description(say('exchange:import.about')), say, [
    'fasti import mysql://user:password@localhost/wordpress --dry-run',
    'fasti import export-1.xml export-2.xml --media',
    'fasti import venues.csv organizers.csv events.csv --date-order=dmy',
    'fasti import calendar.jsonl --resume',
    'fasti import https://old.example --media --follow=300',
    'fasti import https://town.example/calendar.ics',
  ])
    .option('--dry-run', say('exchange:import.dry-run'))
    .option('--resume', say('exchange:import.resume'))
    .option('--settings', say('exchange:import.settings'))
    .option('--media', say('exchange:import.media'))
    .option('--filter-html', say('exchange:import.filter-html'))
    .option('--prefix <prefix>', say('exchange:import.prefix'), 'wp_')
    .option('--site <number>', say('exchange:import.site'))
    .option('--source <name>', say('exchange:import.source'))
    .option('--date-order <order>', say('exchange:import.date-order'))
    .option('--kind <kind>', say('exchange:import.kind'))
    .option('--status <status>', say('exchange:import.status'), 'publish')
    .option('--remote-user <login:password>', say('exchange:import.remote-user'))
    .option('--rate <number>', say('exchange:import.requests'))
    .option('--from <date>', say('exchange:import.from'))
    .option('--to <date>', say('exchange:import.to'))
    .option('--follow [seconds]', say('exchange:import.follow'))
    .option('--format <format>', say('options.format', { formats: 'text, json' }), 'text')
    .action((places: string[], given: Options, command: Command) =>
      runImport(session, places, given, command.optsWithGlobals<Globals>().user),
    );

  const filters = withExamples(program.command('export <file>').description(say('exchange:export.about')), say, [
    'fasti export calendar.xml',
    'fasti export concerts.csv --kind=event --categories=music --start_date=2026-01-01',
    'fasti export - --format=jsonl | gzip > calendar.jsonl.gz',
  ])
    .option('--format <format>', say('exchange:export.format'))
    .option('--kind <kind>', say('exchange:export.kind'));
  for (const [name, param] of Object.entries(allFilters())) {
    filters.option(flagOf(name, param), say(KINDS.map((kind) => `params:${kind}.${name}`).concat(`params:common.${name}`)));
  }
  filters.action((file: string, given: Options, command: Command) =>
    runExport(session, file, given, command.optsWithGlobals<Globals>().user),
  );
}

// ------------------------------------------------------------------------------------------------- import
async function runImport(session: Session, places: readonly string[], given: Options, user: string | undefined): Promise<void> {
  const { io } = session;
  const format = chosen('format', given.format, ['text', 'json'] as const)!;
  const dryRun = given.dryRun === true;
  const follow = given.follow === true ? USUAL_PAUSE_S : numberOf('follow', given.follow);
  const asked = {
    prefix: String(given.prefix),
    site: numberOf('site', given.site),
    dateOrder: chosen('date-order', given.dateOrder, DATE_ORDERS),
    kind: chosen('kind', given.kind, KINDS),
    status: chosen('status', given.status, SETTABLE_STATUSES),
    credentials: credentialsIn(given.remoteUser ?? io.env.FASTI_REMOTE_USER),
    rate: numberOf('rate', given.rate),
    from: dayOf('from', given.from),
    to: dayOf('to', given.to),
    onWalk: io.terminal ? (entries: number) => walking(session, entries) : undefined,
  };
  const report = await withSite(session, dryRun ? 'read' : 'write', async (site) => {
    const once = async (resume: boolean): Promise<Report> => {
      const caller = await actingCaller(site, session, user);
      const source = await openSource(places, { ...asked, caller, resume });
      try {
        return await importFrom(session, site, caller, source, { ...given, resume }, format);
      } finally {
        await source.close();
      }
    };
    const first = await once(given.resume === true);
    if (follow !== undefined && !dryRun) {
      print(io, reportText(first, session));
      await following(session, follow * 1000, () => once(false));
    }
    return first;
  });
  if (follow === undefined || dryRun) print(io, format === 'json' ? `${JSON.stringify(report)}\n` : reportText(report, session));
  if (isIncomplete(report)) throw new CliError('incomplete', {}, EXIT.incomplete);
}

/** Between two rounds of following. */
const USUAL_PAUSE_S = 300;

const walking = ({ io, say }: Session, entries: number): void => io.err(`\r\u001b[K${say('exchange:import.walking', { entries })}`);

/** Imports again and again until told to end, and tells what has changed. A site that can't be reached is asked again the next time. */
async function following({ io, say }: Session, pause: number, once: () => Promise<Report>): Promise<void> {
  const wait = io.wait ?? ((milliseconds: number) => sleep(milliseconds, true));
  while (await wait(pause)) {
    const time = (io.clock?.() ?? new Date()).toISOString().slice(0, 19).replace('T', ' ');
    const sum = (counts: Report['created']) => Object.values(counts).reduce((all, number) => all + number, 0);
    try {
      const { created, updated, lost } = await once();
      print(io, `${say('exchange:import.followed', { time, created: sum(created), updated: sum(updated), lost: sum(lost) })}\n`);
    } catch (error) {
      if (!(error instanceof SourceFault)) throw error;
      io.err(`${time} ${oneLine(say(`exchange:faults.${error.fault}`, error.values))}\n`);
    }
  }
}

async function importFrom(session: Session, site: Site, caller: Caller, source: Source, given: Options, format: string): Promise<Report> {
  const { io, say } = session;
  const dryRun = given.dryRun === true;
  if (io.terminal) io.err(`${say('exchange:import.surveying')}\n`);
  const { entries, highestId } = await survey(source);
  if (dryRun && format === 'text' && 'mapping' in source) print(io, mappingText(source as CsvSource, session));
  const show = showRate(session, say('exchange:import.importing'), entries);
  const report = await importItems(site, caller, source.entries(), {
    source: typeof given.source === 'string' ? given.source : source.name(),
    dryRun,
    resume: given.resume === true,
    settings: given.settings === true,
    filterHtml: given.filterHtml === true,
    owned: source.owned ?? false,
    highestId,
    ...(given.media === true ? { fetchFile: (item) => fetchFile(site, caller, item, source.fetching) } : {}),
    onProgress: show,
  });
  clearLine(session);
  return report;
}

/** What became of everything, for a person to read. */
function reportText(report: Report, { say }: Session): string {
  const { created, updated, unchanged, lost, skipped, losses, dryRun, source } = report;
  const lines = [say(dryRun ? 'exchange:import.rehearsed' : 'exchange:import.done', { source })];
  const kinds = (['author', 'category', 'tag', 'attachment', 'venue', 'organizer', 'event', 'settings'] as const).filter((kind) =>
    [created, updated, unchanged, lost].some((counts) => (counts[kind] ?? 0) > 0),
  );
  const rows = [
    (['kind', 'created', 'updated', 'unchanged', 'lost'] as const).map((name) => say(`exchange:columns.${name}`)),
    ...kinds.map((kind) => [
      say(`exchange:kinds.${kind}`),
      ...[created, updated, unchanged, lost].map((counts) => String(counts[kind] ?? 0)),
    ]),
  ];
  lines.push(...aligned(rows));
  const aside = Object.entries(skipped).map(([what, number]) => `${what} ${number}`);
  if (aside.length > 0) lines.push(say('exchange:import.aside', { list: aside.join(', ') }));
  if (losses.length > 0) lines.push(say('exchange:import.lost'));
  for (const { reason, count: number, examples } of losses) {
    lines.push(`  ${say(`exchange:losses.${reason}`)} (${number})`);
    for (const { of, place, detail } of examples.slice(0, MOST_SHOWN)) {
      lines.push(
        `    ${[place, of, detail]
          .filter(Boolean)
          .map((text) => oneLine(text!))
          .join(' · ')}`,
      );
    }
    if (number > MOST_SHOWN) lines.push(`    ${say('exchange:import.more', { count: number - Math.min(MOST_SHOWN, examples.length) })}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Losses of one reason that are printed one by one; `--format=json` has more. */
const MOST_SHOWN = 10;

/** Cells below each other; numbers to the right. */
function aligned(rows: readonly (readonly string[])[], numbers = true): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map(
    (row) =>
      `  ${row.map((cell, column) => (column > 0 && numbers ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!))).join('  ')}`,
  );
}

/** What each column of the files is taken for. */
function mappingText(source: CsvSource, { say }: Session): string {
  return source
    .mapping()
    .map(({ file, kind, columns }) => {
      const rows = columns.map(({ header, column, example }) => [
        oneLine(header),
        column ?? say('exchange:import.not-mapped'),
        oneLine(example),
      ]);
      return `${[say('exchange:import.mapping', { file, kind: say(`exchange:kinds.${kind}`) }), ...aligned(rows, false).map((line) => line.trimEnd())].join('\n')}\n`;
    })
    .join('');
}

// ------------------------------------------------------------------------------------------------- export
async function runExport(session: Session, file: string, given: Options, user: string | undefined): Promise<void> {
  const { io, say } = session;
  const format = chosen('format', given.format, FILE_FORMATS) ?? formatOf(file);
  const raw = Object.fromEntries(Object.keys(allFilters()).flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])));
  const narrowed = Object.keys(raw).length > 0;
  const kind: PostKindName | undefined =
    chosen('kind', given.kind, KINDS) ?? (narrowed || format === 'csv' || format === 'ical' ? 'event' : undefined);
  await withSite(session, 'read', async (site) => {
    const caller = await actingCaller(site, session, user);
    const filters = kind === undefined ? undefined : await filtersOf(site, caller, postKind(kind), raw);
    const stayed = newTally();
    let written = 0;
    const entries = exportEntries(site, caller, {
      ...(kind === undefined ? {} : { kinds: [kind] }),
      ...(filters === undefined ? {} : { filters }),
      // These say neither statuses nor passwords: what not everybody may read must not be published by whoever reads the file.
      ...(format === 'csv' || format === 'ical' ? { statuses: ['publish'], open: true } : {}),
    });
    const items = counted(
      itemsOf(entries, (entry) => note(stayed, entry)),
      (item) => {
        if (kind === undefined || item.kind === kind) written += 1;
      },
    );
    const pieces = await writerFor(format, kind ?? 'event', site, caller, items);
    if (file === '-') for await (const piece of pieces) io.out(piece);
    else {
      await writeWhole(file, pieces);
      print(io, `${say('exchange:export.done', { count: written, file })}\n`);
    }
    const { losses } = reportOf('', false, stayed);
    for (const { reason, count: number } of losses) io.err(`${say(`exchange:losses.${reason}`)} (${number})\n`);
  });
}

function note(tally: ReturnType<typeof newTally>, entry: Exclude<Entry, Item>): void {
  const more = newTally();
  if (entry.kind === 'skipped') count(more.skipped, entry.what, entry.count);
  else lose(more, entry.loss);
  addTally(tally, more);
}

async function* counted(items: AsyncIterable<Item>, each: (item: Item) => void): AsyncGenerator<Item> {
  for await (const item of items) {
    each(item);
    yield item;
  }
}

async function writerFor(
  format: FileFormat,
  kind: PostKindName,
  site: Site,
  caller: Caller,
  items: AsyncIterable<Item>,
): Promise<AsyncIterable<string>> {
  const { settings, language } = caller;
  if (format === 'csv') return writeCsv(kind, items);
  if (format === 'jsonl') return writeJsonLines(settings.home, items);
  if (format === 'ical') return writeCalendar(eventRecords(site, caller, items), calendarHead(caller));
  return writeWxr({ home: settings.home, title: settings.name, description: settings.description, language, now: site.clock() }, items);
}

/** Writes a file that is there whole or not at all. */
async function writeWhole(file: string, pieces: AsyncIterable<string>): Promise<void> {
  const part = `${file}.part`;
  try {
    await pipeline(Readable.from(pieces), createWriteStream(part));
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Parameters of lists that choose records, of all kinds together. */
function allFilters(): Record<string, Param> {
  const shaping = new Set(['page', 'per_page', 'order', 'orderby', 'password']);
  return Object.fromEntries(postKinds.flatMap((kind) => Object.entries(kind.filters)).filter(([name]) => !shaping.has(name)));
}

const flagOf = (name: string, { grammar }: Param): string => (grammar.json.type === 'boolean' ? `--${name} [yes|no]` : `--${name} <value>`);

async function filtersOf(site: Site, caller: Caller, kind: PostKind, raw: Options): Promise<Values> {
  const strange = Object.keys(raw).find((name) => !(name in kind.filters));
  if (strange !== undefined) throw new CliError('filter-unknown', { kind: kind.name, name: strange }, EXIT.usage);
  return acceptParams(site, caller, kind.filters, raw, 'read');
}

// ------------------------------------------------------------------------------------------------- options
function chosen<Choice extends string>(name: string, value: unknown, choices: readonly Choice[]): Choice | undefined {
  if (value === undefined) return undefined;
  return choices.find((choice) => choice === value) ?? wrongChoice(name, String(value), choices);
}

const wrongChoice = (name: string, value: string, choices: readonly string[]): never => {
  throw new CliError('wrong-choice', { name, value, choices: choices.join(', ') }, EXIT.usage);
};

function numberOf(name: string, value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (!/^[1-9]\d{0,6}$/.test(String(value))) throw new CliError('not-a-number', { name, value: String(value) }, EXIT.usage);
  return Number(value);
}

/** A day as it is written everywhere here. */
function dayOf(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (!/^\d{4}-\d\d-\d\d$/.test(String(value)) || Number.isNaN(Date.parse(String(value))))
    throw new CliError('no-day', { name, value: String(value) }, EXIT.usage);
  return String(value);
}

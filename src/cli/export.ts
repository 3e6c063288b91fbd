import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { writeCsv } from '../exchange/csv/write.ts';
import { exportEntries, itemsOf } from '../exchange/exporter.ts';
import { calendarHeadOf, eventRecords } from '../exchange/ical/records.ts';
import { writeCalendar } from '../exchange/ical/write.ts';
import { refuseOverDatabase, wouldReplace, writeAtomically } from '../exchange/items/atomic-file.ts';
import { eachDate } from '../exchange/items/each-date.ts';
import { FILE_FORMATS, type FileFormat, formatOf } from '../exchange/items/file-formats.ts';
import type { Item } from '../exchange/items/items.ts';
import { writeJsonLines } from '../exchange/items/json-lines.ts';
import { addAside, lossesIn, type NonItemEntry, newTally } from '../exchange/items/report.ts';
import { writeWxr } from '../exchange/wxr/write.ts';
import { postKind, postKinds } from '../kinds/index.ts';
import type { PostKind, PostListValues } from '../kinds/kind.ts';
import type { PostKindName } from '../kinds/kind-names.ts';
import type { Param } from '../kinds/param.ts';
import { type Caller, contentTag } from '../records/caller.ts';
import { acceptParams } from '../records/input.ts';
import type { Site } from '../site.ts';
import { sqlitePath } from '../storage/engine/sqlite/connection.ts';
import { isTranslated } from '../wordpress/content-languages.ts';
import { isFlag } from './content-flags.ts';
import { CliError, EXIT_CODE } from './io.ts';
import { actingAsUser, choiceOf, parseReadableDate, userOf, withExamples } from './options.ts';
import { printAboutFile } from './print.ts';
import { actingCaller, configOf, type Session, withSite } from './session.ts';

type Options = Readonly<Record<string, unknown>>;

const KINDS = postKinds.map(({ name }) => name);

/** Adds `export`. */
export function addExportCommand(program: Command, session: Session): void {
  const { say } = session;
  const command = withExamples(actingAsUser(program.command('export <file>')).description(say('exchange:export.about')), say, [
    'fasti export calendar.xml',
    'fasti export concerts.csv --kind=event --categories=music --start_date=2026-01-01',
    'fasti export - --format=jsonl | gzip > calendar.jsonl.gz',
  ])
    .option('--format <format>', say('exchange:export.format'))
    .option('--kind <kind>', say('exchange:export.kind'))
    .option('--force', say('upkeep:backup.force'));
  for (const [name, param] of Object.entries(filtersOfAllKinds())) {
    // Some filters have other defaults here than in lists.
    const keys = [`exchange:export.filters.${name}`, ...KINDS.map((kind) => `params:${kind}.${name}`), `params:common.${name}`];
    command.option(toFlag(name, param), say(keys));
  }
  command.action((file: string, options: Options) => runExport(session, file, options, userOf(command)));
}

async function runExport(session: Session, file: string, options: Options, user: string | undefined): Promise<void> {
  const { io, say } = session;
  const requestedFormat = choiceOf('format', options.format, FILE_FORMATS);
  if (file === '-' && requestedFormat === undefined)
    throw new CliError('format-unknown', { formats: FILE_FORMATS.join(', ') }, EXIT_CODE.usage);
  const format = requestedFormat ?? formatOf(file);
  if (file !== '-' && options.force !== true && (await wouldReplace(file))) throw new CliError('file-exists', { file });
  await refuseOverDatabase(file, sqlitePath(configOf(session).databaseUrl));
  const rawFilters = Object.fromEntries(
    Object.keys(filtersOfAllKinds()).flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );
  const hasFilters = Object.keys(rawFilters).length > 0;
  const kind: PostKindName | undefined =
    choiceOf('kind', options.kind, KINDS) ?? (hasFilters || format === 'csv' || format === 'ical' ? 'event' : undefined);
  // An iCalendar file without events would be empty.
  if (format === 'ical' && kind !== undefined && !postKind(kind).hasDates)
    throw new CliError('format-events-only', { kind }, EXIT_CODE.usage);
  await withSite(session, 'read', async (site) => {
    const caller = await actingCaller(site, session, user);
    const filters = kind === undefined ? undefined : await acceptFilters(site, caller, postKind(kind), rawFilters);
    const tally = newTally();
    let recordCount = 0;
    const entries = exportEntries(site, caller, {
      ...(kind === undefined ? {} : { kinds: [kind] }),
      ...(filters === undefined ? {} : { filters }),
      // These formats contain neither statuses nor passwords, so that only public records may be exported.
      ...(format === 'csv' || format === 'ical' ? { statuses: ['publish'], publicOnly: true, eachDate: true } : {}),
    });
    const onLoss = (entry: NonItemEntry) => addAside(tally, entry);
    const items = tapItems(itemsOf(entries, onLoss), (item) => {
      if (kind === undefined || item.kind === kind) recordCount += 1;
    });
    const chunks = await fileChunks(site, caller, items, { format, kind: kind ?? 'event', onLoss });
    if (file === '-') for await (const chunk of chunks) io.out(chunk);
    else {
      await writeAtomically(file, (part) => pipeline(Readable.from(chunks), createWriteStream(part)));
      await printAboutFile(io, file, `${say('exchange:export.done', { count: recordCount, file })}\n`);
    }
    for (const { reason, count: number } of lossesIn(tally)) io.err(`${say(`exchange:losses.${reason}`)} (${number})\n`);
  });
}

async function* tapItems(items: AsyncIterable<Item>, onItem: (item: Item) => void): AsyncGenerator<Item> {
  for await (const item of items) {
    onItem(item);
    yield item;
  }
}

/** Returns the text of a file in chunks. */
async function fileChunks(
  site: Site,
  caller: Caller,
  items: AsyncIterable<Item>,
  { format, kind, onLoss }: { readonly format: FileFormat; readonly kind: PostKindName; readonly onLoss: (entry: NonItemEntry) => void },
): Promise<AsyncIterable<string>> {
  const { settings } = caller;
  if (format === 'csv')
    return writeCsv(kind, eachDate(items, onLoss), {
      customFields: settings.calendar.customFields,
      hasLanguages: isTranslated(settings.contentLanguages, postKind(kind).postType),
    });
  if (format === 'jsonl') return writeJsonLines(settings.home, items);
  if (format === 'ical') {
    const head = calendarHeadOf(site, caller, site.texts.chooseLanguage({ acceptLanguage: contentTag(caller) }));
    return writeCalendar(eventRecords(site, caller, items), head);
  }
  return writeWxr(
    { home: settings.home, title: settings.name, description: settings.description, language: contentTag(caller), now: site.clock() },
    items,
  );
}

/** Returns the filters of all kinds together. */
function filtersOfAllKinds(): Record<string, Param> {
  const shaping = new Set(['page', 'per_page', 'order', 'orderby', 'password']);
  return Object.fromEntries(postKinds.flatMap((kind) => Object.entries(kind.filters)).filter(([name]) => !shaping.has(name)));
}

const toFlag = (name: string, param: Param): string => (isFlag(param) ? `--${name} [yes|no]` : `--${name} <value>`);

async function acceptFilters(site: Site, caller: Caller, kind: PostKind, rawFilters: Options): Promise<PostListValues> {
  const unknownName = Object.keys(rawFilters).find((name) => !(name in kind.filters));
  if (unknownName !== undefined) throw new CliError('filter-unknown', { kind: kind.name, name: unknownName }, EXIT_CODE.usage);
  const parsedEntries = Object.entries(rawFilters).map(([name, value]) => [name, parseReadableDate(caller, kind.filters[name]!, value)]);
  return acceptParams(site, caller, kind.filters, Object.fromEntries(parsedEntries), 'read');
}

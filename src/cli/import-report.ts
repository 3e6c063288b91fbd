import type { CsvSource } from '../exchange/csv/read.ts';
import type { RejectedFile } from '../exchange/csv/rejected.ts';
import type { PreviewedRecord } from '../exchange/import/preview.ts';
import { lossParts } from '../exchange/items/loss-text.ts';
import { type Count, countsToShow, type Report } from '../exchange/items/report.ts';
import { displayName, type Source } from '../exchange/items/source.ts';
import { COST, DATES } from '../kinds/events/metas.ts';
import { ORGANIZER } from '../kinds/organizer.ts';
import { VENUE } from '../kinds/venue.ts';
import type { Say } from '../texts.ts';
import { decodeEntities } from '../wordpress/content/entities.ts';
import { oneLine } from './print.ts';
import { padEndTo, padStartTo, truncateTo, widthOf } from './width.ts';

/**
 * Formats the report of an import for people. `files`: the files that were given; `hint`: advice if records reference
 * others that did not come.
 */
export function reportText(
  report: Report,
  say: Say,
  { files, hint }: { readonly files: readonly string[]; readonly hint: Source['hint'] },
): string {
  const { skipped, losses, dryRun, source } = report;
  const counts = countsToShow(report);
  const lines = [say(dryRun ? 'exchange:import.rehearsed' : 'exchange:import.done', { source: displayName(source, files) })];
  const kinds = (['author', 'category', 'tag', 'attachment', 'venue', 'organizer', 'event', 'settings'] as const).filter((kind) =>
    Object.values(counts).some((count) => (count[kind] ?? 0) > 0),
  );
  const rows = [
    ['kind', ...Object.keys(counts)].map((name) => say(`exchange:columns.${name}`)),
    ...kinds.map((kind) => [say(`exchange:kinds.${kind}`), ...Object.values(counts).map((count) => String(count[kind] ?? 0))]),
  ];
  lines.push(...alignColumns(rows));
  const skippedTexts = Object.entries(skipped).map(([type, number]) => `${skippedText(type, say)} ${number}`);
  if (skippedTexts.length > 0) lines.push(say('exchange:import.aside', { list: skippedTexts.join(', ') }));
  if (losses.length > 0) lines.push(say('exchange:import.lost'));
  for (const { reason, count: number, examples } of losses) {
    lines.push(`  ${say(`exchange:losses.${reason}`)} (${number})`);
    for (const loss of examples.slice(0, MAX_LOSSES_SHOWN)) lines.push(`    ${lossParts(loss, say).map(oneLine).join(' · ')}`);
    if (number > MAX_LOSSES_SHOWN)
      lines.push(`    ${say('exchange:import.more', { count: number - Math.min(MAX_LOSSES_SHOWN, examples.length) })}`);
  }
  if (hint !== undefined && losses.some(({ reason }) => reason === 'link-missing')) lines.push(say(`exchange:hints.${hint}`));
  if (losses.some(({ reason }) => reason === 'column-unknown')) lines.push(say('exchange:hints.columns'));
  return `${lines.join('\n')}\n`;
}

/** Returns the name of a type of skipped content: a sentence if it has one, otherwise the type or component itself. */
const skippedText = (type: string, say: Say): string => {
  const key = SKIPPED_TYPE_KEYS.get(type);
  return key === undefined ? type : say(`exchange:asides.${key}`);
};
const SKIPPED_TYPE_KEYS = new Map([
  ['comment', 'comment'],
  ['revision', 'revision'],
  ['term', 'term'],
  ['category of posts', 'category-of-posts'],
  ['page of another host', 'page-of-another-host'],
  ['sitemap of another host', 'sitemap-of-another-host'],
  ['text after the calendar', 'text-behind'],
]);

/** Returns the sentences that name the files with rejected rows. */
export const rejectedText = (files: readonly RejectedFile[], say: Say): string =>
  files.map(({ path, rows }) => `${say('exchange:import.rejected', { count: rows, file: path })}\n`).join('');

/** Formats the first records as they would be stored, one line each, without empty columns. */
export function previewText(records: readonly PreviewedRecord[], say: Say): string {
  const rows = records.map((record) => PREVIEW_COLUMNS.map(([, show]) => truncateTo(oneLine(show(record)), MAX_CELL_WIDTH)));
  const usedColumns = PREVIEW_COLUMNS.map((_, index) => rows.some((row) => row[index] !== ''));
  const headings = PREVIEW_COLUMNS.map(([name]) => say(`exchange:columns.${name}`));
  const lines = alignColumns(
    [headings, ...rows].map((row) => row.filter((_, index) => usedColumns[index])),
    { numbers: false },
  );
  return `${[say('exchange:import.previewed'), ...lines.map((line) => line.trimEnd())].join('\n')}\n`;
}

const metaTexts = ({ metas }: PreviewedRecord, ...keys: readonly string[]): string =>
  keys.flatMap((key) => metas.flatMap(([name, value]) => (name === key && value !== '' ? [value] : []))).join(', ');
const joinNames = (items: readonly { readonly name: string }[]): string => items.map(({ name }) => decodeEntities(name)).join(', ');

/** Columns of the preview, with the functions that return their texts. */
const PREVIEW_COLUMNS: readonly (readonly [column: string, show: (record: PreviewedRecord) => string])[] = [
  ['kind', ({ kind }) => kind],
  ['title', ({ columns }) => decodeEntities(String(columns.post_title ?? ''))],
  ['start', (record) => metaTexts(record, DATES.start)],
  ['end', (record) => metaTexts(record, DATES.end)],
  ['zone', (record) => metaTexts(record, DATES.timezone)],
  ['status', ({ columns }) => String(columns.post_status ?? '')],
  ['links', ({ links }) => joinNames(links)],
  ['terms', ({ terms }) => joinNames(terms)],
  ['cost', (record) => metaTexts(record, COST.amounts)],
  ['address', (record) => metaTexts(record, VENUE.address, VENUE.zip, VENUE.city, VENUE.country)],
  ['contact', (record) => metaTexts(record, ORGANIZER.email, ORGANIZER.phone, VENUE.phone)],
];

/** Maximum width of a preview cell, in terminal columns. */
const MAX_CELL_WIDTH = 40;

/** Maximum number of losses per reason that are printed; `--format=json` includes more. */
const MAX_LOSSES_SHOWN = 10;

/** Formats the result of one round of following on one line. */
export function roundText({ created, updated, lost }: Report, time: string, say: Say): string {
  const sum = (counts: Count) => Object.values(counts).reduce((total, number) => total + number, 0);
  return `${say('exchange:import.followed', { time, created: sum(created), updated: sum(updated), lost: sum(lost) })}\n`;
}

/** Formats the column that each heading of the files is mapped to. */
export function mappingText(source: CsvSource, say: Say): string {
  return source
    .mapping()
    .map(({ file, kind, columns }) => {
      const rows = columns.map(({ header, column, example }) => [
        oneLine(header),
        column ?? say('exchange:import.not-mapped'),
        oneLine(example),
      ]);
      return `${[say('exchange:import.mapping', { file, kind: say(`exchange:kinds.${kind}`) }), ...alignColumns(rows, { numbers: false }).map((line) => line.trimEnd())].join('\n')}\n`;
    })
    .join('');
}

/**
 * Aligns cells in columns. `numbers`: whether all columns except the first contain numbers, which are right-aligned.
 */
function alignColumns(rows: readonly (readonly string[])[], { numbers = true }: { readonly numbers?: boolean } = {}): string[] {
  const widths = rows[0]!.map((_, column) => rows.reduce((width, row) => Math.max(width, widthOf(row[column]!)), 0));
  return rows.map(
    (row) => `  ${row.map((cell, column) => (column > 0 && numbers ? padStartTo : padEndTo)(cell, widths[column]!)).join('  ')}`,
  );
}

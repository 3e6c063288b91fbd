import type { CsvSource } from '../exchange/csv/read.ts';
import type { Count, Report } from '../exchange/items/report.ts';
import type { Say } from '../refusals.ts';
import { oneLine } from './print.ts';

/** What became of everything, for a person to read. */
export function reportText(report: Report, say: Say): string {
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

/** What one more round of following came to, on one line. */
export function roundText({ created, updated, lost }: Report, time: string, say: Say): string {
  const sum = (counts: Count) => Object.values(counts).reduce((all, number) => all + number, 0);
  return `${say('exchange:import.followed', { time, created: sum(created), updated: sum(updated), lost: sum(lost) })}\n`;
}

/** What each column of the files is taken for. */
export function mappingText(source: CsvSource, say: Say): string {
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

/** Cells below each other; numbers to the right. */
function aligned(rows: readonly (readonly string[])[], numbers = true): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map(
    (row) =>
      `  ${row.map((cell, column) => (column > 0 && numbers ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!))).join('  ')}`,
  );
}

/** Results as tables for the terminal and as sections of docs/performance.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

const PAGE = fileURLToPath(new URL('../../docs/performance.md', import.meta.url));

/**
 * Writes a section of the page between its two marks: `<!-- NAME -->` and `<!-- /NAME -->`. The rest of the page does
 * not change.
 */
export function writeSection(name, text) {
  const page = readFileSync(PAGE, 'utf8');
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/performance.md has no marks for the section "${name}"`);
  writeFileSync(PAGE, `${page.slice(0, from + begin.length)}\n\n${text.trim()}\n\n${page.slice(to)}`);
}

/** Returns date, machine and load as one phrase. `load`: the load average of the last minute before the start. */
export function machine(load) {
  const cpu = cpus()[0]?.model.trim() ?? 'unknown processor';
  const busy = load > 0.5 ? `, with a load of ${load.toFixed(1)} from other work before the start` : '';
  const memory = (totalmem() / 2 ** 30).toFixed(0);
  const system = `${platform()} ${release().split('-')[0]} (${arch()}), Node ${process.versions.node}`;
  return `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpu}, ${memory} GB of memory, ${system}${busy}`;
}

const COLUMNS = [
  'database',
  'request',
  'service',
  'bytes',
  'queries',
  'requests/s',
  'rate / bare Express',
  'rate / same SQL',
  'CPU ms',
  'CPU: bare Express / service',
  'CPU: same SQL / service',
  'p50 ms',
  'p99 ms',
];
const PROCESS_COLUMNS = [
  'database',
  'service',
  'upcoming events',
  'start to first answer, ms',
  'memory at start, MB',
  'peak memory under load, MB',
  'generating the events, s',
];

/** Returns both tables as plain text. */
export const printedTable = (results) =>
  `\n${aligned(COLUMNS, requestRows(results))}\n\n${aligned(PROCESS_COLUMNS, processRows(results))}\n`;

/**
 * Returns the section about requests. The second argument has the numbers of events, seconds, rounds and clients, and
 * the load of the machine before the start.
 */
export const requestsSection = (results, { events, seconds, rounds, clients, load }) => `
${machine(load)}:

\`\`\`
npm run bench -- --events ${events} --seconds ${seconds} --rounds ${rounds} --clients ${clients}
\`\`\`

${markdown(COLUMNS, requestRows(results))}

${markdown(PROCESS_COLUMNS, processRows(results))}
`;

const requestRows = (results) =>
  results.flatMap(({ database, figures }) =>
    figures.map(({ scenario, service, bytes, queries, own, bare, rows }) =>
      [
        database,
        scenario,
        service,
        bytes,
        queries,
        Math.round(own.rate),
        share(own.rate / bare.rate),
        rows ? share(own.rate / rows.rate) : '',
        share(own.cpu),
        share(bare.cpu / own.cpu),
        rows ? share(rows.cpu / own.cpu) : '',
        own.p50,
        own.p99,
      ].map(String),
    ),
  );

const processRows = (results) =>
  results.flatMap(({ database, seedMs, total, services }) =>
    services.map(({ name, startMs, memory }) =>
      [database, name, total, startMs.toFixed(0), megabytes(memory.start), megabytes(memory.load), (seedMs / 1000).toFixed(1)].map(String),
    ),
  );

const share = (number) => (Number.isFinite(number) ? number.toFixed(number < 0.1 ? 3 : 2) : '');
const megabytes = (bytes) => (bytes / 2 ** 20).toFixed(0);

/** Returns a Markdown table. The first `texts` columns contain text, the others numbers. */
export function markdown(head, rows, texts = 3) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, at) => (at < texts ? '---' : '---:'))), ...rows.map(line)].join('\n');
}

function aligned(head, rows) {
  const widths = head.map((name, at) => Math.max(name.length, ...rows.map((row) => row[at].length)));
  return [head, ...rows]
    .map((row) => row.map((cell, at) => (at < 3 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join('  '))
    .join('\n');
}

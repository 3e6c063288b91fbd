import type { Command } from 'commander';
import { findSite } from '../exchange/live/site-client.ts';
import { shortText } from '../exchange/verify/decisions.ts';
import { type Finding, type VerifySummary, verifySites } from '../exchange/verify/verify.ts';
import { kinds } from '../kinds/index.ts';
import type { Say } from '../texts.ts';
import { decodeEntities } from '../wordpress/content/entities.ts';
import { CliError } from './io.ts';
import { choiceOf, parseCredentials, parseNumber, REPORT_FORMATS, withExamples, withReportFormat } from './options.ts';
import { oneLine, print } from './print.ts';
import { clearLine, showLine } from './rate.ts';
import type { Session } from './session.ts';
import { padEndTo } from './width.ts';

interface Options {
  readonly oldUser?: string;
  readonly newUser?: string;
  readonly namespace?: string;
  readonly rate: string;
  readonly concurrency: string;
  readonly sample?: string;
  readonly filters: boolean;
  readonly format: string;
}

/** Adds `verify`. */
export function addVerifyCommand(program: Command, session: Session): void {
  const { say } = session;
  const command = withExamples(program.command('verify <old> <new>').description(say('upkeep:verify.about')), say, [
    'fasti verify https://old.example https://new.example',
    "fasti verify https://old.example http://localhost:8080 --old-user='anna:xxxx xxxx xxxx xxxx xxxx xxxx' --rate=5",
    'fasti verify https://old.example https://new.example --sample=200 --format=json > differences.json',
  ])
    .option('--old-user <login:password>', say('upkeep:verify.old-user'))
    .option('--new-user <login:password>', say('upkeep:verify.new-user'))
    .option('--namespace <name>', say('upkeep:verify.namespace'))
    .option('--rate <number>', say('upkeep:verify.rate'), '20')
    .option('--concurrency <number>', say('upkeep:verify.concurrency'), '4')
    .option('--sample <number>', say('upkeep:verify.sample'))
    .option('--no-filters', say('upkeep:verify.no-filters'));
  withReportFormat(command, say).action((before: string, after: string, options: Options) => verify(session, before, after, options));
}

async function verify(session: Session, before: string, after: string, options: Options): Promise<void> {
  const { io, say } = session;
  const isJson = choiceOf('format', options.format, REPORT_FORMATS) === 'json';
  const commonOptions = {
    namespace: options.namespace,
    rate: parseNumber('rate', options.rate),
    concurrency: parseNumber('concurrency', options.concurrency),
  };
  const sample = parseNumber('sample', options.sample);
  const sites = await Promise.all([
    findSite(before, { ...commonOptions, credentials: parseCredentials(options.oldUser ?? io.env.FASTI_OLD_USER) }),
    findSite(after, { ...commonOptions, credentials: parseCredentials(options.newUser ?? io.env.FASTI_NEW_USER) }),
  ]);
  const findingsByKey = new Map<string, Finding>();
  const summary = await verifySites(...sites, {
    sample,
    filters: options.filters,
    concurrency: commonOptions.concurrency,
    onFinding: (finding) => {
      const key = keyOf(finding);
      if (findingsByKey.has(key) || findingsByKey.size >= MAX_REMEMBERED) return;
      findingsByKey.set(key, finding);
      if (!isJson && finding.decision === undefined) print(io, findingText(finding));
    },
    onProgress: (phase, count, total) => showLine(session, `${say(`upkeep:verify.phases.${phase}`)} ${count}/${total}`),
  });
  clearLine(session);
  if (isJson) print(io, `${JSON.stringify({ ...summary, findings: [...findingsByKey.values()].map(jsonOf) })}\n`);
  else print(io, summaryText(summary, [...findingsByKey.values()], say));
  // The printed summary is the message.
  if (summary.differences > 0) throw new CliError('sites-differ', { count: summary.differences });
}

/** Maximum number of differences that are remembered, so that each is reported only once. */
const MAX_REMEMBERED = 20_000;

// ------------------------------------------------------------------------------------------------- what is printed
const addressOf = ({ route, query }: Finding): string => {
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${value}`);
  return pairs.length === 0 ? route || '/' : `${route}?${pairs.join('&')}`;
};

/** Returns a key of a difference: for records independent of the request, for lists including their filters. */
const keyOf = (finding: Finding): string => {
  const { record, path, decision } = finding;
  return decision === undefined
    ? record
      ? `${record.route} ${record.member}`
      : `${addressOf(finding)} ${path}`
    : `${decision} ${record ? `${record.route} ${record.member}` : path}`;
};

function findingText(finding: Finding): string {
  const { record, path, old: before, new: after } = finding;
  const place = record
    ? `${record.route} ${record.name === '' ? '' : JSON.stringify(decodeEntities(record.name))} ${record.member}`
    : `${addressOf(finding)} ${path}`;
  return [place, `  - ${shortText(before)}`, `  + ${shortText(after)}`]
    .map((line) => `${line.startsWith('  ') ? '  ' : ''}${oneLine(line)}\n`)
    .join('');
}

const jsonOf = (finding: Finding) => ({
  ...(finding.decision === undefined ? {} : { decision: finding.decision }),
  request: addressOf(finding),
  ...(finding.record ? { record: finding.record.route, member: finding.record.member } : { path: finding.path }),
  old: finding.old ?? null,
  new: finding.new ?? null,
});

/** Returns the name of the records of a list by its path. */
function kindInWords(path: string, say: Say): string {
  const kind = kinds.find((one) => one.path === path);
  return kind ? say(`exchange:kinds.${kind.name}`) : path;
}

function summaryText(
  { compared, records, differences, requests, deliberate }: VerifySummary,
  findings: readonly Finding[],
  say: Say,
): string {
  const rows = Object.entries(deliberate).sort(([one], [other]) => one.localeCompare(other, 'en', { numeric: true }));
  const places = findings.filter(({ decision }) => decision === undefined).length;
  const example = (row: string) => findings.find(({ decision }) => decision === row);
  const lines = [
    '',
    say('upkeep:verify.compared', { compared }),
    ...Object.entries(records).map(
      ([path, { old: before, new: after }]) =>
        `  ${padEndTo(kindInWords(path, say), 14)}${String(before).padStart(8)}${String(after).padStart(8)}`,
    ),
    ...(rows.length === 0 ? [] : [say('upkeep:verify.deliberate')]),
    ...rows.map(([row, number]) =>
      oneLine(
        `  ${row.padEnd(10)}${String(number).padStart(6)}  ${example(row) ? `${addressOf(example(row)!)} ${example(row)!.path}` : ''}`,
      ).replace(/^/, '  '),
    ),
    differences === 0 ? say('upkeep:verify.same') : say('upkeep:verify.differ', { differences, requests, places }),
  ];
  return `${lines.join('\n')}\n`;
}

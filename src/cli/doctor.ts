import type { Command } from 'commander';
import { version } from '../host/version.ts';
import type { Site } from '../site.ts';
import { damageInSqlite, sqlitePath } from '../storage/audit/snapshot.ts';
import { DatabaseUnavailable } from '../storage/engine/database.ts';
import { findInstallation } from '../storage/schema/installation.ts';
import { examplesInWords, type Finding, finding } from '../upkeep/doctor/findings.ts';
import { examine, type Health } from '../upkeep/doctor.ts';
import { CliError, EXIT_CODE } from './io.ts';
import { choiceOf, REPORT_FORMATS, withExamples, withReportFormat } from './options.ts';
import { oneLine, print } from './print.ts';
import { askYesNo } from './progress.ts';
import { configOf, notInstalled, type Session, withDatabase } from './session.ts';

interface Options {
  readonly fix?: boolean;
  readonly yes?: boolean;
  readonly format: string;
}

/** Adds `doctor`. */
export function addDoctorCommand(program: Command, session: Session): void {
  const { say } = session;
  const command = withExamples(program.command('doctor').description(say('upkeep:doctor.about')), say, [
    'fasti doctor',
    'fasti doctor --fix',
    'fasti doctor --fix --yes',
    'fasti doctor --format=json',
  ])
    .option('--fix', say('upkeep:doctor.fix'))
    .option('--yes', say('upkeep:doctor.yes'));
  withReportFormat(command, say).action((options: Options) => runDoctor(session, options));
}

async function runDoctor(session: Session, options: Options): Promise<void> {
  const { io, say } = session;
  const format = choiceOf('format', options.format, REPORT_FORMATS);
  const repairOptions: RepairOptions = { assumeYes: options.yes === true, failedNames: new Set() };
  if (options.fix) io.onFirstChange?.();
  const health = await withDatabase(session, options.fix ? 'write' : 'read', async (site) => {
    if ((await findInstallation(site.db)) === 'none') throw await notInstalled(site);
    const initialHealth = await examine(site, version());
    if (format === 'text') print(io, healthText(initialHealth, session));
    if (!options.fix || !(await repair(session, initialHealth.findings, repairOptions))) return initialHealth;
    const finalHealth = await repairInRounds(session, site, initialHealth, repairOptions);
    if (format === 'text') print(io, `${say('upkeep:doctor.after')}\n${findingsText(finalHealth.findings, session)}`);
    return finalHealth;
  }).catch((error: unknown) => {
    const damagedHealth = healthOfDamagedFile(session, error);
    if (format === 'text') print(io, healthText(damagedHealth, session));
    return damagedHealth;
  });
  if (format === 'json')
    print(
      io,
      `${JSON.stringify({ ...health, findings: health.findings.map(({ fix, ...finding }) => ({ ...finding, fixable: fix !== undefined })) })}\n`,
    );
  const errors = health.findings.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new CliError('not-healthy', { count: errors.length });
  if (repairOptions.failedNames.size > 0) throw new CliError('not-repaired', { count: repairOptions.failedNames.size });
}

/**
 * Returns what can be reported about a file that is too damaged to be queried. Rethrows the error if it has another
 * cause.
 */
function healthOfDamagedFile(session: Session, error: unknown): Health {
  const file = error instanceof DatabaseUnavailable ? sqlitePath(configOf(session).databaseUrl) : undefined;
  const damage = file === undefined ? [] : findFileDamage(file);
  if (damage.length === 0) throw error;
  const versions = { fasti: version(), node: process.versions.node, database: 'SQLite', zones: process.versions.tz ?? '' };
  return { versions, servers: [], findings: finding('database-damaged', 'error', damage) };
}

function findFileDamage(file: string): string[] {
  try {
    return damageInSqlite(file);
  } catch {
    // The file cannot be read at all, which the original error says.
    return [];
  }
}

interface RepairOptions {
  /** Whether to make all repairs without asking. */
  readonly assumeYes: boolean;
  /** Names of the findings whose repair failed. */
  readonly failedNames: Set<string>;
}

/** Maximum number of rounds, since a repair may reveal further findings. */
const MAX_REPAIR_ROUNDS = 10;

/**
 * Repairs findings that appear after the first round of repairs, until nothing changes. Returns the remaining findings.
 */
async function repairInRounds(session: Session, site: Site, first: Health, options: RepairOptions): Promise<Health> {
  const keyOf = (finding: Finding) => JSON.stringify(finding);
  const knownKeys = new Set(first.findings.map(keyOf));
  let health = await examine(site, version());
  for (let round = 1; round < MAX_REPAIR_ROUNDS; round += 1) {
    // Do not ask again about declined repairs, nor retry those that had no effect.
    const newFindings = health.findings.filter((finding) => finding.fix !== undefined && !knownKeys.has(keyOf(finding)));
    for (const finding of newFindings) knownKeys.add(keyOf(finding));
    if (newFindings.length === 0 || !(await repair(session, newFindings, options))) break;
    health = await examine(site, version());
  }
  return health;
}

/**
 * Makes the possible repairs, after asking for each; a failure does not stop the others. Returns whether any was tried.
 */
async function repair({ io, say }: Session, findings: readonly Finding[], { assumeYes, failedNames }: RepairOptions): Promise<boolean> {
  const fixable = findings.filter(({ fix }) => fix !== undefined);
  const ask = io.confirm ?? (io.isTerminal ? askYesNo : undefined);
  if (fixable.length > 0 && !assumeYes && !ask) throw new CliError('nobody-to-ask', {}, EXIT_CODE.usage);
  let wasAnyTried = false;
  for (const { name, count, fix } of fixable) {
    const sentence = say(`upkeep:findings.${name}`);
    if (!assumeYes && !(await ask!(say('upkeep:doctor.ask', { finding: sentence, count })))) continue;
    // A repair that fails may have changed something already.
    wasAnyTried = true;
    try {
      await fix!();
      io.err(`${say('upkeep:doctor.repaired', { finding: sentence })}\n`);
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error;
      failedNames.add(name);
      const reason = error instanceof Error ? error.message : String(error);
      io.err(`${oneLine(say('upkeep:doctor.not-repaired', { finding: sentence, reason }))}\n`);
    }
  }
  return wasAnyTried;
}

function healthText({ versions, servers, plugin, findings }: Health, session: Session): string {
  const { say } = session;
  const head = [
    say('upkeep:doctor.versions', { ...versions }),
    ...servers.map((server) => serverLine(server, say)),
    ...pluginLine(plugin, say),
  ];
  return `${head.join('\n')}\n${findingsText(findings, session)}`;
}

function findingsText(findings: readonly Finding[], { say }: Session): string {
  const lines: string[] = [];
  for (const one of findings) {
    const { name, severity, count, counts, examples, fix } = one;
    lines.push(
      `${say(`upkeep:doctor.${severity}`)}  ${say(`upkeep:findings.${name}`)}${count > 1 ? ` (${count})` : ''}${fix ? ` · ${say('upkeep:doctor.fixable')}` : ''}`,
    );
    for (const example of examplesInWords(one, say)) if (example !== '') lines.push(`    ${oneLine(example)}`);
    if (!counts && count > examples.length) lines.push(`    ${say('upkeep:doctor.more', { count: count - examples.length })}`);
    if (!fix) lines.push(`    ${say(`upkeep:advice.${name}`)}`);
  }
  if (findings.length === 0) lines.push(say('upkeep:doctor.healthy'));
  return `${lines.join('\n')}\n`;
}

function serverLine({ name, replica, inUse, detail }: Health['servers'][number], say: Session['say']): string {
  const key = replica ? 'replica' : inUse ? 'server-in-use' : 'server';
  return `${say(`upkeep:doctor.${key}`, { name })}${detail === '' ? '' : ` · ${detail.replace(`${name}: `, '')}`}`;
}

function pluginLine(plugin: Health['plugin'], say: Session['say']): string[] {
  if (!plugin) return [];
  const { active, waiting, latest } = plugin;
  const state = latest ? 'plugin-at-work' : active ? 'plugin-active' : 'plugin-absent';
  return [say(`upkeep:doctor.${state}`, { waiting, latest: latest ?? '' })];
}

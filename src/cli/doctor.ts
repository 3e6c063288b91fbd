import type { Command } from 'commander';
import { version } from '../host/version.ts';
import type { Site } from '../site.ts';
import { damageInSqlite } from '../storage/audit/snapshot.ts';
import { DatabaseUnavailable } from '../storage/engine/database.ts';
import { sqlitePath } from '../storage/engine/sqlite/connection.ts';
import { findInstallation } from '../storage/schema/installation.ts';
import { examplesInWords, type Finding, finding } from '../upkeep/doctor/findings.ts';
import { examine, type Health } from '../upkeep/doctor.ts';
import { failedRepair, isFixable, repairInRounds } from '../upkeep/repair.ts';
import { CliError, EXIT_CODE } from './io.ts';
import { choiceOf, REPORT_FORMATS, withExamples, withReportFormat } from './options.ts';
import { oneLine, print } from './print.ts';
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
  let failedCount = 0;
  if (options.fix) io.onFirstChange?.();
  const health = await withDatabase(session, options.fix ? 'write' : 'read', async (site) => {
    if ((await findInstallation(site.db)) === 'none') throw await notInstalled(site);
    const initialHealth = await examine(site, version());
    if (format === 'text') print(io, healthText(initialHealth, session));
    if (!options.fix) return initialHealth;
    const { health: finalHealth, failed } = await repair(session, site, initialHealth, options.yes === true);
    failedCount = failed.size;
    if (format === 'text' && finalHealth !== initialHealth)
      print(io, `${say('upkeep:doctor.after')}\n${findingsText(finalHealth.findings, session)}`);
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
  if (failedCount > 0) throw new CliError('not-repaired', { count: failedCount });
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

/** Makes the possible repairs, after asking for each unless `assumeYes`. */
async function repair(session: Session, site: Site, first: Health, assumeYes: boolean): ReturnType<typeof repairInRounds> {
  const { io, say } = session;
  const sentenceOf = ({ name }: Finding): string => say(`upkeep:findings.${name}`);
  const answers = { yes: say('cli:answers.yes'), no: say('cli:answers.no') };
  const { confirm } = io;
  if (first.findings.some(isFixable) && !assumeYes && !confirm) throw new CliError('nobody-to-ask', {}, EXIT_CODE.usage);
  return repairInRounds(first, {
    examineAgain: () => examine(site, version()),
    mayRepair: async (finding) =>
      assumeYes || confirm!(say('upkeep:doctor.ask', { finding: sentenceOf(finding), count: finding.count }), answers),
    onTried: (finding, error) => {
      if (error === undefined) return io.err(`${say('upkeep:doctor.repaired', { finding: sentenceOf(finding) })}\n`);
      io.err(`${oneLine(failedRepair(finding, error, say))}\n`);
    },
  });
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

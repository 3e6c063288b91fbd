import type { Command } from 'commander';
import { version } from '../host/version.ts';
import { type Status, statusOf } from '../upkeep/status.ts';
import { listenAddress } from './listen-address.ts';
import { choiceOf, REPORT_FORMATS, withExamples, withReportFormat } from './options.ts';
import { oneLine, print } from './print.ts';
import { configOf, type Session, withSite } from './session.ts';

/** The result of requesting the server's address. */
interface ServerState {
  readonly address: string;
  /** `other`: something responds that is not Fasti. */
  readonly state: 'answers' | 'other' | 'silent';
}

/** Adds `status`. */
export function addStatusCommand(program: Command, session: Session): void {
  const { io, say } = session;
  const examples = ['fasti status', 'fasti status --format=json'];
  withReportFormat(withExamples(program.command('status').description(say('status.about')), say, examples), say).action(
    (options: { readonly format: string }) =>
      withSite(session, 'read', async (site) => {
        const format = choiceOf('format', options.format, REPORT_FORMATS);
        const versions = { fasti: version(), node: process.versions.node };
        const [status, server] = await Promise.all([statusOf(site), checkServer(listenAddress(configOf(session)))]);
        const text =
          format === 'json' ? JSON.stringify({ versions, server, ...status }) : statusLines(session, versions, status, server).join('\n');
        print(io, `${text}\n`);
      }),
  );
}

const TIMEOUT_MS = 2000;

async function checkServer(address: string | undefined): Promise<ServerState | null> {
  if (address === undefined) return null;
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const answer = await fetch(`${address}/health/live`, { headers: { connection: 'close' }, redirect: 'manual', signal }).catch(
    () => undefined,
  );
  if (!answer) return { address, state: 'silent' };
  const body: unknown = await answer.json().catch(() => undefined);
  return { address, state: answer.ok && Object(body).status === 'live' ? 'answers' : 'other' };
}

/** Returns the lines of the status, with a label each. */
function statusLines(
  { say, language }: Session,
  versions: Readonly<Record<string, string>>,
  status: Status,
  server: ServerState | null,
): string[] {
  const { network, database, records, languages, index, journal, plugin, backup } = status;
  const latestOfOthers = journal?.latestOfOthers;
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  const rows: readonly (readonly [label: string, text: string])[] = [
    ['site', `${status.name} · ${status.home}`],
    ...(network ? ([['network', say(`status.network-${network.state}`, { number: network.site })]] as const) : []),
    ['versions', `Fasti ${versions.fasti} · Node ${versions.node} · ${database.version}`],
    ['server', server ? say(`status.server-${server.state}`, { address: server.address }) : say('status.server-unknown')],
    ['database', say('status.size', { megabytes: number.format(database.bytes / BYTES_PER_MEGABYTE) })],
    ...Object.entries(records).map(
      ([name, { all, public: visible }]) => [name, visible < all ? say('status.of-which', { all, visible }) : String(all)] as const,
    ),
    ['languages', languages.length > 0 ? languages.join(', ') : say('status.no-languages')],
    ['index', say(`status.index-${index ?? 'none'}`)],
    ['journal', journal ? say('status.entries', { count: journal.entries, latest: journal.latest ?? '-' }) : say('status.no-journal')],
    ...(journal ? ([['others', latestOfOthers ? `${latestOfOthers} UTC` : say('status.no-others')]] as const) : []),
    ...(plugin ? ([['plugin', say('status.plugin-waiting', { count: plugin.waiting })]] as const) : []),
    ['backup', backup ? `${backup.at} UTC · ${backup.file}` : say('status.no-backup')],
    ...(database.tablesMissing.length > 0
      ? ([['tables', say('status.tables-missing', { count: database.tablesMissing.length })]] as const)
      : []),
  ];
  const labels = new Map(rows.map(([name]) => [name, say(`status.labels.${name}`)]));
  const width = Math.max(...[...labels.values()].map((label) => label.length));
  return rows.map(([name, text]) => `${labels.get(name)!.padEnd(width)}  ${oneLine(text)}`);
}

const BYTES_PER_MEGABYTE = 1_000_000;

/**
 * Private Galera nodes on loopback: MariaDB with Debian's package `galera-4`. They can be killed, suspended and started
 * again.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killOnExit } from './leave-nothing.mjs';
import { connectTo, environmentIn, freePort } from './private-mysql.mjs';

const PROVIDERS = [
  '/usr/lib/galera/libgalera_smm.so',
  '/usr/lib64/galera-4/libgalera_smm.so',
  '/usr/lib/libgalera_smm.so',
  '/usr/lib/x86_64-linux-gnu/galera/libgalera_smm.so',
];
const TIMEOUT_MS = 120_000;

/**
 * Timeouts after which an unresponsive node counts as gone, as docs/scaling.md recommends. The default is five seconds,
 * during which no node accepts writes.
 */
export const RECOMMENDED_OPTIONS = {
  'evs.keepalive_period': 'PT0.5S',
  'evs.inactive_check_period': 'PT0.2S',
  'evs.suspect_timeout': 'PT2S',
  'evs.inactive_timeout': 'PT4S',
  'evs.install_timeout': 'PT4S',
};

/**
 * Starts a cluster in `folder`. Resolves with `{nodes, stop, untilWhole}`, where each node has `{name, url, start,
 * kill, halt, go, isRunning, untilSynced, view, connect}`, or with `{reason}` if that is impossible. `options` are
 * those of the provider.
 */
export async function startGalera(folder, { count = 3, options = RECOMMENDED_OPTIONS } = {}) {
  const provider = PROVIDERS.find((path) => existsSync(path));
  const missing = ['mariadbd', 'mariadb-install-db', 'rsync'].filter((program) => spawnSync('which', [program]).status !== 0);
  if (!provider || missing.length > 0)
    return { reason: `it takes MariaDB, Galera and rsync (on Debian: apt-get install mariadb-server galera-4 rsync)` };
  chmodSync(folder, 0o755);
  const owner = ownerOfServers();
  const places = [];
  for (let number = 1; number <= count; number += 1) {
    const [port, group, ist, sst] = [await freePort(), await freePort(), await freePort(), await freePort()];
    places.push({ name: `node${number}`, folder: join(folder, `node${number}`), port, group, ist, sst });
  }
  const peers = places.map(({ group }) => `127.0.0.1:${group}`).join();
  const nodes = places.map((place) => galeraNode(place, { provider, peers, options, owner }));
  const stop = async () => {
    for (const node of nodes) await node.kill();
  };
  try {
    await nodes[0].start({ first: true });
    for (const node of nodes.slice(1)) await node.start();
  } catch (error) {
    await stop();
    return { reason: error.message };
  }
  /**
   * Waits until all nodes have the same view. A node that was suspended keeps its old view for a while.
   */
  const untilWhole = async () => {
    const until = Date.now() + TIMEOUT_MS;
    const views = async () => new Set(await Promise.all(nodes.map((node) => node.view().catch(() => 'away'))));
    for (let seen = await views(); !(seen.size === 1 && [...seen][0].endsWith(`,${count}`)); seen = await views()) {
      if (Date.now() > until) throw new Error(`the nodes do not find each other: ${[...seen].join(' / ')}`);
      await sleep(100);
    }
    for (const node of nodes) await node.untilSynced();
  };
  return { nodes, stop, untilWhole };
}

/** The user of the servers, since MariaDB and its state transfer scripts refuse to run as root. */
function ownerOfServers() {
  if (process.getuid?.() !== 0) return {};
  const id = (flag) => Number(execFileSync('id', [flag, 'mysql'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

function galeraNode({ name, folder, port, group, ist, sst }, { provider, peers, options, owner }) {
  const data = join(folder, 'data');
  const url = `mysql://root@127.0.0.1:${port}/`;
  const wsrep = ['--wsrep_on=ON', `--wsrep_provider=${provider}`, '--binlog_format=ROW'];
  let server;
  let halted = false;
  let env;

  const create = () => {
    mkdirSync(folder, { recursive: true });
    env = environmentIn(folder);
    if (owner.uid !== undefined) execFileSync('chown', ['-R', `${owner.uid}:${owner.gid}`, folder]);
    const { status, stderr } = spawnSync(
      'mariadb-install-db',
      ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db'],
      { ...owner, env, encoding: 'utf8' },
    );
    if (status !== 0) throw new Error(`mariadb-install-db failed: ${stderr.trim().split('\n').at(-1)}`);
  };

  /** The recovered position of a killed node, with which it receives only the missed changes instead of everything. */
  const recovered = () => {
    const { stdout, stderr } = spawnSync(
      'mariadbd',
      [
        '--no-defaults',
        `--datadir=${data}`,
        '--wsrep-recover',
        '--wsrep_cluster_address=gcomm://',
        ...wsrep,
        '--skip-networking',
        `--socket=${join(folder, 'recovery')}`,
      ],
      { ...owner, env, encoding: 'utf8' },
    );
    return /Recovered position: *(\S+)/.exec(stdout + stderr)?.[1];
  };

  const launch = ({ first = false } = {}) => {
    if (!existsSync(data)) create();
    const position = existsSync(join(data, 'grastate.dat')) && !first ? recovered() : undefined;
    const log = openSync(join(folder, 'server.log'), 'a');
    const provided = {
      'gmcast.listen_addr': `tcp://127.0.0.1:${group}`,
      'ist.recv_addr': `127.0.0.1:${ist}`,
      'gcache.size': '128M',
      ...options,
    };
    server = spawn(
      'mariadbd',
      [
        '--no-defaults',
        `--datadir=${data}`,
        `--socket=${join(folder, 'socket')}`,
        `--pid-file=${join(folder, 'pid')}`,
        `--port=${port}`,
        ...['--bind-address=127.0.0.1', '--skip-name-resolve', '--max-connections=400', '--performance-schema=OFF'],
        ...['--character-set-server=utf8mb4', '--collation-server=utf8mb4_unicode_520_ci', '--default-storage-engine=InnoDB'],
        ...['--innodb-autoinc-lock-mode=2', '--innodb-flush-log-at-trx-commit=1', '--innodb-buffer-pool-size=128M'],
        ...wsrep,
        '--wsrep_cluster_name=fasti',
        `--wsrep_cluster_address=gcomm://${peers}`,
        `--wsrep_node_name=${name}`,
        '--wsrep_node_address=127.0.0.1',
        '--wsrep_sst_method=rsync',
        `--wsrep_sst_receive_address=127.0.0.1:${sst}`,
        '--wsrep_slave_threads=2',
        `--wsrep_provider_options=${Object.entries(provided)
          .map(([key, value]) => `${key}=${value}`)
          .join(';')}`,
        ...(first ? ['--wsrep-new-cluster'] : []),
        ...(position ? [`--wsrep_start_position=${position}`] : []),
      ],
      { ...owner, env, stdio: ['ignore', log, log] },
    );
    killOnExit(server);
    halted = false;
  };

  const isRunning = () => server !== undefined && server.exitCode === null && server.signalCode === null;
  /** The values of these status variables, separated by commas. */
  const status = async (...names) => {
    const connection = await connectTo(url);
    try {
      const [rows] = await connection.query('SHOW STATUS WHERE Variable_name IN (?)', [names]);
      const values = new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Value]));
      return names.map((name) => values.get(name)).join();
    } finally {
      connection.destroy();
    }
  };
  const untilSynced = async () => {
    const until = Date.now() + TIMEOUT_MS;
    while ((await status('wsrep_local_state_comment', 'wsrep_ready').catch(() => '')) !== 'Synced,ON') {
      if (!isRunning() || Date.now() > until)
        throw new Error(`${name} does not come up: ${lastLines(readFileSync(join(folder, 'server.log'), 'utf8'))}`);
      await sleep(100);
    }
  };
  return {
    name,
    url,
    isRunning,
    untilSynced,
    /** The view of the cluster that the node has, with its number of nodes. */
    view: () => status('wsrep_cluster_state_uuid', 'wsrep_cluster_conf_id', 'wsrep_cluster_size'),
    connect: () => connectTo(url),
    /** Starts the node and waits until it has joined the cluster. */
    start: async (how) => {
      launch(how);
      await untilSynced();
    },
    /** Kills the node, like a loss of power. */
    kill: async () => {
      if (!isRunning()) return;
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGKILL');
      await ended;
    },
    /** Suspends the node, like a pulled network cable. */
    halt: () => {
      halted = server.kill('SIGSTOP');
    },
    go: () => {
      if (halted) server.kill('SIGCONT');
      halted = false;
    },
  };
}

const lastLines = (text) => text.trim().split('\n').slice(-3).join(' / ');

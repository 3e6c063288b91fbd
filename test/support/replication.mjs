/** A private MariaDB primary with a replica that follows it by GTID, both on loopback. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { connectTo, startPrivateMysql } from './private-mysql.mjs';

/**
 * Starts both in `folder`, with these further settings. Resolves with `{primary, replica, follow, hold, stop}`: the
 * results of `startPrivateMysql`, and functions to start and to pause the replication; or with `{reason}` if that is
 * impossible. The replica accepts no other writes.
 */
export async function startReplication(folder, settings = []) {
  const started = [];
  const stop = async () => {
    for (const server of started.splice(0)) await server.stop();
  };
  for (const [place, name] of ['primary', 'replica'].entries()) {
    const own = join(folder, name);
    mkdirSync(own, { recursive: true });
    const server = await startPrivateMysql(own, [
      ...[`--server-id=${place + 1}`, '--log-bin=log', '--log-slave-updates', '--binlog-format=ROW', '--gtid-strict-mode=ON'],
      ...settings,
    ]);
    if (server.reason || !server.version.startsWith('MariaDB')) {
      await server.stop?.();
      await stop();
      return { reason: server.reason ?? `${server.version} has another way to follow` };
    }
    started.push(server);
  }
  const [primary, replica] = started;
  const control = await connectTo(replica.url);
  control.on('error', () => {});
  await control.query(
    `CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = ${new URL(primary.url).port}, MASTER_USER = 'root', MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1`,
  );
  await control.query('SET GLOBAL read_only = 1');
  await control.query('START SLAVE');
  return {
    primary,
    replica,
    follow: () => control.query('START SLAVE SQL_THREAD'),
    hold: () => control.query('STOP SLAVE SQL_THREAD'),
    stop: async () => {
      control.destroy();
      await stop();
    },
  };
}

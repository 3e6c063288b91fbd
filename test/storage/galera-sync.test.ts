import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import type { MysqlServer } from '../../src/storage/engine/mysql/address.ts';
import type { Connection, Connections } from '../../src/storage/engine/mysql/connections.ts';
import { createGaleraSync } from '../../src/storage/engine/mysql/galera-sync.ts';
import { until } from '../support/until.mjs';

/* Readers that wait until a Galera node has applied everything: what a query covers that was sent before they came. */

const NODE: MysqlServer = { name: 'node:3306', options: { user: 'fasti', password: '', database: 'fasti' } };

/** A node whose answers the test gives. `asked`: one function for each query, which answers it. */
function openNode() {
  const asked: ((error?: Error) => void)[] = [];
  const query = (_sql: string, _bindings: readonly unknown[], done: (error: unknown) => void) => {
    asked.push((error) => done(error ?? null));
  };
  const connection = { query } as unknown as Connection;
  const connections: Connections = { open: async () => connection, serverOf: () => NODE, drop: () => {}, dropAll: () => {} };
  return { asked, sync: createGaleraSync(connections) };
}

it('a reader waits for a query that was sent after it came, which it shares with other readers', async () => {
  const { asked, sync } = openNode();
  const ended: string[] = [];
  const read = (name: string) => sync.waitBriefly(NODE).then((isApplied) => ended.push(`${name} ${isApplied}`));
  const first = read('first');
  await until('the first query', () => asked.length === 1);
  const others = [read('second'), read('third')];
  asked[0]!();
  await first;
  await until('the second query', () => asked.length === 2, { timeoutMs: 3000 });
  expect(ended).toEqual(['first true']);
  asked[1]!();
  await Promise.all(others);
  expect(ended.sort()).toEqual(['first true', 'second true', 'third true']);
  expect(asked).toHaveLength(2);
});

it('a reader goes on after a short while, and later ones at once until the node answers again', async () => {
  const { asked, sync } = openNode();
  expect(await sync.waitBriefly(NODE)).toBe(false);
  expect(await Promise.race([sync.waitBriefly(NODE), nextTurn().then(() => 'after a while')])).toBe(false);
  asked[0]!();
  await nextTurn();
  const later = sync.waitBriefly(NODE);
  await until('another query', () => asked.length === 2, { timeoutMs: 3000 });
  asked[1]!(new Error('the connection is gone'));
  expect(await later).toBe(false);
});

#!/usr/bin/env node
/**
 * Script of `npm run bench:watch`: measures the cost of noticing WordPress's writes, on a site of generated events.
 * Prints the duration of one look for changes and of one comparison of all contents, with the processor time of the
 * database server and of the process.
 *
 *   --events N       number of events (20000)
 *   --database NAME  only sqlite or mysql
 *   --keep FOLDER    folder in which the site is kept for the next run
 */
import { parseArgs } from 'node:util';
import { openDatabase } from '../../src/storage/engine/database.ts';
import { fingerprintsOf } from '../../src/storage/freshness/fingerprints.ts';
import { signedTables, watchedNames } from '../../src/storage/freshness/watched-tables.ts';
import { scratchFolder } from '../support/leave-nothing.mjs';
import { cpuMs } from './service.mjs';
import { eachDatabase, seedOnce } from './site.mjs';

const { values: flags } = parseArgs({
  options: { events: { type: 'string', default: '20000' }, database: { type: 'string' }, keep: { type: 'string' } },
});
const LOOKS = 500;
const ROUNDS = 5;
const temporary = scratchFolder('fasti-watch');

await eachDatabase(
  { folder: flags.keep ?? temporary, kept: flags.keep !== undefined, only: flags.database },
  async ({ title, pid }, provide) => {
    const { env, remove } = await provide(Number(flags.events));
    await seedOnce(env, Number(flags.events));
    const db = await openDatabase({ url: env.DATABASE_URL, prefix: 'wp_' });
    console.log(`${title}, ${flags.events} events:`);
    await look(db);
    console.log(`  a look for changes:           ${await costOf(pid, LOOKS, () => look(db))}`);
    const { ranges, longest } = await round(db);
    console.log(
      `  a comparison of all contents: ${await costOf(pid, ROUNDS, () => round(db))}, ${ranges} ranges, longest query ${longest.toFixed(0)} ms`,
    );
    await db.close();
    if (flags.keep === undefined) await remove();
  },
);

function look(db) {
  return db.dialect.changeSigns(db, signedTables(db));
}

async function round(db) {
  let [ranges, longest] = [0, 0];
  for (const table of watchedNames) {
    const steps = fingerprintsOf(db, table);
    for (let result = {}; !result.done; ) {
      const begun = performance.now();
      result = await steps.next();
      longest = Math.max(longest, performance.now() - begun);
      ranges += result.value?.size ?? 0;
    }
  }
  return { ranges, longest };
}

/**
 * Returns the mean time of `work`, run this number of times. `server`: the process ID of the database server if this
 * script started it.
 */
async function costOf(server, times, work) {
  const serverTime = () => (server === undefined ? 0 : cpuMs(server));
  const [begun, before, own] = [performance.now(), serverTime(), process.cpuUsage()];
  for (let time = 0; time < times; time += 1) await work();
  const { user, system } = process.cpuUsage(own);
  const each = (milliseconds) => `${(milliseconds / times).toFixed(1)} ms`;
  const inServer = server === undefined ? '' : `${each(serverTime() - before)} in the server, `;
  return `${each(performance.now() - begun)}, of processor time ${inServer}${each((user + system) / 1000)} in the process`;
}

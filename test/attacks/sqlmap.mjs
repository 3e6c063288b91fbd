/**
 * Tries SQL injection with sqlmap (https://sqlmap.org, Debian package `sqlmap`) in every parameter of every list and in
 * the paths.
 *
 *   npm run attacks -- sqlmap                            all of them, on SQLite and MySQL or MariaDB; takes a day
 *   npm run attacks -- sqlmap --only 'v1/events search'  parameters with these names
 *   npm run attacks -- sqlmap --database mysql --level 2 --minutes 5
 *
 * The default is level 5 and risk 3: every payload there is. A parameter that takes longer than `--minutes` is reported
 * as unfinished. Exits with 1 if something was found.
 */
import '../support/run-typescript.mjs';
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startService } from '../bench/service.mjs';
import { eachDatabase, seed } from '../bench/site.mjs';
import { killOnExit, scratchFolder } from '../support/leave-nothing.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    database: { type: 'string' },
    level: { type: 'string', default: '5' },
    risk: { type: 'string', default: '3' },
    minutes: { type: 'string', default: '60' },
  },
});
const only = new RegExp(values.only, 'i');
const FEED = '/events/ical/';
/** Parameters of feeds other than the filters of lists. */
const OF_FEEDS = [
  'tribe-bar-date',
  'tribe-bar-search',
  'tribe_events_cat',
  'tag',
  'event_ids',
  'eventDate',
  'paged',
  'per_page',
  'orderby',
];

const { parameterCarriers } = await import('../support/outside-texts.ts');
const folder = scratchFolder('fasti-sqlmap');
const counts = { tried: 0, found: 0, unfinished: 0 };

await eachDatabase({ folder, only: values.database }, async ({ name, title }, provide) => {
  const { env, remove } = await provide(200);
  await seed(env, 200);
  const service = await startService({ ...env, CACHE: 'off', LOG_LEVEL: 'silent' }, '/health/ready');
  for (const target of targets().filter((target) => only.test(target.name))) {
    counts.tried += 1;
    const { ended, output } = await sqlmap(service.base, target, name === 'MySQL' ? 'MySQL' : 'SQLite');
    const clean = /do not appear to be injectable/.test(output);
    const found = /the following injection point|is vulnerable/.test(output);
    if (found) counts.found += 1;
    else if (!clean || !ended) counts.unfinished += 1;
    const requests = Number(/HTTP\(s\) requests?:?\s+(\d+)|(\d+) HTTP\(s\) requests/i.exec(output)?.slice(1).find(Boolean) ?? Number.NaN);
    const outcome = found ? 'FOUND' : clean && ended ? 'nothing' : 'not finished';
    console.log(`${title}  ${outcome}  ${target.name}${Number.isNaN(requests) ? '' : `  (${requests} requests)`}`);
    if (found) console.log(output.slice(output.indexOf('---'), output.indexOf('---') + 2000));
    if (!found && !clean) console.log(output.split('\n').slice(-6).join('\n'));
  }
  await service.stop();
  await remove();
});
console.log(`${counts.tried} parameters tried: ${counts.found} findings, ${counts.unfinished} not finished`);
process.exitCode = counts.found > 0 || counts.unfinished > 0 ? 1 : 0;

/** Parameters of lists, segments of paths, and parameters of feeds; each with the URL in which sqlmap tries it. */
function targets() {
  const reads = parameterCarriers('').filter(({ name }) => name.startsWith('GET '));
  const lists = reads.filter(({ name, inPath }) => inPath || !name.includes('(?P<'));
  const feeds = OF_FEEDS.map((parameter) => ({ name: `feed ${parameter}`, url: `${FEED}?${parameter}=1`, parameter }));
  return feeds.concat(
    lists.flatMap(({ name, parameter, inPath, request }) => {
      const { path } = request('1');
      if (inPath) return [{ name, url: path.replace(/1$|9$/, '1*'), parameter: undefined }];
      const feed = name.startsWith('GET calendar/events/v1/events ')
        ? [{ name: `feed ${parameter}`, url: `${FEED}?${parameter}=1`, parameter }]
        : [];
      return [{ name, url: `${path}?${parameter}=1`, parameter }, ...feed];
    }),
  );
}

/** Runs sqlmap. Returns its output, and whether it finished. */
function sqlmap(base, { url, parameter }, dbms) {
  const own = mkdtempSync(join(folder, 'run-'));
  const child = spawn(
    'sqlmap',
    [
      `--url=${base}${url}`,
      ...(parameter === undefined ? [] : ['-p', parameter]),
      `--dbms=${dbms}`,
      `--level=${values.level}`,
      `--risk=${values.risk}`,
      '--headers=X-TEC-EEA: 1',
      '--batch',
      '--flush-session',
      '--disable-coloring',
      '--threads=2',
      `--output-dir=${own}`,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, HOME: own } },
  );
  killOnExit(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += text;
    });
  }
  const patience = setTimeout(() => child.kill('SIGKILL'), Number(values.minutes) * 60_000);
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(error.code === 'ENOENT' ? new Error('sqlmap is not installed (apt-get install sqlmap)') : error));
    child.on('exit', (status) => {
      clearTimeout(patience);
      resolve({ ended: status === 0, output });
    });
  });
}

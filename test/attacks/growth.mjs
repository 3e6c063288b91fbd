/**
 * Measures whether the cost of a request grows faster than the texts in it: for all requests, in every place, with
 * every filler.
 *
 *   npm run attacks -- growth                       everything, on SQLite; takes hours
 *   npm run attacks -- growth --only 'search slug'  functions, parameters and headers with these names
 *   npm run attacks -- growth --bytes 65536         texts of at most this length
 *
 * Exits with 1 if a cost grows with an exponent above 1.6, and names it.
 */
import '../support/run-typescript.mjs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cpuMs, fasti, startService } from '../bench/service.mjs';
import { seed } from '../bench/site.mjs';
import { scratchFolder } from '../support/leave-nothing.mjs';

const { values } = parseArgs({ options: { only: { type: 'string', default: '' }, bytes: { type: 'string', default: '262144' } } });
const only = new RegExp(values.only, 'i');
const longest = Number(values.bytes);

const { measureGrowthExponent, FILLERS, repeatFiller, MAX_EXPONENT, PAIRS } = await import('../support/growth.ts');
const { textCarriers, findTextFunctions } = await import('../support/text-functions.ts');
const { fileReaders } = await import('../support/file-readers.ts');
const { headCarriers, parameterCarriers } = await import('../support/outside-texts.ts');

const folder = scratchFolder('fasti-growth');
const faults = [];
let tried = 0;

for (const { name, call: take } of [...(await findTextFunctions()).takers, ...textCarriers(), ...fileReaders(folder)])
  await tryOut(name, take, { longest, floor: 60_000 });

const env = {
  DATABASE_URL: `sqlite:${join(folder, 'site.sqlite')}`,
  UPLOADS_DIR: join(folder, 'uploads'),
  CACHE: 'off',
  LOG_LEVEL: 'silent',
};
const { authorization: admin } = await seed(env, 100);
fasti(['user', 'create', 'contributor', 'contributor@example.test', '--role=contributor'], env);
const password = fasti(['user', 'application-password', 'create', 'contributor', 'growth', '--porcelain'], env);
const people = { admin, contributor: `Basic ${Buffer.from(`contributor:${password}`).toString('base64')}` };
const service = await startService(env, '/health/ready');
const clock = () => cpuMs(service.pid) * 1000;

const places = [
  ...Object.keys(people).flatMap((as) => parameterCarriers(as).map((place) => ({ ...place, name: `${as}: ${place.name}` }))),
  ...headCarriers(),
];
for (const place of places) {
  const send = async (text) => {
    const { method, path, headers, body, as } = place.request(text);
    const sent = { ...headers, ...(as ? { Authorization: people[as] } : {}), ...(body ? { 'Content-Type': 'application/json' } : {}) };
    await request(service.base, { method, path, headers: sent, body: body && JSON.stringify(body) });
  };
  await tryOut(place.name, send, { longest: Math.min(place.longest, longest), floor: 60_000, clock });
}

await service.stop();
console.log(
  `${tried} places and functions with ${FILLERS.length + PAIRS.length} fillers each: ${faults.length} grow faster than their texts`,
);
process.exitCode = faults.length > 0 ? 1 : 0;

async function tryOut(name, work, bounds) {
  if (!only.test(name)) return;
  tried += 1;
  for (const filler of [...FILLERS, ...PAIRS]) {
    const exponent = await measureGrowthExponent((bytes) => work(repeatFiller(filler, bytes)), bounds);
    if (exponent === undefined || exponent <= MAX_EXPONENT) continue;
    faults.push(name);
    console.log(`${name} with ${JSON.stringify(filler)}: ${exponent.toFixed(2)}`);
  }
}

/** Sends a request as it is given; `fetch` would send no body with GET. */
async function request(base, { method, path, headers, body }) {
  const { request: send } = await import('node:http');
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const sent = send(
      { hostname, port, method, path, headers: { ...headers, ...(body ? { 'Content-Length': Buffer.byteLength(body) } : {}) } },
      (answer) => {
        answer.resume();
        answer.on('end', resolve);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

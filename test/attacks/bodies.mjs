/**
 * Bodies that take memory or time: many that never end, and single ones that are as expensive to parse as possible.
 *
 *   npm run attacks -- bodies
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { head, talk, withTarget } from './_target.mjs';

const MEGABYTE = 2 ** 20;
/** Limits: the memory that an attack may add to the process, and the processor time for one body. */
const MOST_MEGABYTES = 100;
const MOST_MS = 500;
const EVENTS = '/wp-json/tribe/events/v1/events';
const MEDIA = '/wp-json/wp/v2/media';
const JSON_TYPE = { 'Content-Type': 'application/json' };
const FORM_TYPE = { 'Content-Type': 'application/x-www-form-urlencoded' };
const PARTS_TYPE = { 'Content-Type': 'multipart/form-data; boundary=X' };
const PICTURE = { 'Content-Type': 'image/jpeg', 'Content-Disposition': 'attachment; filename="a.jpg"' };

/**
 * Connections that send most of a body and then wait. `announced`: bytes; undefined for a body in chunks of `chunk`
 * bytes.
 */
const floods = [
  { name: '120 x GET, 7.8 of 7.9 MB', connections: 120, method: 'GET', path: EVENTS, headers: JSON_TYPE, sent: 7.8, announced: 7.9 },
  { name: '120 x POST, 7.8 of 7.9 MB', connections: 120, method: 'POST', path: EVENTS, headers: JSON_TYPE, sent: 7.8, announced: 7.9 },
  { name: '120 x POST, chunked', connections: 120, method: 'POST', path: EVENTS, headers: JSON_TYPE, sent: 7.8, chunk: 65_536 },
  { name: '1000 x POST, 60 of 64 kB', connections: 1000, method: 'POST', path: EVENTS, headers: JSON_TYPE, sent: 0.0586, announced: 0.0625 },
  { name: '200 x POST, 30 kB byte by byte', connections: 200, method: 'POST', path: EVENTS, headers: JSON_TYPE, sent: 0.03, chunk: 1 },
  { name: '120 x POST, 0.9 of 1 MB, signed in', connections: 120, method: 'POST', path: EVENTS, headers: JSON_TYPE, sent: 0.9, announced: 1, signed: true },
  { name: '120 x upload, 7.8 of 7.9 MB, signed in', connections: 120, method: 'POST', path: MEDIA, headers: PICTURE, sent: 7.8, announced: 7.9, signed: true },
  { name: '120 x upload, chunked, signed in', connections: 120, method: 'POST', path: MEDIA, headers: PICTURE, sent: 7.8, chunk: 65_536, signed: true },
]; // biome-ignore format: a table

const filled = (piece, megabytes) => piece.repeat(Math.floor((megabytes * MEGABYTE) / piece.length));
const numbered = (count, piece) => Array.from({ length: count }, (_, number) => piece(number)).join('');
const listed = (count, piece) => `[${Array.from({ length: count }, (_, number) => piece(number)).join()}]`;
const named = (count) => `{${Array.from({ length: count }, (_, number) => `"k${number}":1`).join()}}`;
const part = (number, more) => `--X\r\nContent-Disposition: form-data; name="f${number}"${more}\r\n\r\nx\r\n`;
const event = (field, value) => JSON.stringify({ title: 'x', start_date: 'tomorrow', end_date: 'tomorrow', [field]: value });

/**
 * Bodies that are expensive in different ways; each is sent in its most expensive size, just below the limits for
 * signed-in and for anonymous callers.
 */
const singles = [
  ['[', (size) => filled('[', size), JSON_TYPE],
  ['{"a":', (size) => filled('{"a":', size), JSON_TYPE],
  ['keys', (size) => named(Math.floor((size * MEGABYTE) / 12)), JSON_TYPE],
  ['short texts', (size) => listed(Math.floor((size * MEGABYTE) / 4), () => '"a"'), JSON_TYPE],
  ['one text of escapes', (size) => `{"title":"${filled('\\u00e9', size - 0.001)}"}`, JSON_TYPE],
  ['lists in categories', (size) => `{"categories":${listed(Math.floor((size * MEGABYTE) / 3), () => '[]')}}`, JSON_TYPE],
  ['fields of a form', (size) => numbered(Math.floor((size * MEGABYTE) / 10), (number) => `a${number}=1&`), FORM_TYPE],
  ['percent signs in a form', (size) => `title=${filled('%', size - 0.001)}`, FORM_TYPE],
  ['brackets in a form', (size) => `a${filled('[', size / 2)}${filled(']', size / 2)}=1`, FORM_TYPE],
  ['levels in a form', (size) => `a${filled('[b]', size)}=1`, FORM_TYPE],
  ['text parts', (size) => numbered(Math.floor((size * MEGABYTE) / 65), (number) => part(number, '')), PARTS_TYPE],
  ['file parts', (size) => numbered(Math.floor((size * MEGABYTE) / 80), (number) => part(number, '; filename="a.txt"')), PARTS_TYPE],
  ['headers of a part', (size) => `--X\r\n${filled('A: b\r\n', size - 0.001)}\r\nx\r\n--X--\r\n`, PARTS_TYPE],
  ...['<', '&', ' ', ',', '%', '"', '\\'].flatMap((sign) =>
    ['categories', 'description', 'title'].map((field) => [`${sign} in ${field}`, (size) => event(field, filled(sign, size * 0.49)), JSON_TYPE]),
  ),
]; // biome-ignore format: a table

/** Sizes in megabytes, with the kind of caller. */
const SIZES = [
  { size: 7.9, signed: false },
  { size: 7.9, signed: true },
  { size: 0.98, signed: true },
  { size: 0.06, signed: false },
];

const missed = [];
console.log(`${'many bodies at once'.padEnd(44)}${'answers'.padEnd(34)}added  10 s later`);
// Each on a process of its own: memory left behind by one attack would hide the use of the next one.
for (const row of floods) await withTarget((target) => warmUp(target).then(() => flood(target, row)));
console.log(`\n${'single bodies'.padEnd(44)}${'size, by whom'.padEnd(22)}status  processor   added`);
await withTarget(async (target) => {
  await warmUp(target);
  const [before, begun] = [target.memory(), target.cpu()];
  for (const [name, body, headers] of singles) for (const way of SIZES) await single(target, name, body(way.size), headers, way);
  const { status } = await fetch(`${target.base}/health/live`);
  const [all, cpu] = [singles.length * SIZES.length, (target.cpu() - begun) / 1000];
  console.log(
    `all ${all}: ${cpu.toFixed(1)} s of the processor; ${target.memory().toFixed(0)} MB in memory, ${before.toFixed(0)} before; alive: ${status}`,
  );
});
if (missed.length > 0) console.log(`Missed (${MOST_MEGABYTES} MB, ${MOST_MS} ms): ${missed.join('; ')}`);
process.exitCode = missed.length > 0 ? 1 : 0;

/** Requests answers of every kind, so that the cost of the first answers is not attributed to the attacks. */
async function warmUp({ base, authorization }) {
  for (let round = 0; round < 300; round += 1) {
    const answer = await fetch(`${base}${EVENTS}?x=${round}`, { headers: round % 2 ? { authorization } : {} });
    await answer.arrayBuffer();
  }
  await (await fetch(base + EVENTS, { method: 'POST', headers: JSON_TYPE, body: '{}' })).arrayBuffer();
}

async function flood(target, { name, connections, method, path, headers, sent, announced, chunk, signed = false }) {
  const before = target.memory();
  target.peak.reset();
  const bytes = Math.floor(sent * MEGABYTE);
  const length = announced === undefined ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': Math.floor(announced * MEGABYTE) };
  const start = head(method, path, { ...headers, ...length, ...(signed ? { Authorization: target.authorization } : {}) });
  const body =
    chunk === undefined
      ? Buffer.alloc(bytes, 32)
      : Buffer.from(filled(`${chunk.toString(16)}\r\n${' '.repeat(chunk)}\r\n`, (sent * (chunk + 6)) / chunk));
  const talks = [];
  for (let number = 0; number < connections; number += 1) {
    talks.push(talk(target, [start, body]));
    if (number % 20 === 19) await sleep(50);
  }
  await sleep(4000);
  const added = target.peak() - before;
  const counts = {};
  for (const { answer } of talks) {
    const status = await Promise.race([answer, sleep(1, 'waits')]);
    counts[status] = (counts[status] ?? 0) + 1;
  }
  for (const { socket } of talks) socket.destroy();
  await sleep(10_000);
  const answers = Object.entries(counts).map(([status, count]) => `${count} x ${status}`).join(', '); // biome-ignore format: one chain
  judge(name, added, 0);
  console.log(`${name.padEnd(44)}${answers.padEnd(30)}${megabytes(added)}${megabytes(target.memory() - before)}`);
}

async function single(target, name, body, headers, { size, signed }) {
  const before = target.memory();
  target.peak.reset();
  const begun = target.cpu();
  const signature = signed ? { Authorization: target.authorization } : {};
  const { answer, socket } = talk(target, [
    head('POST', EVENTS, { ...headers, ...signature, 'Content-Length': Buffer.byteLength(body) }),
    body,
  ]);
  const status = await answer;
  socket.destroy();
  const [cpu, added] = [target.cpu() - begun, target.peak() - before];
  const what = `${name}, ${size} MB${signed ? ', signed in' : ''}`;
  judge(what, added, cpu);
  if (cpu >= 50 || added >= 20)
    console.log(
      `${name.padEnd(44)}${`${size} MB${signed ? ', signed in' : ''}`.padEnd(22)}${status}${`${cpu} ms`.padStart(14)}${megabytes(added)}`,
    );
}

function judge(name, added, cpu) {
  if (added > MOST_MEGABYTES || cpu > MOST_MS) missed.push(name);
}

function megabytes(number) {
  return `${number.toFixed(0)} MB`.padStart(10);
}

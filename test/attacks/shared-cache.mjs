/**
 * A cache between the service and all callers: nobody gets an answer for another caller, and no header of one request
 * changes the answer to another.
 *
 *   npm run attacks -- shared-cache
 *   npm run attacks -- shared-cache --requests 500
 *
 * nginx (Debian's package `nginx-light`) keeps answers that are not private by `Cache-Control`, for five seconds
 * without revalidation, under the path, the query and the headers in `Vary`. Callers with different rights read the
 * sample site through it in random order, with and without hostile headers (`Host`, `X-Forwarded-*` and others). Each
 * answer to a plain request must equal the service's own answer to that caller, and none may contain a host name that a
 * caller invented.
 */
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { scratchFolder } from '../support/leave-nothing.mjs';
import { startNginx, whyNoNginx } from '../support/nginx.mjs';
import { freePort } from '../support/private-mysql.mjs';
import { credentialsOf, loadSample, serveSite } from './_xss-site.mjs';

const { values: flags } = parseArgs({ options: { requests: { type: 'string', default: '3000' } } });
const CALLERS = [undefined, 'contrib', 'ed', 'admin'];
const EVIL = 'evil.example';
const API = '/wp-json/calendar/events/v1';
const PATHS = [
  `${API}/events`,
  `${API}/events?status=publish,private,draft&start_date=2019-01-01&per_page=50`,
  `${API}/events/44`,
  `${API}/events/none`,
  `${API}/venues?per_page=50`,
  `${API}/categories?hide_empty=false`,
  '/wp-json/',
  '/wp-json/wp/v2/tribe_events?per_page=50',
  '/wp-json/wp/v2/users',
  '/wp-json/wp/v2/users/me',
  '/wp-json/wp/v2/media',
  '/wp-json/tribe/events/v1/events?per_page=50&start_date=2019-01-01',
  '/events/',
  '/events/feed/',
  '/events/list/?ical=1',
  '/sitemap.xml',
  '/admin/events',
  '/robots.txt',
];
const HOSTILE = [
  { host: EVIL },
  { 'x-forwarded-host': EVIL },
  { 'x-forwarded-proto': 'https', 'x-forwarded-port': '444' },
  { 'x-forwarded-prefix': `//${EVIL}` },
  { forwarded: `host=${EVIL};proto=https` },
  { 'x-original-url': `${API}/events/none` },
  { 'x-rewrite-url': `${API}/events/none` },
  { origin: `https://${EVIL}` },
  { referer: `https://${EVIL}/` },
  { 'x-http-method-override': 'DELETE' },
  { 'accept-language': 'it' },
  { accept: 'text/html' },
  { cookie: 'wordpress_logged_in_x=admin|9999999999|x|y; wp_lang=it' },
  { 'x-wp-nonce': 'aaaaaaaaaa' },
  { range: 'bytes=0-10' },
  { 'cache-control': 'no-cache' },
  { 'x-tec-eea': '1' },
];

if (whyNoNginx) {
  console.log(`Skipped: ${whyNoNginx}`);
  process.exit(0);
}
const folder = scratchFolder('fasti-shared-cache');
const env = {
  DATABASE_URL: `sqlite:${join(folder, 'site.sqlite')}`,
  UPLOADS_DIR: join(folder, 'uploads'),
  SITE_URL: 'http://calendar.example',
  PAGES: 'on',
};
loadSample(env);
const { base, stop } = await serveSite({ ...env, TRUST_PROXY: 'loopback' });
const direct = Number(new URL(base).port);
const front = await freePort();
const nginx = await startNginx(folder, front, cacheBefore(direct));

const due = new Map();
for (const path of PATHS)
  for (const as of CALLERS) due.set(`${as} ${path}`, digestOf(await ask({ port: direct, path, headers: headersOf(as) })));
const found = { hits: 0, plain: 0 };
const missed = new Set();
for (let number = 0; number < Number(flags.requests); number += 1) {
  const path = oneOf(PATHS);
  const as = oneOf(CALLERS);
  const hostile = Math.random() < 0.5 ? oneOf(HOSTILE) : undefined;
  const answer = await ask({ port: front, path, headers: { ...headersOf(as), ...hostile } });
  if (answer.headers['x-cache'] === 'HIT') found.hits += 1;
  if (`${JSON.stringify(answer.headers)}${answer.text}`.replace(allowsOrigin(hostile), '').includes(EVIL))
    missed.add(`${path} repeats a host that a caller made up, sent as ${Object.keys(hostile ?? {})}`);
  if (hostile !== undefined) continue;
  found.plain += 1;
  if (digestOf(answer) !== due.get(`${as} ${path}`))
    missed.add(`${as ?? 'nobody'} gets something else at ${path} (${answer.headers['x-cache']})`);
}
if (found.hits === 0) missed.add('the cache keeps nothing, so that nothing was shown');
await nginx.stop();
await stop();
console.log(
  `${flags.requests} requests of ${CALLERS.length} callers for ${PATHS.length} addresses, ${found.hits} answered by the cache, ${found.plain} compared: ${missed.size} faults`,
);
for (const line of missed) console.log(`MISSED ${line}`);
process.exit(missed.size > 0 ? 1 : 0);

/** Configuration of a cache that is as careless as many are: it does not revalidate answers for a while. */
function cacheBefore(port) {
  return `
    proxy_cache_path ${folder}/kept keys_zone=kept:10m;
    map $upstream_http_cache_control $personal { default 0; ~(private|no-store) 1; "" 1; }
    server {
      listen 127.0.0.1:${front};
      location / {
        proxy_pass http://127.0.0.1:${port};
        proxy_set_header Host $http_host;
        proxy_cache kept;
        proxy_cache_key $request_uri;
        proxy_ignore_headers Cache-Control Expires;
        proxy_cache_valid any 5s;
        proxy_cache_revalidate on;
        proxy_no_cache $personal;
        add_header X-Cache $upstream_cache_status always;
      }
    }`;
}

/** The header of an answer that contains the origin, if the origin may read the answer. */
function allowsOrigin(hostile) {
  return hostile?.origin === undefined ? '' : `"access-control-allow-origin":"${hostile.origin}"`;
}

function headersOf(as) {
  return as === undefined ? {} : { authorization: credentialsOf(as) };
}

function digestOf({ status, headers, text }) {
  return createHash('sha1').update(`${status} ${headers['content-type']} ${text}`).digest('hex');
}

function oneOf(list) {
  return list[Math.floor(Math.random() * list.length)];
}

/** Sends a request with exactly these headers. */
function ask({ port, path, headers }) {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers: { host: 'calendar.example', ...headers } }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, text: Buffer.concat(chunks).toString() }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

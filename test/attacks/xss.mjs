/**
 * Scripts in texts: every way to write one, in every text field, by contributors, authors and imports, opened in a real
 * browser. None may run.
 *
 *   npm run attacks -- xss
 *   npm run attacks -- xss --every 10
 *   npm run attacks -- xss --only sqlite --payload "URL:" --field title
 *
 * It writes every payload into every field, which takes an hour on each database. With `--every 10` each field gets
 * every tenth payload, and the next field the following ones, so that all fields and all payloads are included.
 * `--only`: `sqlite` or `mysql`; `--payload` and `--field` select names that contain the text. It needs Chromium
 * (`apt-get install chromium`, or its path in CHROMIUM) and is skipped without it.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fasti } from '../bench/service.mjs';
import { eachDatabase } from '../bench/site.mjs';
import { scratchFolder } from '../support/leave-nothing.mjs';
import { findChromium, startBrowser } from './_browser.mjs';
import { writeImports } from './_xss-imports.mjs';
import { PAYLOADS } from './_xss-payloads.mjs';
import { answers, loadSample, serveSite, textFields } from './_xss-site.mjs';

const { values: options } = parseArgs({
  options: { only: { type: 'string' }, payload: { type: 'string' }, field: { type: 'string' }, every: { type: 'string', default: '1' } },
});
const every = Number(options.every);
if (!Number.isInteger(every) || every < 1) throw new Error(`--every must be a whole number from 1: ${options.every}`);
const WRITERS = ['contrib', 'auth'];
const AT_ONCE = 8;
const RANGE = 'start_date=1990-01-01&end_date=2090-01-01&per_page=50';
/**
 * Elements that readers of RSS 2.0 take for HTML; titles, categories and places are plain text (RSS Best Practices
 * Profile).
 */
const HTML_IN_RSS = new Set(['description', 'encoded', 'link']);
const FROM = 'tribe-bar-date=1990-01-01';
const FEEDS = ['feed', 'atom', 'rdf'].map((form) => `/events/${form}/?${FROM}`);
const CALENDAR = `/events/list/?ical=1&per_page=1000&${FROM}`;
/** The beginning of an entry in a page of a feed or calendar. */
const ENTRY = /<item[ >]|<entry>|^BEGIN:VEVENT/m;
/** Number of pages of each feed that are opened directly. */
const OPENED_PAGES = 10;
const DIRECT = [
  `/wp-json/tribe/events/v1/events?${RANGE}`,
  '/wp-json/tribe/events/v1/venues?per_page=50',
  '/wp-json/tribe/events/v1/organizers?per_page=50',
  '/wp-json/tribe/events/v1/categories?per_page=50&hide_empty=false',
  '/wp-json/tribe/events/v1/tags?per_page=50&hide_empty=false',
  '/wp-json/wp/v2/tribe_events?per_page=50',
  '/wp-json/wp/v2/tribe_venue?per_page=50',
  '/wp-json/wp/v2/tribe_organizer?per_page=50',
  '/wp-json/wp/v2/media?per_page=50',
];
/** WordPress's error with status 500: a file whose type it does not accept. */
const REFUSED_UPLOAD = 'rest_upload_sideload_error';
const payloads = PAYLOADS.filter(({ name }) => name.includes(options.payload ?? ''));
const wanted = (field) => field.includes(options.field ?? '');
let places = 0;
/** The payloads for the next place. */
const share = () => {
  places += 1;
  return payloads.filter((_, at) => (at + places) % every === 0);
};

const program = findChromium();
if (program === undefined) {
  console.log('Skipped: there is no Chromium on this machine (apt-get install chromium, or its path in CHROMIUM).');
  process.exit(0);
}
const folder = scratchFolder('fasti-xss');
const browser = await startBrowser(program);
let failed = false;
/**
 * Each written text has a number that identifies a script that ran. The sample site has scripts of its administrator,
 * with small numbers.
 */
const FIRST = 1000;
const written = new Array(FIRST).fill(undefined);
/** Calls made by the sample site's own scripts. */
const usual = new Set();

console.log(`${payloads.length} payloads, Chromium ${browser.version}`);
await eachDatabase({ folder, kept: false, only: options.only }, async ({ name, title }, provide) => {
  console.log(`\n${title}`);
  const site = async (number, work) => {
    const { env, remove } = await provide(number);
    loadSample({ ...env, SITE_URL: 'http://127.0.0.1' });
    await work({ ...env, SITE_URL: 'http://127.0.0.1' });
    await remove();
  };
  await site(1, async (env) => {
    await learnUsual(env);
    await verdict('written over HTTP', await overHttp(env));
    await verdict('opened as addresses', await asAddresses(env));
    await control(env);
  });
  await site(2, async (env) =>
    verdict('imported with --filter-html', await imported(env, join(folder, `${name}-filtered`), ['--filter-html'])),
  );
  await site(3, async (env) => documented(await imported(env, join(folder, `${name}-trusted`), [])));
});
await browser.close();
process.exit(failed ? 1 : 0);

// ------------------------------------------------------------------------------------------------- the ways in
/** Writes every text into every field as each of the writers, and uploads files; shows all answers. */
async function overHttp(env) {
  const { send, stop, base } = await serveSite(env);
  const fields = (await textFields({ send })).filter(({ field }) => wanted(field));
  const counts = { writes: 0, accepted: 0, refused: 0 };
  const answered = [];
  const jobs = WRITERS.flatMap((as) => fields.flatMap((field) => share().map((payload) => ({ as, field, payload }))));
  await inParallel(jobs, async ({ as, field: { route, field, body }, payload }) => {
    const { number, text } = next(`${as}, ${route} ${field}`, payload);
    const { status, body: answer } = await send(as, 'POST', `/wp-json${route}`, body(text, number));
    if (status >= 500) throw new Error(`${status} for ${JSON.stringify(written[number])}`);
    counts.writes += 1;
    counts[status < 400 ? 'accepted' : 'refused'] += 1;
    answered.push(answer);
  });
  const files = await uploads(send, base);
  const shown = await showSite({ send, base }, answered);
  for (const address of files.addresses) await browser.open(address);
  await stop();
  return { ...counts, fields: fields.length, 'files opened': files.addresses.length, ...shown };
}

/**
 * Contents of uploaded files: documents with scripts under every name, images that contain a script, and hostile file
 * names.
 */
async function uploads(send, base) {
  const picture = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg==', 'base64');
  const svg = (js) => `<svg xmlns="http://www.w3.org/2000/svg" onload="${js}"><script>${js}</script></svg>`;
  const html = (js) => `<!doctype html><script>${js}</script>`;
  const documents = [
    'svg',
    'html',
    'htm',
    'xml',
    'xhtml',
    'svgz',
    'txt',
    'js',
    'pdf',
    'jpg',
    'png',
    'gif',
    'ico',
    'webp',
    'avif',
    'mp4',
    'ics',
    'json',
    'html.png',
    'png.html',
    'svg%00.png',
    'p/h.svg',
  ];
  const addresses = [];
  const send1 = async (file, type, content) => {
    const { body, status } = await send('auth', 'POST', '/wp-json/wp/v2/media', content, {
      'content-type': type,
      'content-disposition': `attachment; filename="${file}"`,
    });
    if (status >= 500 && body?.code !== REFUSED_UPLOAD) throw new Error(`${status} for the upload of ${file}`);
    const address = body?.source_url;
    if (address) addresses.push(base + new URL(address).pathname);
  };
  for (const ending of documents) {
    for (const [type, content] of [
      ['image/svg+xml', svg],
      ['text/html', html],
      ['image/png', svg],
      ['image/gif', (js) => `GIF89a/*${html(js)}*/=1;${js}`],
    ]) {
      const { text } = next(`auth, upload of ${ending} as ${type}`, { name: 'a document', text: content });
      await send1(`x.${ending}`, type, Buffer.from(text));
    }
  }
  for (const payload of payloads) {
    const { text } = next('auth, name of a file', payload);
    await send1(`${text.replace(/[\0-\x1f\x7f-\uffff"\\]/g, '')}.png`, 'image/png', picture);
    const { text: inside } = next('auth, behind a picture', payload);
    await send1('x.png', 'image/png', Buffer.concat([picture, Buffer.from(inside)]));
  }
  return { addresses: [...new Set(addresses)] };
}

/** Puts every text into URLs, and opens them. */
async function asAddresses(env) {
  const { base, stop } = await serveSite(env);
  const api = `${base}/wp-json/tribe/events/v1`;
  const places = {
    search: (text) => `${api}/events?search=${text}`,
    'refused date': (text) => `${api}/events?start_date=${text}`,
    'refused list': (text) => `${api}/events?categories=${text}`,
    slug: (text) => `${api}/events/by-slug/${text}`,
    route: (text) => `${base}/wp-json/${text}`,
    'route in the query': (text) => `${base}/?rest_route=/${text}`,
    path: (text) => `${base}/${text}`,
    'unknown parameter': (text) => `${api}/venues?x[${text}]=${text}`,
    namespace: (text) => `${api}?namespace=${text}`,
    feed: (text) => `${base}/events/feed/?search=${text}`,
    'feed of a term': (text) => `${base}/events/category/${text}/feed/`,
    calendar: (text) => `${base}/events/?ical=1&search=${text}`,
    'call (JSONP)': (text) => `${api}/events?per_page=1&_jsonp=${text}`,
    'envelope': (text) => `${api}/events?per_page=1&_envelope=${text}&search=${text}`,
  }; // biome-ignore format: a table
  let opened = 0;
  const called = [];
  for (const [place, address] of Object.entries(places).filter(([place]) => wanted(place))) {
    for (const payload of share()) {
      const url = address(encodeURIComponent(next(`address, ${place}`, payload).text));
      await browser.open(url);
      opened += 1;
      if (place.startsWith('call')) called.push(`<script>function cb() {}</script><script src="${url}"></script>`);
    }
  }
  await browser.showDocuments(called);
  await stop();
  return { addresses: opened };
}

/** Imports a file of every format, with every text in every place, and shows the created records. */
async function imported(env, path, importOptions) {
  const numbers = [];
  const texts = (place) =>
    wanted(place)
      ? share().map((payload) => {
          const made = next(`import ${importOptions.join(' ')}, ${place}`, payload);
          numbers.push(made.number);
          return made;
        })
      : [];
  const files = writeImports(folder, env, texts);
  // Invalid URLs and dates are reported and left out; a file is never refused as a whole.
  for (const file of files) runImport([file, ...importOptions], env);
  const { send, stop, base } = await serveSite({ ...env, UPLOADS_DIR: env.UPLOADS_DIR ?? path });
  const shown = await showSite({ send, base }, []);
  await stop();
  return { records: numbers.length, ...shown };
}

function runImport(args, env) {
  try {
    fasti(['import', ...args, '--from=2000-01-01', '--to=2100-01-01'], env);
  } catch (error) {
    // Status 3: some records were reported.
    if (!/Records|records|problems|not/i.test(error.message)) throw error;
  }
}

// ------------------------------------------------------------------------------------------------- the ways out
/** Shows all texts of a site: those in the given answers, and those of every list, record, feed and document. */
async function showSite(site, answered) {
  const seen = new Set();
  let texts = [];
  let shown = 0;
  const documents = [];
  const flush = async () => {
    await browser.show(texts);
    shown += texts.length;
    texts = [];
  };
  const take = (html, address) => {
    const shape = `${address} ${withoutNumbers(html)}`;
    // Without any of these characters it remains text, however it is processed.
    if (!/[<&:"'`]/.test(html) || seen.has(shape)) return;
    seen.add(shape);
    texts.push({ html, address });
  };
  const takeDocument = (text) => {
    if (seen.has(withoutNumbers(text))) return;
    seen.add(withoutNumbers(text));
    documents.push(text);
  };
  for (const body of answered) collect(body, take);
  await flush();
  for await (const { body } of answers(site)) {
    collect(body, take);
    if (body?.json_ld) takeDocument(`<script type="application/ld+json">${JSON.stringify(body.json_ld)}</script>`);
    if (texts.length > 5000) await flush();
  }
  for (const path of [...FEEDS, CALENDAR]) {
    for (let page = 1; ; page += 1) {
      const address = `${path}&paged=${page}`;
      if (page <= OPENED_PAGES) await browser.open(site.base + address);
      const { text } = await site.send(undefined, 'GET', address);
      if (!ENTRY.test(text)) break;
      const found = path === FEEDS[0] ? await browser.readFeed(text) : [];
      for (const [name, html] of found) if (HTML_IN_RSS.has(name)) take(html, name === 'link');
    }
  }
  await flush();
  for (const path of DIRECT) await browser.open(site.base + path);
  await browser.showDocuments(documents);
  await browser.showDocuments(
    DIRECT.map((path) => `<script>function cb() {}</script><script src="${site.base}${path}&_jsonp=cb"></script>`),
  );
  return { 'texts shown': shown, 'documents shown': documents.length };
}

/**
 * Removes from a text what distinguishes it from others of the same payload: its number, ids and years. The same script
 * in the same place of the same markup is shown once. Numbers that are part of characters (`&#0060;`, `\0003c`) stay.
 */
function withoutNumbers(html) {
  return html.replace(/(?<![\w#%\\])\d{4,}(?!\w)/g, 'N');
}

/** Every text in an answer; under names like `url` it is a URL. A password is never shown as a text. */
function collect(value, take, name = '') {
  if (name === 'password') return;
  if (typeof value === 'string') take(value, /url|website|href|link|src|guid/i.test(name));
  else if (Array.isArray(value)) for (const item of value) collect(item, take, name);
  else if (value !== null && typeof value === 'object') {
    for (const [key, item] of Object.entries(value)) {
      take(key, false);
      // In an error, the name of a parameter is the key of a sentence about it.
      collect(item, take, name === 'params' ? '' : key);
    }
  }
}

// ------------------------------------------------------------------------------------------------- what is told
/** The next text to write for a payload: it calls `alert` with a number of its own. */
function next(place, { name, text }) {
  const number = written.length;
  written.push({ place, payload: name });
  return { number, text: text(`alert(${number})`) };
}

/** Shows the sample site without changes. */
async function learnUsual(env) {
  const { send, stop, base } = await serveSite(env);
  await showSite({ send, base }, []);
  await stop();
  for (const { told } of browser.ran.splice(0)) usual.add(told);
}

/** The scripts that ran since the last call, by the text that was written. */
function newlyRan() {
  const ran = browser.ran.splice(0).filter(({ told }) => !usual.has(told));
  return [...new Set(ran.map(({ told, at }) => JSON.stringify({ ...(written[Number(told)] ?? { told }), at })))];
}

function verdict(title, figures) {
  const ran = newlyRan();
  console.log(`${title}: ${figuresOf(figures)}; ${ran.length} scripts ran`);
  for (const line of ran.slice(0, 40)) console.log(`  ${line}`);
  if (ran.length > 0) failed = true;
}

/**
 * An import by a user who may write scripts keeps them, as in WordPress; the scripts that run prove that this program
 * would notice others.
 */
function documented(figures) {
  const ran = newlyRan();
  console.log(`imported as they are: ${figuresOf(figures)}; ${ran.length} scripts ran, as documented`);
  if (ran.length === 0 && options.field === undefined && options.payload === undefined) {
    console.log('  MISSED: without --filter-html scripts are kept, and none was seen to run');
    failed = true;
  }
}

/** Checks that a script by an administrator, who may write scripts, is noticed when it runs. */
async function control(env) {
  const { send, stop } = await serveSite(env);
  const { number, text } = next('admin', { name: 'control', text: (js) => `<img src=x onerror=${js}>` });
  const { body } = await send('admin', 'POST', '/wp-json/tribe/events/v1/events', {
    title: 'Control',
    description: text,
    start_date: '2031-05-01',
    end_date: '2031-05-01',
  });
  await browser.show([{ html: body.description, address: false }]);
  await stop();
  const seen = browser.ran.splice(0).some(({ told }) => told === String(number));
  console.log(`an administrator's script is ${seen ? 'seen' : 'NOT SEEN'} to run`);
  if (!seen) failed = true;
}

function figuresOf(figures) {
  return Object.entries(figures)
    .map(([name, figure]) => `${name} ${figure}`)
    .join(', ');
}

async function inParallel(jobs, work) {
  let at = 0;
  const run = async () => {
    while (at < jobs.length) {
      at += 1;
      await work(jobs[at - 1]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
}

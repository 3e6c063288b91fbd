/**
 * Script of `npm run walk`: plays the work of a small town's editor on a new site, in a real browser, from the first
 * command to a colleague who may only suggest. Measures the time of each step and counts its clicks and the fields
 * filled in. A step without the expected result ends the script with an error. `--language it` runs it in Italian,
 * `--no-scripts` without JavaScript.
 *
 * The script does not pause to read or think, so the times are the machine's only.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import sharp from 'sharp';

const { values: options } = parseArgs({
  options: { language: { type: 'string', default: 'en' }, 'no-scripts': { type: 'boolean', default: false } },
});
const BROWSER = process.env.CHROMIUM ?? '/usr/bin/chromium';
const PORT = 18_357;
const SITE = `http://localhost:${PORT}`;
const PASSWORD = 'a long enough password';
const NEXT_YEAR = new Date().getUTCFullYear() + 1;
const CONCERT = 'Concert in the old barn';

const folder = mkdtempSync(join(tmpdir(), 'fasti-walk-'));
const env = {
  ...process.env,
  DATABASE_URL: `sqlite:${folder}/site.sqlite`,
  UPLOADS_DIR: `${folder}/uploads`,
  PORT: String(PORT),
  LOG_LEVEL: 'silent',
};
const COMMAND = ['--import', './test/support/run-typescript.mjs', 'src/cli.ts'];
let server;
let browser;
const steps = [];
let now = { clicks: 0, fields: 0 };

try {
  await step('Create a site and serve it (2 commands)', install);
  browser = await chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
  const editor = await person();
  await step('Sign in for the first time with the link', () => chooseAPassword(editor, linkOf('admin')));
  await step('Import last year’s table: 40 events', () => importTable(editor));
  await step('Correct two events', () => correctTwo(editor));
  await step('Add a concert with a new venue and a picture, and publish it', () => addConcert(editor));
  await step('View it on its page, in the feed and in the API', () => seeIt(editor));
  await step('Enable the page for suggestions', () => openSuggestions(editor));
  const visitor = await person();
  await step('A visitor suggests an event', () => suggest(visitor));
  await step('Publish the suggestion', () => publishSuggestion(editor, visitor));
  const link = await step('Invite a colleague who may only suggest', () => invite(editor));
  const colleague = await person();
  await step('The colleague signs in and submits an event', () => handIn(colleague, link));
  print();
} finally {
  await browser?.close();
  server?.kill();
  rmSync(folder, { recursive: true, force: true });
}

// ------------------------------------------------------------------------------------------------- the steps
async function install() {
  fasti('init', `--url=${SITE}`, '--title=Town calendar', '--timezone=Europe/Rome');
  server = spawn(process.execPath, [...COMMAND, 'serve'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  await untilReady();
}

async function chooseAPassword({ page, fill, click }, link) {
  await page.goto(link);
  await fill('[name=password]', PASSWORD);
  await fill('[name=again]', PASSWORD);
  await click('main button[type=submit]');
  await page.waitForURL(/\/admin\/events/);
}

async function importTable({ page, click }) {
  await click('nav a[href$="/admin/import"]');
  const rows = Array.from({ length: 40 }, (_, at) => {
    const day = `${String((at % 28) + 1).padStart(2, '0')}/${String((at % 12) + 1).padStart(2, '0')}/${NEXT_YEAR}`;
    const title = at === 0 ? 'Sprng fair' : at === 1 ? 'Market walk' : `Evening no. ${at}`;
    return `${title},${day} 20:30,${day} 22:00,Town hall,Culture`;
  });
  const table = `Event Name,Event Start Date,Event End Date,Event Venue Name,Event Category\n${rows.join('\n')}\n`;
  await page.locator('#file').setInputFiles({ name: 'last-year.csv', mimeType: 'text/csv', buffer: Buffer.from(table) });
  now.fields += 1;
  await page.locator('#dates').selectOption('dmy');
  now.fields += 1;
  await click('main form button.button-main');
  expect((await page.locator('main').textContent())?.includes('Evening no. 2'), 'the table is shown before it is imported');
  await click('button[name=run]');
  const { total } = await api('/events?per_page=1');
  expect(total === 40, `40 events were imported, not ${total}`);
}

async function correctTwo({ page, fill, click }) {
  for (const [wrong, field, value] of [
    ['Sprng fair', '#title', 'Spring fair'],
    ['Market walk', '[name="start_date[time]"]', '10:00'],
  ]) {
    await click('nav a[href$="/admin/events"]');
    await fill('main [name=search]', wrong);
    await click('form.filters button');
    await click(`th a:text-is("${wrong}")`);
    await fill(field, value);
    await click('.form-buttons .button-main');
    await page.locator('.notice-good').waitFor();
  }
  const { events } = await api('/events?search=Spring%20fair');
  expect(events[0]?.title === 'Spring fair', 'the first event is corrected');
}

async function addConcert({ page, fill, click }) {
  await click('nav a[href$="/admin/events"]');
  await click('a[href$="/admin/events/new"]');
  await fill('#title', CONCERT);
  await fill('[name="start_date[date]"]', `${NEXT_YEAR}-07-04`);
  await fill('[name="start_date[time]"]', '21:00');
  await fill('[name="end_date[date]"]', `${NEXT_YEAR}-07-04`);
  await fill('[name="end_date[time]"]', '23:00');
  await fill('[name="venue[add][]"]', 'The old barn');
  await fill('#description', 'Two choirs and a band.');
  const picture = await sharp({ create: { width: 800, height: 500, channels: 3, background: '#a33' } })
    .jpeg()
    .toBuffer();
  await page.locator('[name=image_file]').setInputFiles({ name: 'barn.jpg', mimeType: 'image/jpeg', buffer: picture });
  now.fields += 1;
  await fill('[name="image[alt]"]', 'A red barn');
  await click('.form-buttons .button-main');
  await page.locator('.notice-good').waitFor();
}

async function seeIt({ page, click }) {
  await click('.record-links a >> nth=0');
  expect((await page.locator('h1').textContent()) === CONCERT, 'the page has the title');
  expect((await page.locator('img.record-picture').getAttribute('alt')) === 'A red barn', 'the page has the picture');
  const feed = await (await fetch(`${SITE}/events/list/?ical=1&tribe-bar-date=${NEXT_YEAR}-07-01`)).text();
  expect(feed.includes(`SUMMARY:${CONCERT}`), 'the feed has it');
  const { events } = await api('/events?search=old%20barn');
  expect(events[0]?.venue?.venue === 'The old barn', 'the API has it, with its venue');
}

async function openSuggestions({ page, fill, click }) {
  await page.goto(`${SITE}/admin/settings`);
  await fill('#suggest_slug', 'suggest');
  await click('main button.button-main');
  await page.locator('.notice-good').waitFor();
}

async function suggest({ page, fill, click }) {
  await page.goto(`${SITE}/events/`);
  await click('a[href$="/events/suggest/"]');
  await fill('#title', 'Walk to the mill');
  await fill('[name="start_date[date]"]', `${NEXT_YEAR}-05-01`);
  await fill('[name="end_date[date]"]', `${NEXT_YEAR}-05-01`);
  await fill('[name="venue[add][]"]', 'The mill');
  await fill('#from_name', 'Rosa Bianchi');
  await fill('#from_email', 'rosa@example.org');
  await click('.suggest-form .button-main');
  await page.waitForURL(/sent=1/);
}

async function publishSuggestion({ page, click }, visitor) {
  await page.goto(`${SITE}/admin/events`);
  await click('.tabs a[href*="status=pending"]');
  await click('th a:text-is("Walk to the mill")');
  await click('button[name=publish]');
  await page.locator('.notice-good').waitFor();
  await visitor.page.goto(`${SITE}/event/walk-to-the-mill/`);
  expect((await visitor.page.locator('main').textContent())?.includes('The mill'), 'visitors see the suggestion with its venue');
}

async function invite({ page, fill, click }) {
  await click('nav a[href$="/admin/people"]');
  await fill('[name=login]', 'bruno');
  await fill('[name=email]', 'bruno@example.org');
  await click('main form button.button-main');
  return (await page.locator('.shown-once').textContent()) ?? '';
}

async function handIn(colleague, link) {
  const { page, fill, click } = colleague;
  await chooseAPassword(colleague, link);
  await click('a[href$="/admin/events/new"]');
  await fill('#title', 'Reading by candlelight');
  await fill('[name="start_date[date]"]', `${NEXT_YEAR}-11-02`);
  await fill('[name="end_date[date]"]', `${NEXT_YEAR}-11-02`);
  await click('.form-buttons .button-main');
  await page.locator('.notice-good').waitFor();
  expect((await page.locator('#status option[value=publish]').count()) === 0, 'the colleague cannot publish');
  const { events } = await api('/events?search=candlelight');
  expect(events.length === 0, 'visitors do not see it yet');
}

// ------------------------------------------------------------------------------------------------- helpers
async function step(name, work) {
  now = { clicks: 0, fields: 0 };
  const begun = performance.now();
  const result = await work();
  steps.push({ name, seconds: (performance.now() - begun) / 1000, ...now });
  return result;
}

/** Opens a separate browser context for one person. Its clicks and filled-in fields are counted. */
async function person() {
  const context = await browser.newContext({ locale: options.language, javaScriptEnabled: !options['no-scripts'] });
  const page = await context.newPage();
  page.on('dialog', (dialog) => void dialog.accept());
  page.setDefaultTimeout(60_000);
  return {
    page,
    fill: async (selector, value) => {
      now.fields += 1;
      await page.locator(selector).first().fill(value);
    },
    click: async (selector) => {
      now.clicks += 1;
      await page.locator(selector).first().click();
      await page.waitForLoadState();
    },
  };
}

function fasti(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...COMMAND, ...args], { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`fasti ${args.join(' ')}: ${stderr}`);
  return stdout;
}

function linkOf(login) {
  return /http\S+\/admin\/welcome\?\S+/.exec(fasti('user', 'link', login))?.[0] ?? '';
}

async function api(path) {
  return (await fetch(`${SITE}/wp-json/calendar/events/v1${path}`)).json();
}

function expect(holds, what) {
  if (!holds) throw new Error(`Expected: ${what}.`);
}

async function untilReady() {
  while (server.exitCode === null) {
    const answer = await fetch(`${SITE}/health/ready`).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(100);
  }
  throw new Error('The site could not be served.');
}

/** Prints the steps as a Markdown table. */
function print() {
  const total = steps.reduce((sum, one) => ({
    name: 'Total',
    seconds: sum.seconds + one.seconds,
    clicks: sum.clicks + one.clicks,
    fields: sum.fields + one.fields,
  }));
  console.log('| Step | Seconds | Clicks | Fields |\n| --- | --- | --- | --- |');
  for (const { name, seconds, clicks, fields } of [...steps, total])
    console.log(`| ${name} | ${seconds.toFixed(1)} | ${clicks} | ${fields} |`);
}

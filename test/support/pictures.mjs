/**
 * The script of `npm run pictures`: takes the screenshots of the documentation from a new sample site, with the browser
 * of the machine, and stores them in `docs/pictures/`. `npm run pictures -- event month` takes only these.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import sharp from 'sharp';

const BROWSER = process.env.CHROMIUM ?? '/usr/bin/chromium';
const FOLDER = 'docs/pictures';
const PORT = 18_355;
const SITE = `http://localhost:${PORT}`;

/** The pages by the names of their pictures: path, width and height of the window, and color scheme. */
const PICTURES = {
  list: ['/events/list/', 1100, 800, 'light'],
  month: ['/events/month/', 1100, 800, 'light'],
  event: ['/event/guided-tour-seven-centuries-of-paper/', 1100, 800, 'dark'],
  phone: ['/it/events/list/', 360, 720, 'light'],
  reference: ['/doc#get-events', 1100, 800, 'light'],
  'desk-events': ['/admin/events', 1100, 800, 'light'],
  'desk-month': ['/admin/month', 1100, 800, 'light'],
  'desk-event': ['/admin/events?search=paper', 1100, 1000, 'light', 'tbody th a'],
};
const wanted = process.argv.slice(2);

const folder = mkdtempSync(join(tmpdir(), 'fasti-pictures-'));
const env = {
  ...process.env,
  DATABASE_URL: `sqlite:${folder}/site.sqlite`,
  UPLOADS_DIR: `${folder}/uploads`,
  PORT: String(PORT),
  SITE_URL: SITE,
  LOG_LEVEL: 'silent',
};
const COMMAND = ['--import', './test/support/run-typescript.mjs', 'src/cli.ts'];
const server = spawn(process.execPath, [...COMMAND, 'start'], {
  env,
  stdio: ['ignore', 'ignore', 'inherit'],
});
try {
  await untilReady();
  mkdirSync(FOLDER, { recursive: true });
  const browser = await chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox'] });
  const cookies = await signedIn(browser);
  for (const [name, [path, width, height, colorScheme, followed]] of Object.entries(PICTURES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const context = await browser.newContext({ viewport: { width, height }, colorScheme, locale: 'en' });
    await context.addCookies(cookies);
    const page = await context.newPage();
    await page.goto(SITE + path, { waitUntil: 'networkidle' });
    if (followed) {
      await page.locator(followed).first().click();
      await page.waitForLoadState('networkidle');
    }
    await sharp(await page.screenshot())
      .webp({ quality: 80 })
      .toFile(join(FOLDER, `${name}.webp`));
    await context.close();
  }
  await browser.close();
} finally {
  server.kill();
  rmSync(folder, { recursive: true, force: true });
}

/** The cookies of the administrator, who has set a password through the link that the command prints. */
async function signedIn(browser) {
  const { stdout } = spawnSync(process.execPath, [...COMMAND, 'user', 'link', 'admin'], { env, encoding: 'utf8' });
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(/http\S+\/admin\/welcome\?\S+/.exec(stdout)?.[0] ?? '');
  for (const name of ['password', 'again']) await page.locator(`[name=${name}]`).fill('a long enough password');
  await page.locator('main button[type=submit]').click();
  await page.waitForURL(/\/admin\/events/);
  const cookies = await context.cookies();
  await context.close();
  return cookies;
}

async function untilReady() {
  while (server.exitCode === null) {
    const answer = await fetch(`${SITE}/health/ready`).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(200);
  }
  throw new Error('The sample site could not be served.');
}

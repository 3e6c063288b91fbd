/**
 * What `npm run pictures` runs: takes the pictures of the pages that the documentation shows, of a new sample site, with
 * the browser of the machine. They lie in `docs/pictures/`.
 */
import { spawn } from 'node:child_process';
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

/** The pages by the names of their pictures: path, width and height of the window, by day or by night. */
const PICTURES = {
  list: ['/events/list/', 1100, 800, 'light'],
  month: ['/events/month/', 1100, 800, 'light'],
  event: ['/event/guided-tour-seven-centuries-of-paper/', 1100, 800, 'dark'],
  phone: ['/it/events/list/', 360, 720, 'light'],
  reference: ['/doc#get-events', 1100, 800, 'light'],
};

const folder = mkdtempSync(join(tmpdir(), 'fasti-pictures-'));
const server = spawn(process.execPath, ['--import', './test/support/run-typescript.mjs', 'src/cli.ts', 'start'], {
  env: {
    ...process.env,
    DATABASE_URL: `sqlite:${folder}/site.sqlite`,
    UPLOADS_DIR: `${folder}/uploads`,
    PORT: String(PORT),
    SITE_URL: SITE,
    LOG_LEVEL: 'silent',
  },
  stdio: ['ignore', 'ignore', 'inherit'],
});
try {
  await untilReady();
  mkdirSync(FOLDER, { recursive: true });
  const browser = await chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox'] });
  for (const [name, [path, width, height, colorScheme]] of Object.entries(PICTURES)) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme });
    const page = await context.newPage();
    await page.goto(SITE + path, { waitUntil: 'networkidle' });
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

async function untilReady() {
  while (server.exitCode === null) {
    const answer = await fetch(`${SITE}/health/ready`).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(200);
  }
  throw new Error('The sample site could not be served.');
}

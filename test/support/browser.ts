import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, afterEach, beforeAll, describe, it } from '@jest/globals';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Answer } from './running-site.ts';

/** Where Debian and others put the browser; `CHROMIUM` names another one. */
const PLACES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const program = PLACES.find((path) => path !== undefined && existsSync(path));

/**
 * What would be done for a person at a screen: pages behind the address bar, a process in reserve for the next page. Of
 * several such switches the last one counts, so that those of Playwright's that matter here are among them.
 */
const NOT_NEEDED = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'PreloadTopChromeWebUI',
  'SpareRendererForSitePerProcess',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'MediaRouter',
  'OptimizationHints',
  'PaintHolding',
];
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-software-rasterizer',
  '--disable-dev-shm-usage',
  `--disable-features=${NOT_NEEDED.join()}`,
];

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What a visitor sees with: how wide, and whether by day or night. */
export const VIEWS: readonly BrowserContextOptions[] = [
  { colorScheme: 'light', viewport: { width: 1200, height: 900 } },
  { colorScheme: 'dark', viewport: { width: 320, height: 700 } },
];

/** A page in a browser, and what went wrong in it. */
export interface Visit {
  readonly page: Page;
  /** What the browser complained of: refused scripts and styles, errors of scripts, dialogs. */
  readonly complaints: string[];
}

/**
 * Runs a suite in a real browser; where there is none it is skipped, and says so. `visit` opens a page of its own,
 * which is closed after the test: each that stays open costs more than most tests.
 */
export function describeInBrowser(name: string, suite: (visit: (options?: BrowserContextOptions) => Promise<Visit>) => void): void {
  if (program === undefined) {
    describe(name, () => it.skip('is skipped, since there is no Chromium on this machine (CHROMIUM names one)', () => undefined));
    return;
  }
  describe(name, () => {
    let browser: Browser;
    let contexts: BrowserContext[] = [];
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: program, args: FLAGS });
    });
    afterEach(async () => {
      await Promise.all(contexts.map((context) => context.close()));
      contexts = [];
    });
    afterAll(() => browser.close());
    suite(async (options = {}) => {
      const context = await browser.newContext(options);
      contexts.push(context);
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error' && !/status of 40\d/.test(message.text())) complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('dialog', (dialog) => {
        complaints.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      return { page, complaints };
    });
  });
}

/** What was found wrong with pages that have been looked at, by all that their look depends on. */
const known = new Map<string, Promise<string[]>>();

/** What `look` finds, or found when it was asked with the same key. */
function once(key: readonly unknown[], look: () => Promise<string[]>): Promise<string[]> {
  const text = JSON.stringify(key);
  const faults = known.get(text) ?? look();
  known.set(text, faults);
  return faults;
}

const asSeen = (html: string, origin: string) =>
  html.replaceAll(origin, '').replace(HIDDEN, (field) => field.replace(/ value="[^"]*"/, ''));

/**
 * What `look` finds wrong with a page in the browser, by what the server sends for it. Of an answer that is the same in
 * every character that can be seen, a browser makes the same page: it is looked at once, whatever database it comes
 * from. `lookedAt`: all that the look depends on besides, such as the window.
 */
export function faultsOfAnswer(
  { status, headers, text }: Pick<Answer, 'status' | 'headers' | 'text'>,
  origin: string,
  lookedAt: readonly unknown[],
  look: () => Promise<string[]>,
): Promise<string[]> {
  // What a page may load and run is said beside it.
  const policy = String(headers['content-security-policy']).replaceAll(origin, '');
  return once(['answer', lookedAt, status, policy, asSeen(text, origin)], look);
}

/**
 * What axe-core finds wrong with the page that is open, and whether it is wider than the window. A page that is the
 * same in every character that can be seen, in the same window, is looked at once, whatever database it comes from.
 */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  const { origin } = new URL(page.url());
  const isDark = await page.evaluate('matchMedia("(prefers-color-scheme: dark)").matches');
  const key = [page.viewportSize(), isDark, await page.evaluate(CONTROLS), asSeen(await page.content(), origin)];
  return once(key, () => faultsOf(page));
}

/** Fields that nobody sees: what stands in them are sessions and versions of records. */
const HIDDEN = /<input\b[^>]*\btype="hidden"[^>]*>/g;
/** What scripts and people have changed of controls, which the text of a page does not say. */
const CONTROLS = `[...document.querySelectorAll('input:not([type="hidden"]), select, textarea')].map((one) => [
  one.value, one.checked, one.disabled, one.matches(':focus')
])`;

async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = (await page.evaluate("axe.run({ resultTypes: ['violations'] })")) as {
    violations: { id: string; nodes: { html: string }[] }[];
  };
  const isWide = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth');
  return [
    ...violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 100)).join(' ')}`),
    ...(isWide ? ['wider than the window'] : []),
  ];
}

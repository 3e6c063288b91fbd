import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, afterEach, beforeAll, describe, it } from '@jest/globals';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Answer } from './running-site.ts';

/** Paths of the browser on Debian and other systems; `CHROMIUM` names another one. */
const BROWSER_PATHS = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const program = BROWSER_PATHS.find((path) => path !== undefined && existsSync(path));

/**
 * Features that only help a person at a screen, such as pages behind the address bar or a spare process for the next
 * page. The last switch of this kind wins, so the list includes those of Playwright's that matter here.
 */
const DISABLED_FEATURES = [
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
  `--disable-features=${DISABLED_FEATURES.join()}`,
];

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Views of visitors: window sizes with a light and a dark color scheme. */
export const VIEWS: readonly BrowserContextOptions[] = [
  { colorScheme: 'light', viewport: { width: 1200, height: 900 } },
  { colorScheme: 'dark', viewport: { width: 320, height: 700 } },
];

/** A page in a browser, and its errors. */
export interface Visit {
  readonly page: Page;
  /** Complaints of the browser: refused scripts and styles, script errors, dialogs. */
  readonly complaints: string[];
}

/**
 * Runs a suite in a real browser, or skips it with a notice if there is none. `visit` opens a new page, which is closed
 * after the test, since each open page costs more than most tests.
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

/** Faults of the pages checked so far, by everything that their appearance depends on. */
const cachedByKey = new Map<string, Promise<string[]>>();

/** Returns the faults that `look` finds, or found when it was called with the same key. */
function cachedFaults(key: readonly unknown[], look: () => Promise<string[]>): Promise<string[]> {
  const text = JSON.stringify(key);
  const faults = cachedByKey.get(text) ?? look();
  cachedByKey.set(text, faults);
  return faults;
}

const visibleHtml = (html: string, origin: string) =>
  html.replaceAll(origin, '').replace(HIDDEN, (field) => field.replace(/ value="[^"]*"/, ''));

/**
 * Returns the faults that `look` finds in a page in the browser, cached by the response of the server. Responses with
 * the same visible characters give the same page, which is checked once for all databases. `conditions` contains
 * everything else that the appearance depends on, such as the window.
 */
export function faultsOfAnswer(
  { status, headers, text }: Pick<Answer, 'status' | 'headers' | 'text'>,
  origin: string,
  conditions: readonly unknown[],
  look: () => Promise<string[]>,
): Promise<string[]> {
  // The content security policy decides what the page may load and run.
  const policy = String(headers['content-security-policy']).replaceAll(origin, '');
  return cachedFaults(['answer', conditions, status, policy, visibleHtml(text, origin)], look);
}

/**
 * Returns the faults that axe-core finds in the open page, and whether the page is wider than the window. Pages with
 * the same visible characters in the same window are checked once for all databases.
 */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  const { origin } = new URL(page.url());
  const isDark = await page.evaluate('matchMedia("(prefers-color-scheme: dark)").matches');
  const key = [page.viewportSize(), isDark, await page.evaluate(CONTROLS), visibleHtml(await page.content(), origin)];
  return cachedFaults(key, () => faultsOf(page));
}

/** Hidden fields, which contain sessions and versions of records. */
const HIDDEN = /<input\b[^>]*\btype="hidden"[^>]*>/g;
/** Script that returns the state of controls, which the HTML of a page does not show. */
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

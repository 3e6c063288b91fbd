/** A Chromium that opens texts and URLs as calendar front ends do, and reports which scripts ran. */
import { accessSync, constants } from 'node:fs';
import { createServer } from 'node:http';

const PROGRAMS = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Requests to other machines are blocked.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];
/** Number of texts shown at once. */
const PORTION = 300;

/** The path of a Chromium on this machine, or undefined. */
export const findChromium = () =>
  PROGRAMS.find((program) => {
    try {
      accessSync(program ?? '', constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

/**
 * Starts the browser. `ran` lists the arguments of calls of `alert` and the like, and errors of scripts, each with the
 * URL of its page; it grows.
 */
export async function startBrowser(executablePath) {
  const { chromium } = await import('playwright-core');
  const ran = [];
  const site = await servePage();
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  const context = await browser.newContext({ acceptDownloads: false });
  await context.exposeBinding('ranScript', ({ frame }, told) => ran.push({ told: String(told), at: frame.url() }));
  await context.addInitScript(hook);
  const openPage = async () => {
    const opened = await context.newPage();
    opened.on('pageerror', (error) => ran.push({ told: `error: ${error.message}`, at: opened.url() }));
    // Dialogs that ask before leaving a page are accepted.
    opened.on('dialog', (dialog) => dialog.accept());
    return opened;
  };
  let page = await openPage();

  /** A script has left the page if the page is left while it shows texts. */
  const tellLeft = (error) => {
    if (!/context was destroyed|navigation/i.test(error.message)) throw error;
    ran.push({ told: `the page was left: ${error.message}`, at: page.url() });
  };

  const toBlank = async () => {
    await page.goto(site.base).catch(async (error) => {
      tellLeft(error);
      // Scripts of a new page cannot have left it yet.
      await page.close();
      page = await openPage();
      await page.goto(site.base);
    });
  };

  return {
    ran,
    version: browser.version(),
    /** Shows texts as HTML: `{html, address}`; `address` is true if the text is a URL that is also put into links. */
    show: async (texts) => {
      for (let from = 0; from < texts.length; from += PORTION) {
        await toBlank();
        await page.evaluate(showTexts, texts.slice(from, from + PORTION)).catch(tellLeft);
      }
    },
    /** Shows complete documents, each in a frame. */
    showDocuments: async (documents) => {
      for (let from = 0; from < documents.length; from += PORTION) {
        await toBlank();
        await page.evaluate(showFrames, documents.slice(from, from + PORTION)).catch(tellLeft);
      }
    },
    /** The texts of an RSS feed, by the names of their elements. */
    readFeed: async (xml) => {
      await toBlank();
      return page.evaluate(textsOfFeed, xml);
    },
    /** Opens a URL directly. */
    open: async (address) => {
      await toBlank();
      await page.goto(address, { waitUntil: 'load', timeout: 20_000 }).catch((error) => {
        // A download or an answer without content: nothing was opened.
        if (!/net::ERR_ABORTED|Download is starting|net::ERR_INVALID_RESPONSE/.test(error.message)) throw error;
      });
    },
    close: async () => {
      await browser.close();
      await site.close();
    },
  };
}

/** A page without content and without a policy. */
async function servePage() {
  const server = createServer((req, res) => {
    res.statusCode = req.url === '/' ? 200 : 404;
    res.setHeader('Content-Type', 'text/html; charset=utf-8');
    res.end('<!doctype html><title>x</title><body>');
  });
  await new Promise((listening) => {
    server.listen(0, '127.0.0.1', listening);
  });
  return {
    base: `http://127.0.0.1:${server.address().port}/`,
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections();
        server.close(closed);
      }),
  };
}

// ------------------------------------------------------------------------------------------------- what runs in the
//                                                                                                   browser
/* global window, document, Event */

function hook() {
  for (const name of ['alert', 'confirm', 'prompt', 'print']) window[name] = (told) => void window.ranScript(told);
  window.open = () => null;
}

/**
 * Puts texts into the page in every usual way, and does what a visitor might do: waits, follows links, sends forms,
 * triggers every event handler.
 */
async function showTexts(texts) {
  const { body } = document;
  const pause = (ms) =>
    new Promise((done) => {
      setTimeout(done, ms);
    });
  const place = () => body.appendChild(document.createElement('div'));
  for (const { html, address } of texts) {
    const plain = place();
    plain.innerHTML = html;
    // As in jQuery: script elements run.
    place().append(document.createRange().createContextualFragment(html));
    // Serialized and parsed again, which may change the meaning.
    place().innerHTML = plain.innerHTML;
    if (!address) continue;
    place().innerHTML = `<a href="${html}">x</a><img src="${html}" alt=""><b style='background:url("${html}")'></b>`;
    const link = place().appendChild(document.createElement('a'));
    link.href = html;
  }
  await pause(150);
  for (const element of body.querySelectorAll('*')) {
    for (const { name } of [...element.attributes]) if (/^on/i.test(name)) element.dispatchEvent(new Event(name.slice(2).toLowerCase()));
    const target = element.href?.baseVal ?? element.href ?? '';
    if (target !== '' && !/^(?:https?|mailto|tel):/i.test(element.protocol ?? target))
      element.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }));
    if (/^\s*javascript:/i.test(element.formAction ?? '') || /^\s*javascript:/i.test(element.action ?? ''))
      (element.form ?? element).submit?.();
  }
  await pause(100);
}

async function showFrames(documents) {
  for (const text of documents) {
    const frame = document.createElement('iframe');
    frame.srcdoc = text;
    document.body.append(frame);
    await new Promise((done) => {
      frame.onload = done;
      // A script may stop its document, or leave it permanently.
      setTimeout(done, 5000);
    });
  }
}

function textsOfFeed(xml) {
  const parsed = new DOMParser().parseFromString(xml, 'text/xml');
  if (parsed.querySelector('parsererror')) throw new Error(`no XML: ${parsed.querySelector('parsererror').textContent}`);
  return [...parsed.querySelectorAll('*')]
    .filter((element) => element.children.length === 0)
    .map((element) => [element.localName, element.textContent]);
}

import type { Request, RequestHandler } from 'express';
import { isHiddenFromSearch, type SiteSettings } from '../calendar/settings.ts';
import { DESK_PATH } from '../desk/visit.ts';
import { sitemapFile, sitemapXml } from '../pages/sitemap.ts';
import type { LoadedTheme } from '../pages/theme.ts';
import { ANY_LANGUAGE, type Caller, callerFor } from '../records/caller.ts';
import type { Site } from '../site.ts';
import { ANONYMOUS } from '../wordpress/viewer.ts';
import { basePath, pagePathBelow, splitTarget } from './addressing.ts';
import type { AnswerCache } from './answer-cache.ts';
import { sharedCacheKeyOf } from './cache-keys.ts';
import { hasHosts, languageOfHost } from './content-language.ts';
import { type Answer, deliver, etagOf } from './deliver.ts';
import type { Pages } from './pages.ts';
import { expiryOf, REVALIDATE } from './protocol.ts';
import { homeOfRequest } from './request.ts';
import type { Turns } from './turns.ts';

/** The parts that these files are built from. */
export interface PublicFiles extends LoadedTheme {
  readonly pages: Pages;
  readonly answers: AnswerCache | undefined;
  readonly turns: Turns;
}

const SERVED_FILE = /\/(favicon\.ico|robots\.txt|sitemap[\w-]*\.xml|wp-admin(\/(authorize-application\.php)?)?|wp-login\.php)$/;

/**
 * Serves the files that browsers and search engines look for on a site with pages: the icon, `robots.txt` and the
 * sitemap. WordPress's own admin addresses are redirected to the desk; on a site without pages, only that for programs.
 */
export function servePublicFiles(site: Site, { pages, assets, theme, answers, turns }: PublicFiles): RequestHandler {
  return async (req, res, next) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') return next();
    const { path, query } = splitTarget(req.originalUrl);
    const name = SERVED_FILE.exec(path)?.[0];
    if (name === undefined) return next();
    const readSite = site.forAnonymousReads();
    const settings = await readSite.settings();
    const base = basePath(settings.home);
    // WordPress's own addresses are below its own, which may be in a folder of the site.
    const addresses = name.startsWith('/wp-') ? [settings.home, settings.siteUrl] : [settings.home];
    if (!addresses.some((address) => pagePathBelow(basePath(address), path) === name)) return next();
    // The API gives this address to programs that need an application password (`describeSite`).
    if (name.endsWith('/authorize-application.php')) return res.redirect(302, `${base}${DESK_PATH}/authorize${query && `?${query}`}`);
    if (!pages.areEnabled(settings)) return next();
    if (name === '/favicon.ico') return res.redirect(302, assets.urlOf(base, theme.icon));
    // Editors of a former WordPress site have bookmarked these addresses.
    if (name.startsWith('/wp-')) return res.redirect(302, base + DESK_PATH);
    const compute = async (trackedSite: Site): Promise<Answer> => {
      const caller = searchEngine(trackedSite, await trackedSite.settings(), req);
      return name === '/robots.txt' ? textAnswer(robots(caller)) : sitemap(trackedSite, caller, name);
    };
    // If languages have hosts, each host has its own files.
    const key = sharedCacheKeyOf(req, homeAt(settings, req) + name, () => '');
    const request = { key, site: readSite, compute };
    const answer = await (answers ? answers.getOrCompute(req, request) : turns.run(req, () => compute(readSite)));
    return answer.status === 404 ? next() : deliver(req, res, answer);
  };
}

/** Returns the caller of these files: a host that belongs to a language lists the pages of that language only. */
function searchEngine(site: Site, settings: SiteSettings, req: Request): Caller {
  const { contentLanguages } = settings;
  const code = languageOfHost(contentLanguages, settings.home, req.get('host')) ?? contentLanguages?.defaultCode;
  const content = hasHosts(contentLanguages) ? { code, isChosen: true } : ANY_LANGUAGE;
  return callerFor(site, settings, ANONYMOUS, { language: site.texts.languages[0] ?? 'en', content, home: homeAt(settings, req) });
}

const homeAt = (settings: SiteSettings, req: Request): string =>
  homeOfRequest(settings, undefined, languageOfHost(settings.contentLanguages, settings.home, req.get('host')));

/**
 * Builds `robots.txt`, which excludes the desk. Programs may read the API, as with WordPress, and search engines
 * must, to show the events of `<fasti-events>`; its answers are not indexed (`X-Robots-Tag`). On a site that is hidden
 * from search engines it does not exclude the pages: search engines have to read them to find that they should not
 * index them (`do_robots`).
 */
function robots({ settings, home }: Caller): string {
  const base = basePath(settings.home);
  const lines = ['User-agent: *', `Disallow: ${base}${DESK_PATH}/`];
  return [...lines, ...(isHiddenFromSearch(settings) ? [] : [`Sitemap: ${home}/sitemap.xml`]), ''].join('\n');
}

const textAnswer = (text: string): Answer => fileAnswer(text, 'text/plain; charset=UTF-8', Number.POSITIVE_INFINITY);

async function sitemap(site: Site, caller: Caller, path: string): Promise<Answer> {
  const file = sitemapFile(path);
  const xml = file && (await sitemapXml(site, caller, file));
  if (xml === undefined) return { ...textAnswer(''), status: 404 };
  return fileAnswer(xml, 'application/xml; charset=UTF-8', expiryOf('daily', caller));
}

function fileAnswer(text: string, type: string, expiresAt: number): Answer {
  const body = Buffer.from(text);
  const headers = { 'Content-Type': type, 'X-Content-Type-Options': 'nosniff', ...REVALIDATE, Vary: 'Accept-Encoding', ETag: etagOf(body) };
  return { status: 200, headers, body, expiresAt, isShareable: true };
}

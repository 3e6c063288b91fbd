import type { RequestHandler } from 'express';
import type { ApiDocument } from '../pages/api-reference.tsx';
import { referencePage } from '../pages/reference-page.ts';
import type { LoadedTheme } from '../pages/theme.ts';
import { callerFor } from '../records/caller.ts';
import { languageSegments, type Site } from '../site.ts';
import { ANONYMOUS } from '../wordpress/viewer.ts';
import { basePath, pagePathBelow, splitLanguage, splitTarget } from './addressing.ts';
import type { AnswerCache } from './answer-cache.ts';
import { languageKeyOf, sharedCacheKeyOf } from './cache-keys.ts';
import { chooseFeedLanguage } from './content-language.ts';
import { deliver } from './deliver.ts';
import { openApiDocument } from './openapi.ts';
import { pageAnswer } from './pages.ts';
import { homeOfRequest } from './request.ts';
import type { Route } from './route.ts';
import type { Turns } from './turns.ts';
import { folderOf } from './visitor.ts';

/** The parts of the reference: the routes that it describes, and those outside all namespaces. */
export interface ReferenceParts extends LoadedTheme {
  readonly routes: readonly Route[];
  readonly roots: readonly Route[];
  readonly answers: AnswerCache | undefined;
  readonly turns: Turns;
}

/** Serves `/doc`, the human-readable reference of the API, with or without a language before it. */
export function serveReference(site: Site, { routes, roots, answers, turns, ...parts }: ReferenceParts): RequestHandler {
  return async (req, res, next) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') return next();
    const { path } = splitTarget(req.originalUrl);
    if (!/\/doc\/?$/.test(path)) return next();
    const settings = await site.settings();
    const base = basePath(settings.home);
    const segments = pagePathBelow(base, path).replace(/\/$/, '').split('/').slice(1);
    const { language: segment, rest } = splitLanguage(segments, languageSegments(site, settings));
    if (rest.length > 1) return next();
    const compute = async (trackedSite: Site) => {
      const currentSettings = await trackedSite.settings();
      const language = site.texts.chooseLanguage({ segment, acceptLanguage: req.get('accept-language') });
      const content = chooseFeedLanguage(currentSettings.contentLanguages, { query: {}, body: {}, address: segment });
      const home = folderOf(currentSettings, content) ?? homeOfRequest(currentSettings, segment, undefined);
      const caller = callerFor(trackedSite, currentSettings, ANONYMOUS, { language, home, content });
      const shownRoutes = currentSettings.calendar.restDisabled ? [] : routes;
      // The type holds: this is our own document, with exactly these shapes.
      const document = openApiDocument(trackedSite, caller, shownRoutes, roots) as unknown as ApiDocument;
      return pageAnswer(referencePage({ ...parts, site: trackedSite }, caller, document), {
        caller,
        isPersonal: false,
        changedAt: undefined,
      });
    };
    // Not the path as sent, which may have any number of slashes.
    const key = sharedCacheKeyOf(req, `${homeOfRequest(settings, segment, undefined)}/doc`, languageKeyOf(site.texts));
    const answer = answers ? answers.getOrCompute(req, { key, site, compute }) : turns.run(req, () => compute(site));
    await deliver(req, res, await answer);
  };
}

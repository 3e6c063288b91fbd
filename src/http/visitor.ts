import type { Request } from 'express';
import type { SiteSettings } from '../calendar/settings.ts';
import { type Caller, type ContentChoice, callerFor, settingsFor } from '../records/caller.ts';
import type { Site } from '../site.ts';
import { homeIn } from '../wordpress/content-languages.ts';
import { ANONYMOUS, type Viewer } from '../wordpress/viewer.ts';
import { chooseFeedLanguage, languageOfHost } from './content-language.ts';
import type { RawParams } from './input.ts';
import { LANGUAGE_NAMES } from './language.ts';
import { homeOfRequest } from './request.ts';

/** A request for a page. `segment`: the language in its path; `viewer`: the signed-in user, if relevant. */
interface PageRequest {
  readonly segment: string | undefined;
  readonly query: RawParams;
  readonly viewer?: Viewer;
}

/**
 * Returns the caller of a page, in the language of the request. The caller is anonymous unless a viewer is given. If
 * the content has languages, the texts around it are in the language of the content, whatever the browser prefers,
 * since the address of a page belongs to one language.
 */
export function visitorOf(
  site: Site,
  siteSettings: SiteSettings,
  req: Request,
  { segment, query, viewer = ANONYMOUS }: PageRequest,
): Caller {
  const settings = settingsFor(siteSettings, viewer);
  const { contentLanguages } = settings;
  const hostLanguage = languageOfHost(contentLanguages, settings.home, req.get('host'));
  const content = chooseFeedLanguage(contentLanguages, { query, body: {}, address: segment ?? hostLanguage });
  const names = contentLanguages ? LANGUAGE_NAMES : LANGUAGE_NAMES.slice(0, 1);
  const parameter = names.map((name) => query[name]).find((value): value is string => typeof value === 'string');
  const pathLanguage = segment ?? hostLanguage ?? (contentLanguages && content.code);
  const language = site.texts.chooseLanguage({ parameter, segment: pathLanguage, acceptLanguage: req.get('accept-language') });
  const home = folderOf(settings, content) ?? homeOfRequest(settings, segment, hostLanguage);
  return callerFor(site, settings, viewer, { language, content, home });
}

/**
 * Returns the home of the pages of a language, however the language was chosen; undefined if languages have no folders.
 */
export const folderOf = ({ contentLanguages: languages, home }: SiteSettings, { code }: ContentChoice): string | undefined =>
  languages?.urls.by === 'directory' && code !== undefined ? homeIn(languages.urls, code, home) : undefined;

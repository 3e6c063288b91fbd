import type { Request } from 'express';
import type { SiteSettings } from '../calendar/settings.ts';
import { type Caller, callerFor } from '../records/caller.ts';
import type { Site } from '../site.ts';
import { ANONYMOUS } from '../wordpress/viewer.ts';
import { feedChoice, languageOfHost } from './content-language.ts';
import type { Raw } from './input.ts';
import { rootOf, settingsFor } from './request.ts';

/** An anonymous caller of the pages, in the language of the request. `segment`: the one that its path names. */
export function visitorOf(
  site: Site,
  known: SiteSettings,
  req: Request,
  { segment, query }: { readonly segment: string | undefined; readonly query: Raw },
): Caller {
  const settings = settingsFor(known, ANONYMOUS);
  const { contentLanguages } = settings;
  const hostLanguage = languageOfHost(contentLanguages, settings.home, req.host);
  const content = feedChoice(contentLanguages, { query, body: {}, address: segment ?? hostLanguage });
  const parameter = typeof query.translation_language === 'string' ? query.translation_language : undefined;
  const language = site.texts.chooseLanguage({ parameter, segment, acceptLanguage: req.get('accept-language') });
  return callerFor(site, settings, ANONYMOUS, { language, content, home: rootOf(settings, segment, hostLanguage) });
}

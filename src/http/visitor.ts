import type { Request } from 'express';
import type { SiteSettings } from '../calendar/settings.ts';
import { type Caller, callerFor, settingsFor } from '../records/caller.ts';
import type { Site } from '../site.ts';
import { ANONYMOUS, type Viewer } from '../wordpress/viewer.ts';
import { feedChoice, languageOfHost } from './content-language.ts';
import type { Raw } from './input.ts';
import { rootOf } from './request.ts';

/** How a page is asked for. `segment`: the language that its path names; `viewer`: who asks, where that matters. */
interface Asked {
  readonly segment: string | undefined;
  readonly query: Raw;
  readonly viewer?: Viewer;
}

/** A caller of the pages, in the language of the request: an anonymous one, unless another is named. */
export function visitorOf(site: Site, known: SiteSettings, req: Request, { segment, query, viewer = ANONYMOUS }: Asked): Caller {
  const settings = settingsFor(known, viewer);
  const { contentLanguages } = settings;
  const hostLanguage = languageOfHost(contentLanguages, settings.home, req.host);
  const content = feedChoice(contentLanguages, { query, body: {}, address: segment ?? hostLanguage });
  const parameter = typeof query.translation_language === 'string' ? query.translation_language : undefined;
  const language = site.texts.chooseLanguage({ parameter, segment, acceptLanguage: req.get('accept-language') });
  return callerFor(site, settings, viewer, { language, content, home: rootOf(settings, segment, hostLanguage) });
}

import { type I18n, i18nIn } from '../html/i18n.ts';
import type { Caller } from '../records/caller.ts';
import type { Site } from '../site.ts';

/** Returns the language functions of pages for a caller. */
export const i18nFor = ({ texts }: Pick<Site, 'texts'>, { language, settings }: Caller): I18n =>
  i18nIn(texts, language, settings.contentLanguage);

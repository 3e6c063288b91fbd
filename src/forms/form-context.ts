import type { SiteSettings } from '../calendar/settings.ts';
import type { I18n } from '../html/i18n.ts';
import type { Caller } from '../records/caller.ts';
import type { Site } from '../site.ts';

/** The context of a form, on which its choices and texts depend. */
export interface FormContext {
  readonly site: Site;
  readonly settings: SiteSettings;
  readonly caller: Caller;
  readonly i18n: I18n;
}

import type { SiteSettings } from '../calendar/settings.ts';
import type { Speech } from '../html/words.ts';
import type { Caller } from '../records/caller.ts';
import type { Site } from '../site.ts';

/** For whom a form is made: what it offers and says follows from that. */
export interface FormContext {
  readonly site: Site;
  readonly settings: SiteSettings;
  readonly caller: Caller;
  readonly speech: Speech;
}

import type { SiteSettings } from '../calendar/settings.ts';
import { decodeEntities } from '../wordpress/content/entities.ts';
import type { I18n } from './i18n.ts';

/**
 * What a site is called, as text: WordPress stores `Food & Wine` as `Food &amp; Wine`. One without a name is a
 * calendar.
 */
export const siteNameOf = ({ name }: Pick<SiteSettings, 'name'>, { say }: Pick<I18n, 'say'>): string =>
  decodeEntities(name).trim() || say('pages:calendar');

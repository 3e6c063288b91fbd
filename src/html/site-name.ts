import type { SiteSettings } from '../calendar/settings.ts';
import { decodeEntities } from '../wordpress/content/entities.ts';
import type { I18n } from './i18n.ts';

/**
 * Returns the name of a site as text: WordPress stores `Food & Wine` as `Food &amp; Wine`. A site without a name is
 * called "calendar".
 */
export const siteNameOf = ({ name }: Pick<SiteSettings, 'name'>, { say }: Pick<I18n, 'say'>): string =>
  decodeEntities(name).trim() || say('pages:calendar');

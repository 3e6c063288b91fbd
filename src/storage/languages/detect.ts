import type { ContentLanguages } from '../../wordpress/content-languages.ts';
import { activePlugins } from '../../wordpress/plugins.ts';
import type { Database } from '../engine/database.ts';
import { FORMS } from './forms.ts';

/** Options that determine the form, in addition to the rows of the database. */
export interface DetectionOptions {
  readonly setting: 'auto' | 'off' | ContentLanguages['form'];
  /** Whether a WordPress installation writes to the same database. */
  readonly isShared: boolean;
}

/**
 * Returns the languages of a site's content; undefined if it has none. As in WordPress, a plugin that is not active
 * counts as absent. Rows in Polylang's form count without the plugin if there is no WordPress to run it.
 */
export async function findLanguages(
  db: Database,
  options: ReadonlyMap<string, string>,
  { setting, isShared }: DetectionOptions,
): Promise<ContentLanguages | undefined> {
  if (setting === 'off') return undefined;
  const plugins = activePlugins(options);
  const runs = { polylang: /"polylang(-pro)?\//.test(plugins), wpml: plugins.includes('"sitepress-multilingual-cms/') };
  const applies = {
    wpml: setting === 'wpml' || (setting === 'auto' && runs.wpml),
    polylang: setting === 'polylang' || (setting === 'auto' && options.has('polylang') && (runs.polylang || !isShared)),
  };
  for (const form of ['wpml', 'polylang'] as const) {
    const languages = applies[form] ? await FORMS[form].read(db, options) : undefined;
    if (!languages) continue;
    // Polylang Pro allows it only if URLs contain the language.
    const sharesSlugs = form === 'wpml' || (plugins.includes('"polylang-pro/') && languages.urls.by !== 'nothing');
    return { form, pluginRuns: runs[form], sharesSlugs, ...languages };
  }
  return undefined;
}

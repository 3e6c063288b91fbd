/** The options with the active plugins of a site, and with those that its network activates for all sites. */
export const SITE_PLUGINS = 'active_plugins';
export const NETWORK_PLUGINS = 'active_sitewide_plugins';

/** Returns the active plugins as text: file names in quotation marks (`"polylang/polylang.php"`). */
export const activePlugins = (options: ReadonlyMap<string, string>): string =>
  [SITE_PLUGINS, NETWORK_PLUGINS].map((name) => options.get(name) ?? '').join('');

/** The option with the plugins that a site has switched on, and that with those that its network has for all sites. */
export const SITE_PLUGINS = 'active_plugins';
export const NETWORK_PLUGINS = 'active_sitewide_plugins';

/** The plugins that are switched on, as text: files between quotation marks (`"polylang/polylang.php"`). */
export const activePlugins = (options: ReadonlyMap<string, string>): string =>
  [SITE_PLUGINS, NETWORK_PLUGINS].map((name) => options.get(name) ?? '').join('');

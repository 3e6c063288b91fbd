import { LOGIN_KEY_OPTIONS } from './cookies.ts';
import { serializedMembers } from './php/serialized.ts';
import { NETWORK_PLUGINS } from './plugins.ts';

/**
 * Options of a network (multisite): the logins of its administrators, and whether administrators of its sites may
 * create users.
 */
export const NETWORK_ADMINS = 'site_admins';
const NETWORK_INVITES = 'add_new_users';
/** Whether files of sites other than the first have addresses below `files`. */
export const NETWORK_REWRITING = 'ms_files_rewriting';

/** The name used here for the network's own URL, which the network stores under the same name as a site does. */
export const NETWORK_ADDRESS = 'network_siteurl';

/** The name used here for the state of the site, which the network stores in its table of sites (`siteStateOf`). */
export const SITE_STATE = 'network_site_state';

/** Options that are read from the table of a network and not from the options of one of its sites. */
export const NETWORK_OPTIONS = [NETWORK_PLUGINS, NETWORK_ADMINS, NETWORK_INVITES, NETWORK_ADDRESS, NETWORK_REWRITING, SITE_STATE] as const;

/** Options that a network stores for all of its sites, and a single site among its own (`get_network_option`). */
export const NETWORK_WIDE_OPTIONS: readonly string[] = [
  'using_application_passwords',
  'user_count',
  // Its sites share a login cookie (`wp_salt`).
  ...Object.values(LOGIN_KEY_OPTIONS),
];

/** Returns the key of a network option in the table of the network. */
export const networkKey = (name: string): string => (name === NETWORK_ADDRESS ? 'siteurl' : name);

/** Returns the prefix of a site's tables. `site`: its number; 1 is the first site of a network, or a single site. */
export const sitePrefix = (prefix: string, site: number): string => (site > 1 ? `${prefix}${site}_` : prefix);

/** Returns the number of the site whose tables have this prefix, `networkPrefix` being that of the network's tables. */
export const siteOfPrefix = (networkPrefix: string, prefix: string): number => Number.parseInt(prefix.slice(networkPrefix.length), 10) || 1;

/** Returns the prefixes of the sites whose tables are among these. */
export function prefixesOfSites(tables: readonly string[]): string[] {
  const names = new Set(tables);
  const prefixes = tables.filter((name) => name.endsWith('postmeta')).map((name) => name.slice(0, -'postmeta'.length));
  return prefixes.filter((prefix) => names.has(`${prefix}options`) && names.has(`${prefix}posts`));
}

/** Returns these prefixes without those of the further sites of networks, which have no users of their own. */
export function prefixesOfInstallations(tables: readonly string[]): string[] {
  const prefixes = prefixesOfSites(tables);
  const isFurther = (prefix: string): boolean => {
    const site = /(?<!\d)[1-9]\d*_$/.exec(prefix);
    return site !== null && prefixes.includes(prefix.slice(0, site.index)) && !tables.includes(`${prefix}users`);
  };
  return prefixes.filter((prefix) => !isFurther(prefix));
}

/** Returns the path of a site's uploaded files below those of its network (`wp_upload_dir`). */
export const uploadsOfSite = (site: number): string => (site > 1 ? `/sites/${site}` : '');

/**
 * Whether a network serves one of its sites, and if not, why: its administrator has deleted it, or it is still to be
 * activated, or it was archived or marked as spam.
 */
export type SiteState = (typeof SITE_STATES)[number];
const SITE_STATES = ['open', 'deleted', 'inactive', 'suspended'] as const;

/** The columns of the table of sites that close a site. Old networks store the numbers as texts. */
export interface SiteFlags {
  readonly deleted: number | string;
  readonly archived: number | string;
  readonly spam: number | string;
}

/** Returns the state of a site by its row in the table of sites (`ms_site_check`). */
export function siteStateOf({ deleted, archived, spam }: SiteFlags): SiteState {
  if (Number(deleted) === 1) return 'deleted';
  if (Number(deleted) === 2) return 'inactive';
  return Number(archived) === 1 || Number(spam) === 1 ? 'suspended' : 'open';
}

/** A network of sites, which share their users. */
export interface Network {
  /** Logins of its administrators (`get_super_admins`). */
  readonly admins: ReadonlySet<string>;
  /** Whether administrators of its sites may create users. */
  readonly invites: boolean;
  /** The state of the served site. */
  readonly siteState: SiteState;
}

/** Returns the network described by these options; undefined if the site is not part of a network. */
export function networkOf(options: ReadonlyMap<string, string>): Network | undefined {
  const admins = options.get(NETWORK_ADMINS);
  if (admins === undefined) return undefined;
  return {
    admins: new Set(Object.values(serializedMembers(admins)).map(String)),
    invites: !['', '0'].includes(options.get(NETWORK_INVITES) ?? ''),
    siteState: SITE_STATES.find((state) => state === options.get(SITE_STATE)) ?? 'open',
  };
}

/** Returns why a site is not served; undefined if it is: its network has not closed it, or it belongs to none. */
export const whyClosed = (network: Network | undefined): Exclude<SiteState, 'open'> | undefined =>
  network === undefined || network.siteState === 'open' ? undefined : network.siteState;

/**
 * Capabilities that no role grants on a site of a network, since users belong to all sites, and a script in one site
 * could act on all of them.
 */
const NETWORK_ONLY_CAPABILITIES: ReadonlySet<string> = new Set(['edit_users', 'unfiltered_html']);

/**
 * Returns whether a user has a capability on a site of a network. `onSite`: whether a role there grants it. Network
 * administrators have all capabilities (`WP_User::has_cap`); some are theirs alone (`map_meta_cap`).
 */
export function mayInNetwork(
  { admins, invites }: Pick<Network, 'admins' | 'invites'>,
  login: string,
  capability: string,
  onSite: boolean,
): boolean {
  if (admins.has(login)) return true;
  return onSite && !NETWORK_ONLY_CAPABILITIES.has(capability) && (capability !== 'create_users' || invites);
}

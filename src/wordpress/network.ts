import { serializedMembers } from './php/serialized.ts';
import { NETWORK_PLUGINS } from './plugins.ts';

/** The names under which a network (multisite) keeps who manages all of it, and whether its sites may make users. */
const NETWORK_ADMINS = 'site_admins';
const NETWORK_INVITES = 'add_new_users';

/** The network's own address, which it keeps under the name of that of a site. */
export const NETWORK_ADDRESS = 'network_siteurl';

/** What is read from the table of a network rather than from the options of one of its sites. */
export const NETWORK_OPTIONS: readonly string[] = [NETWORK_PLUGINS, NETWORK_ADMINS, NETWORK_INVITES, NETWORK_ADDRESS];

/** The key of one of these in the table of a network. */
export const networkKey = (name: string): string => (name === NETWORK_ADDRESS ? 'siteurl' : name);

/** A network of sites, which have their users in common. */
export interface Network {
  /** Logins of those who manage all of it (`get_super_admins`). */
  readonly admins: ReadonlySet<string>;
  /** Whether administrators of its sites may make users. */
  readonly invites: boolean;
}

/** The network that these options tell of; undefined: the site is in none. */
export function networkOf(options: ReadonlyMap<string, string>): Network | undefined {
  const admins = options.get(NETWORK_ADMINS);
  if (admins === undefined) return undefined;
  return {
    admins: new Set(Object.values(serializedMembers(admins)).map(String)),
    invites: !['', '0'].includes(options.get(NETWORK_INVITES) ?? ''),
  };
}

/** What no role gives on a site of a network: users are everybody's, and a script of one site could act on all. */
const OF_NETWORK: ReadonlySet<string> = new Set(['edit_users', 'unfiltered_html']);

/**
 * Whether somebody has a capability on a site of a network. `onSite`: whether a role there gives it. Those who manage
 * the network have all (`WP_User::has_cap`); some nobody else has (`map_meta_cap`).
 */
export function mayInNetwork({ admins, invites }: Network, login: string, capability: string, onSite: boolean): boolean {
  if (admins.has(login)) return true;
  return onSite && !OF_NETWORK.has(capability) && (capability !== 'create_users' || invites);
}

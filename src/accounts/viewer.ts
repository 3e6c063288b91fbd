import type { SiteSettings } from '../calendar/settings.ts';
import { memoize } from '../memo.ts';
import type { Database } from '../storage/engine/database.ts';
import { capabilitiesKey, loadUsers, type StoredUser } from '../storage/rows/users.ts';
import { type Roles, userCapabilities } from '../wordpress/capabilities.ts';
import { mayInNetwork } from '../wordpress/network.ts';
import type { Viewer } from '../wordpress/viewer.ts';

/**
 * A user as viewer: with what the database says now about roles and own grants. The metas must hold the capabilities.
 */
export function viewerOf(db: Database, { roles, network }: RightsOfSite, { row, metas }: StoredUser): Viewer {
  const { ID: id, user_login: login } = row;
  const capabilities = capabilityReader(roles)(metas.get(capabilitiesKey(db)) ?? '');
  return {
    id,
    login,
    can: (capability) => {
      const onSite = capabilities.has(capability);
      return network ? mayInNetwork(network, login, capability, onSite) : onSite;
    },
  };
}

/** What the rights of a user depend on besides the user. */
type RightsOfSite = Pick<SiteSettings, 'roles' | 'network'>;

/** What people may do under these roles, by what is stored of them: most have the same. */
function capabilityReader(roles: Roles): (stored: string) => ReadonlySet<string> {
  const known = byRoles.get(roles);
  if (known) return known;
  const fresh = memoize((stored) => userCapabilities(stored, roles));
  byRoles.set(roles, fresh);
  return fresh;
}

const byRoles = new WeakMap<Roles, (stored: string) => ReadonlySet<string>>();

/** The user of this id as viewer, in one query; undefined where there is none. */
export async function loadViewer(db: Database, settings: RightsOfSite, id: number): Promise<Viewer | undefined> {
  const user = (await loadUsers(db, [id], [capabilitiesKey(db)])).get(id);
  return user && viewerOf(db, settings, user);
}

import type { SiteSettings } from '../calendar/settings.ts';
import { memoize } from '../memo.ts';
import type { Database } from '../storage/engine/database.ts';
import { capabilitiesKey, loadUsers, type StoredUser } from '../storage/rows/users.ts';
import { type Roles, userCapabilities } from '../wordpress/capabilities.ts';
import { mayInNetwork } from '../wordpress/network.ts';
import type { Viewer } from '../wordpress/viewer.ts';

/**
 * Makes a viewer of a user, with the roles and grants currently stored in the database. The metas must contain the
 * capabilities.
 */
export function toViewer(db: Database, { roles, network }: RightsOfSite, { row, metas }: StoredUser): Viewer {
  const { ID: id, user_login: login } = row;
  const capabilities = capabilityReader(roles)(metas.get(capabilitiesKey(db)) ?? '');
  return {
    id,
    login,
    can: (capability) => {
      const hasCapability = capabilities.has(capability);
      return network ? mayInNetwork(network, login, capability, hasCapability) : hasCapability;
    },
  };
}

/** The settings that a user's permissions depend on. */
type RightsOfSite = Pick<SiteSettings, 'roles' | 'network'>;

/**
 * Returns a function that maps stored grants to capabilities under these roles. It is memoized, because most users have
 * the same grants.
 */
function capabilityReader(roles: Roles): (text: string) => ReadonlySet<string> {
  const cached = readersByRoles.get(roles);
  if (cached) return cached;
  const reader = memoize((text) => userCapabilities(text, roles));
  readersByRoles.set(roles, reader);
  return reader;
}

const readersByRoles = new WeakMap<Roles, (text: string) => ReadonlySet<string>>();

/** Loads the user with this id as a viewer, in one query; undefined if there is none. */
export async function loadViewer(db: Database, settings: RightsOfSite, id: number): Promise<Viewer | undefined> {
  const user = (await loadUsers(db, [id], [capabilitiesKey(db)])).get(id);
  return user && toViewer(db, settings, user);
}

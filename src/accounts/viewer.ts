import type { SiteSettings } from '../calendar/settings.ts';
import type { Database } from '../storage/database.ts';
import { capabilitiesKey, loadUsers, type StoredUser } from '../storage/users.ts';
import { parseRoles, userCapabilities } from '../wordpress/capabilities.ts';
import type { Viewer } from '../wordpress/viewer.ts';

/** A user as viewer: with what the database says now about roles and own grants. The metas must hold the capabilities. */
export function viewerOf(db: Database, { roles }: Pick<SiteSettings, 'roles'>, { row, metas }: StoredUser): Viewer {
  const capabilities = userCapabilities(metas.get(capabilitiesKey(db)) ?? '', parseRoles(roles));
  return { id: row.ID, login: row.user_login, can: (capability) => capabilities.has(capability) };
}

/** The user of this id as viewer, in one query; undefined where there is none. */
export async function loadViewer(db: Database, settings: Pick<SiteSettings, 'roles'>, id: number): Promise<Viewer | undefined> {
  const user = (await loadUsers(db, [id], [capabilitiesKey(db)])).get(id);
  return user && viewerOf(db, settings, user);
}

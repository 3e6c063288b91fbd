import { PASSWORDS_KEY, parsePasswords } from '../../accounts/stored-passwords.ts';
import { type Roles, userCapabilities } from '../../wordpress/capabilities.ts';
import { asStored, type StoredValue, storedText, toSerialized } from '../../wordpress/php/serialized.ts';
import type { AuthorItem } from '../items/items.ts';
import type { Run } from './run.ts';

/*
 * Roles and passwords of new users. They come only from a database that its owner opened, never from a file, because
 * anybody could add an administrator to a file.
 */

/** A hash that no password matches. Users who have it must get a new password. */
const NO_PASSWORD = '*';

/** Metas of roles and levels in items, whose keys here begin with the table prefix. */
type AccessMeta = 'capabilities' | 'user_level';

/** Rights and passwords of a user here. `applicationPasswords`: as stored; undefined if there are none. */
export interface AuthorAccess extends Readonly<Record<AccessMeta, StoredValue>> {
  readonly passwordHash: string;
  readonly applicationPasswords: StoredValue | undefined;
}

/** Returns the rights and passwords of a new user. `defaultRole`: role of users from files. */
export function accessOf({ trustedAccounts }: Pick<Run, 'trustedAccounts'>, author: AuthorItem, defaultRole: string): AuthorAccess {
  const role = trustedAccounts ? {} : { [defaultRole]: true };
  const none = {
    capabilities: toSerialized(role),
    user_level: storedText('0'),
    passwordHash: NO_PASSWORD,
    applicationPasswords: undefined,
  };
  if (!trustedAccounts || author.isSpam) return none;
  const metas = new Map(author.metas);
  const [capabilities, level, passwords] = [metas.get('capabilities'), metas.get('user_level'), metas.get(PASSWORDS_KEY)];
  return {
    capabilities: capabilities === undefined ? none.capabilities : asStored(capabilities),
    user_level: level === undefined ? none.user_level : storedText(level),
    passwordHash: author.columns?.user_pass ?? NO_PASSWORD,
    applicationPasswords: passwords === undefined ? undefined : asStored(passwords),
  };
}

/** Whether a user can sign in with an application password. */
export const hasApplicationPassword = ({ applicationPasswords }: AuthorAccess): boolean => parsePasswords(applicationPasswords).length > 0;

/** Returns the roles and capabilities of a user that this site does not know, so that they grant nothing. */
export function unknownGrants({ capabilities }: AuthorAccess, roles: Roles): string[] {
  const known = new Set(['exist', ...[...roles].flatMap(([name, role]) => [name, ...Object.keys(role.capabilities)])]);
  return [...userCapabilities(capabilities, new Map())].filter((name) => !known.has(name));
}

import { randomUUID } from 'node:crypto';
import type { Site } from '../site.ts';
import { hashGeneratedPassword, newApplicationPassword } from '../wordpress/passwords.ts';
import { textFromUnix, unixFromDate } from '../wordpress/time.ts';
import { AccountError } from './account-error.ts';
import { hashFormatOf } from './hash-format.ts';
import { changePasswords, noteApplicationPasswords, PASSWORDS_KEY, parsePasswords, type StoredPassword } from './stored-passwords.ts';
import { requireUser, type UserReference } from './users.ts';

/**
 * An application password in readable form. Times are UTC, `YYYY-MM-DD HH:MM:SS`; `lastUsed` is updated at most once a
 * day.
 */
export interface ApplicationPassword {
  readonly uuid: string;
  readonly name: string;
  readonly created: string;
  readonly lastUsed: string | undefined;
  readonly lastAddress: string | undefined;
}

/**
 * Creates an application password for a user (`WP_Application_Passwords::create_new_application_password`), in one
 * transaction. The password is returned only here; only its hash is stored.
 *
 * @param name its purpose; unique for each user
 * @param check throws if the existing passwords forbid another one; `appId`: a UUID of the program it is for
 * @throws AccountError `user-unknown`, `name-empty`, `name-taken`
 */
export async function createApplicationPassword(
  site: Site,
  reference: UserReference,
  name: string,
  { appId = '', check }: { readonly appId?: string; readonly check?: (list: readonly StoredPassword[]) => void } = {},
): Promise<{ readonly uuid: string; readonly password: string; readonly entry: StoredPassword }> {
  const label = name.trim();
  if (label === '') throw new AccountError('name-empty');
  const password = newApplicationPassword();
  const uuid = randomUUID();
  const entry: StoredPassword = {
    uuid,
    app_id: appId,
    name: label,
    password: await hashGeneratedPassword(password, hashFormatOf(await site.settings())),
    created: unixFromDate(site.clock()),
    last_used: null,
    last_ip: null,
  };
  await site.db.transaction(async (db) => {
    const { row } = await requireUser(db, reference, []);
    const storedPasswords = await changePasswords(db, row.ID, (list) => {
      check?.(list);
      if (list.some((other) => isSameName(other.name, label))) throw new AccountError('name-taken', { name: label });
      return [...list, entry];
    });
    // The user was deleted in the meantime, so the password would be useless.
    if (!storedPasswords) throw new AccountError('user-unknown', { user: String(reference) });
    await noteApplicationPasswords(db);
  });
  return { uuid, password, entry };
}

/** Whether two names count as the same for a user. */
const isSameName = (one: unknown, other: string): boolean => String(one).trim().toLowerCase() === other.trim().toLowerCase();

/** Lists the application passwords of a user, in order of creation. Throws AccountError `user-unknown`. */
export async function listApplicationPasswords(site: Site, reference: UserReference): Promise<ApplicationPassword[]> {
  const { metas } = await requireUser(site.db, reference, [PASSWORDS_KEY]);
  return parsePasswords(metas.get(PASSWORDS_KEY)).map(({ uuid, name, created, last_used, last_ip }) => ({
    uuid,
    name: String(name),
    created: textFromUnix(Number(created) || 0),
    lastUsed: last_used ? textFromUnix(Number(last_used)) : undefined,
    lastAddress: last_ip ? String(last_ip) : undefined,
  }));
}

/**
 * Revokes an application password, by its UUID or its name; upper and lower case only matter if several are alike
 * otherwise. All processes refuse it from the next request on.
 *
 * @throws AccountError `user-unknown`, `password-unknown`
 */
export async function revokeApplicationPassword(site: Site, reference: UserReference, uuidOrName: string): Promise<void> {
  await site.db.transaction(async (db) => {
    const { row } = await requireUser(db, reference, []);
    await changePasswords(db, row.ID, (list) => {
      const [named, ...others] = list.filter(({ name }) => isSameName(name, uuidOrName));
      const revokedPassword =
        list.find(({ uuid }) => uuid === uuidOrName) ??
        list.find(({ name }) => name === uuidOrName) ??
        (others.length === 0 ? named : undefined);
      if (!revokedPassword) throw new AccountError('password-unknown', { password: uuidOrName });
      return list.filter((entry) => entry !== revokedPassword);
    });
  });
}

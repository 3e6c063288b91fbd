import type { SiteSettings } from '../calendar/settings.ts';
import { fail, type ProblemName, type Verdict } from '../errors.ts';
import type { PasswordFieldValues, PasswordOwnerValues } from '../kinds/core/password.ts';
import { MAX_BYTES } from '../kinds/grammars/grammar.ts';
import type { Site } from '../site.ts';
import type { LookUp } from '../storage/engine/look-up-once.ts';
import { loadUsers } from '../storage/rows/users.ts';
import { storedTextField } from '../wordpress/content/plain-text.ts';
import { unixFromDate } from '../wordpress/time.ts';
import type { Viewer } from '../wordpress/viewer.ts';
import { AccountError } from './account-error.ts';
import { createApplicationPassword } from './application-passwords.ts';
import { isKnownPerson, mayActFor } from './people.ts';
import { changePasswords, PASSWORDS_KEY, parsePasswords, type StoredPassword } from './stored-passwords.ts';

/*
 * Management of application passwords, by their owners and by users who may edit other users
 * (`WP_REST_Application_Passwords_Controller`).
 */

/**
 * Maximum number of passwords per user, and of those created within a quarter of an hour, so that a stolen one cannot
 * be used to fill the database.
 */
const MAX_PASSWORDS = 100;
const MAX_NEW_PASSWORDS = 20;
const NEW_WINDOW_SECONDS = 900;

/** Whether the caller may manage the passwords of the user that the path names; `refusal`: the error for others. */
export async function mayManagePasswords(
  lookUp: LookUp,
  settings: Pick<SiteSettings, 'roles'>,
  viewer: Viewer,
  values: PasswordOwnerValues,
  refusal: ProblemName,
): Promise<Verdict> {
  if (values.user_id === 'me' && viewer.id === 0) return 'rest_not_logged_in';
  const owner = ownerOf(viewer, values);
  if (!(await isKnownPerson(lookUp, viewer, owner))) return 'rest_user_invalid_id';
  return (await mayActFor(lookUp, settings, viewer, owner)) ? true : refusal;
}

/** Whether the caller may learn which password the request was signed in with. Only possible for the caller's own. */
export async function mayIntrospect(
  lookUp: LookUp,
  settings: Pick<SiteSettings, 'roles'>,
  viewer: Viewer,
  values: PasswordOwnerValues,
): Promise<Verdict> {
  const verdict = await mayManagePasswords(lookUp, settings, viewer, values, INTROSPECTION_REFUSED);
  return verdict === true && ownerOf(viewer, values) !== viewer.id ? INTROSPECTION_REFUSED : verdict;
}

const INTROSPECTION_REFUSED = 'rest_cannot_introspect_app_password_for_non_authenticated_user';

/** Returns the id that the path names: a number, or `me`. 0 belongs to no user. */
export function ownerOf({ id }: Viewer, { user_id: userId = '' }: PasswordOwnerValues): number {
  if (userId === 'me') return id;
  return Number.isSafeInteger(Number(userId)) ? Number(userId) : 0;
}

/** Returns all passwords of a user, in order of creation. */
export async function passwordsOf({ db }: Site, owner: number): Promise<readonly StoredPassword[]> {
  return parsePasswords((await loadUsers(db, [owner], [PASSWORDS_KEY])).get(owner)?.metas.get(PASSWORDS_KEY));
}

/** Reads one password. Throws rest_application_password_not_found. */
export async function readPassword(site: Site, owner: number, uuid: string | undefined): Promise<StoredPassword> {
  return (await passwordsOf(site, owner)).find((entry) => entry.uuid === uuid) ?? fail('rest_application_password_not_found');
}

/** Returns the password that the request was signed in with. Throws rest_no_authenticated_app_password. */
export async function introspectPassword(site: Site, viewer: Viewer): Promise<StoredPassword> {
  const { applicationPassword: uuid } = viewer;
  return uuid === undefined ? fail('rest_no_authenticated_app_password') : readPassword(site, viewer.id, uuid);
}

/** Cleans a typed name of a password, and cuts it to the maximum length of names. */
export const cleanPasswordName = (text: string): string => storedTextField(text.slice(0, MAX_BYTES.name));

/**
 * Creates a password; the plain one is returned only here.
 *
 * @throws application_password_duplicate_name, too-many-requests, too-many-passwords
 */
export async function createPassword(
  site: Site,
  owner: number,
  { name = '', app_id: appId = '' }: PasswordFieldValues,
): Promise<{ readonly entry: StoredPassword; readonly password: string }> {
  const now = unixFromDate(site.clock());
  const check = (list: readonly StoredPassword[]) => {
    const recentPasswords = list.filter(({ created }) => Number(created) > now - NEW_WINDOW_SECONDS);
    if (list.length >= MAX_PASSWORDS) fail('too-many-passwords', { values: { most: MAX_PASSWORDS } });
    if (recentPasswords.length >= MAX_NEW_PASSWORDS) fail('too-many-requests', { data: { retry_after: NEW_WINDOW_SECONDS } });
  };
  return createApplicationPassword(site, owner, name, { appId, check }).catch((error: unknown) => {
    throw error instanceof AccountError && error.problem === 'name-taken' ? refuseDuplicate() : error;
  });
}

const refuseDuplicate = () => fail('application_password_duplicate_name');

/**
 * Renames a password.
 *
 * @throws rest_application_password_not_found, application_password_duplicate_name
 */
export async function renamePassword(site: Site, owner: number, uuid: string | undefined, name: string | undefined): Promise<void> {
  await site.db.transaction((db) =>
    changePasswords(db, owner, (list) => {
      const renamedEntry = list.find((entry) => entry.uuid === uuid) ?? fail('rest_application_password_not_found');
      if (name === undefined || name === renamedEntry.name) return undefined;
      if (list.some((entry) => entry !== renamedEntry && String(entry.name).toLowerCase() === name.toLowerCase())) refuseDuplicate();
      return list.map((entry) => (entry === renamedEntry ? { ...entry, name } : entry));
    }),
  );
}

/** Revokes a password, and returns its former entry. Throws rest_application_password_not_found. */
export async function removePassword(site: Site, owner: number, uuid: string | undefined): Promise<StoredPassword> {
  return site.db.transaction(async (db) => {
    let removedEntries: readonly StoredPassword[] = [];
    await changePasswords(db, owner, (list) => {
      removedEntries = list.filter((entry) => entry.uuid === uuid);
      return list.filter((entry) => entry.uuid !== uuid);
    });
    return removedEntries[0] ?? fail('rest_application_password_not_found');
  });
}

/** Revokes all passwords of a user, and returns how many there were. */
export async function removePasswords(site: Site, owner: number): Promise<number> {
  let count = 0;
  await site.db.transaction((db) =>
    changePasswords(db, owner, (list) => {
      count = list.length;
      return [];
    }),
  );
  return count;
}

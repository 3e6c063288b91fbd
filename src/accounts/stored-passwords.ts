import { memoize } from '../memo.ts';
import { isObject, isRecord } from '../objects.ts';
import type { Database } from '../storage/engine/database.ts';
import { readOptions, writeOption } from '../storage/rows/options.ts';
import { loadUsers, lockUser, writeUserMeta } from '../storage/rows/users.ts';
import { parseSerialized, storedText, toSerialized } from '../wordpress/php/serialized.ts';

/**
 * The meta that holds a user's application passwords (`WP_Application_Passwords::USERMETA_KEY_APPLICATION_PASSWORDS`).
 */
export const PASSWORDS_KEY = '_application_passwords';

/** The option that says whether there are any application passwords. */
const PASSWORDS_OPTION = 'using_application_passwords';

/** An application password as WordPress stores it. Members that plugins have added are kept. Times in Unix seconds. */
export interface StoredPassword {
  readonly uuid: string;
  readonly app_id: string;
  readonly name: string;
  /** The hash. */
  readonly password: string;
  readonly created: number;
  readonly last_used: number | null;
  readonly last_ip: string | null;
}

/** Parses the application passwords in a meta; malformed entries are ignored. */
export const parsePasswords = (text: string | undefined): readonly StoredPassword[] => (text === undefined ? [] : parseStored(text));

const parseStored = memoize((text): readonly StoredPassword[] => {
  const list = parseSerialized(text);
  if (!isObject(list)) return [];
  return Object.values(list).filter(
    (entry): entry is StoredPassword => isRecord(entry) && typeof entry.uuid === 'string' && typeof entry.password === 'string',
  );
});

/**
 * Notes that there are application passwords (`PASSWORDS_OPTION`), without which WordPress and Fasti check none. To be
 * called by everything that stores one.
 */
export async function noteApplicationPasswords(db: Database): Promise<void> {
  if (!(await areApplicationPasswordsInUse(db))) await writeOption(db, PASSWORDS_OPTION, storedText('1'), 'off');
}

/** Whether there are application passwords, as read from the database (`WP_Application_Passwords::is_in_use`). */
export const areApplicationPasswordsInUse = async (db: Database): Promise<boolean> =>
  !['', '0'].includes((await readOptions(db, [PASSWORDS_OPTION])).get(PASSWORDS_OPTION) ?? '');

/**
 * Changes a user's list of application passwords, with the user locked. `change` returns the new list, or undefined to
 * leave it as it is. Returns the result of `change`; undefined if there is no such user. Call it in a transaction.
 */
export async function changePasswords(
  db: Database,
  userId: number,
  change: (list: readonly StoredPassword[]) => StoredPassword[] | undefined,
): Promise<StoredPassword[] | undefined> {
  await lockUser(db, userId);
  const user = (await loadUsers(db, [userId], [PASSWORDS_KEY])).get(userId);
  if (!user) return undefined;
  const changedPasswords = change(parsePasswords(user.metas.get(PASSWORDS_KEY)));
  if (changedPasswords)
    await writeUserMeta(db, userId, PASSWORDS_KEY, changedPasswords.length > 0 ? toSerialized(changedPasswords) : undefined);
  return changedPasswords;
}

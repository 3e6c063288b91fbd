import { noteApplicationPasswords, PASSWORDS_KEY } from '../../accounts/stored-passwords.ts';
import { isOwnId, takenIds } from '../../storage/rows/ids-in-use.ts';
import { notedTargets } from '../../storage/rows/imports.ts';
import { lockNames, USERS_LOCK } from '../../storage/rows/locks.ts';
import { readOptions } from '../../storage/rows/options.ts';
import { capabilitiesKey, findUserByLogin, findUserByLoginOrEmail, insertUser, levelKey, takenNames } from '../../storage/rows/users.ts';
import { sanitizeDisplayName, sanitizeTermDescription, sanitizeTermName } from '../../wordpress/content/kses.ts';
import { firstCharacters, hasVisibleText, sanitizeTextField, stripControlCharacters } from '../../wordpress/content/plain-text.ts';
import { type StoredValue, storedText } from '../../wordpress/php/serialized.ts';
import { NICENAME_BYTES, nicenameOf, uniqueSlug } from '../../wordpress/slug.ts';
import { utcFromDate } from '../../wordpress/time.ts';
import { replaceLoneSurrogates } from '../items/clean.ts';
import type { AuthorItem } from '../items/items.ts';
import { addLoss, addToCount } from '../items/report.ts';
import { digestOf } from '../items/versions.ts';
import { type AuthorAccess, accessOf, hasApplicationPassword, unknownGrants } from './author-access.ts';
import { ledgerKey } from './ledger.ts';
import { doesUserExist } from './resolve.ts';
import type { Work } from './run.ts';

/** Metas that are imported in addition to those of `AuthorAccess`. */
const IMPORTED_METAS = new Set(['first_name', 'last_name', 'nickname', 'description', 'locale']);
const MAX_LENGTHS = { login: 60, email: 100, name: 250 } as const;

/**
 * Imports authors. Users with the same login or email address are left unchanged; other authors become users, but not a
 * second time: a user who was deleted here stays deleted.
 */
export async function writeAuthors(work: Work, authors: readonly AuthorItem[]): Promise<void> {
  const formerIds = await idsOfFormerUsers(work, authors);
  work.authors.clear();
  for (const author of authors) {
    const { run, ledger, tally } = work;
    const item = ledgerKey('author', author.sourceId);
    const digest = digestOf(author);
    const knownEntry = ledger.entry(item);
    const leaveOut = (reason: string, of: string): void => {
      addToCount(tally.lost, 'author');
      addLoss(tally, { reason, kind: 'author', of, place: author.place });
    };
    if (knownEntry && (knownEntry.run === run.number || (await doesUserExist(work, knownEntry.target)))) {
      if (knownEntry.run !== run.number) {
        addToCount(tally.unchanged, 'author');
        ledger.add({ ...knownEntry, digest, run: run.number });
      }
      continue;
    }
    const login = loginOf(run.trustedAccounts, author.login);
    const email = emailOf(run.trustedAccounts, author.email);
    if (!hasVisibleText(login)) {
      leaveOut('author-without-login', author.sourceId);
      continue;
    }
    if (!run.isDryRun) await lockNames(work.db, [USERS_LOCK]);
    const existingId = await findExistingUser(work, login, email);
    if (knownEntry && existingId === undefined) {
      ledger.add({ ...knownEntry, digest, run: run.number });
      addToCount(tally.unchanged, 'author');
      addLoss(tally, { reason: 'author-removed', kind: 'author', of: login, place: author.place });
      continue;
    }
    if (existingId === undefined && !mayCreateUsers(work)) {
      leaveOut('author-forbidden', login);
      continue;
    }
    const target = existingId ?? (await createAuthor(work, { ...author, email }, login, formerIds));
    ledger.add({ item, kind: 'author', target, digest, run: run.number });
    addToCount(existingId === undefined ? tally.created : tally.unchanged, 'author');
    if (email !== author.email) addLoss(tally, { reason: 'html-filtered', kind: 'author', of: login, place: author.place });
  }
}

/**
 * Returns those of the ids of new authors that users of any import have or had. If one of these users was deleted here,
 * whoever got the id would get the records that the user still has in that source.
 */
async function idsOfFormerUsers({ run, db, ledger }: Work, authors: readonly AuthorItem[]): Promise<ReadonlySet<number>> {
  if (run.isDryRun) return new Set();
  const newAuthors = authors.filter(({ sourceId }) => ledger.entry(ledgerKey('author', sourceId)) === undefined);
  const ids = newAuthors.flatMap(({ id }) => (isOwnId(id) ? [id] : []));
  return notedTargets(db, 'author', ids);
}

/**
 * Creates a user, and reports what the user can do there and not here. `formerIds`: ids that the user cannot keep.
 * Returns the id.
 */
async function createAuthor(work: Work, author: AuthorItem, login: string, formerIds: ReadonlySet<number>): Promise<number> {
  const { run, db, tally } = work;
  const access = accessOf(run, author, (await readOptions(db, ['default_role'])).get('default_role') || 'subscriber');
  const report = (reason: string, detail?: string) =>
    addLoss(tally, { reason, kind: 'author', of: login, place: author.place, ...(detail === undefined ? {} : { detail }) });
  if (!run.trustedAccounts) report('author-without-role');
  else if (author.isSpam) report('author-spam');
  const unknown = run.trustedAccounts ? unknownGrants(access, run.caller.settings.roles) : [];
  if (unknown.length > 0) report('author-role-unknown', unknown.join(', '));
  const id = isOwnId(author.id) && !formerIds.has(author.id) ? author.id : undefined;
  return insertAuthor(work, { ...author, id }, login, access);
}

/** Whether users may be created. In a network, administrators of its sites often may not. */
const mayCreateUsers = ({ run }: Work): boolean => run.trustedAccounts || run.caller.viewer.can('create_users');

async function findExistingUser({ db, run }: Work, login: string, email: string): Promise<number | undefined> {
  const rehearsed = [login, email].map((name) => run.dryNames.get(name.toLowerCase())).find((id) => id !== undefined);
  if (rehearsed !== undefined) return rehearsed;
  const userByLogin = await findUserByLogin(db, login, []);
  const user = userByLogin ?? (email === '' ? undefined : await findUserByLoginOrEmail(db, email, []));
  return user?.row.ID;
}

async function insertAuthor({ run, db, touched }: Work, author: AuthorItem, login: string, access: AuthorAccess): Promise<number> {
  if (run.isDryRun) {
    const dryId = run.nextDryId();
    for (const name of [login, author.email]) if (name !== '') run.dryNames.set(name.toLowerCase(), dryId);
    return dryId;
  }
  const nicename = nicenameOf(author.columns?.user_nicename ?? login);
  const { nicenames } = await takenNames(db, { login, email: author.email, nicename });
  const isFree = author.id !== undefined && !(await takenIds(db, 'users', [author.id])).has(author.id);
  const trustedColumn = (name: string, otherwise: string) => (run.trustedAccounts ? (author.columns?.[name] ?? otherwise) : otherwise);
  const row = {
    ...(isFree ? { ID: author.id } : {}),
    user_login: login,
    user_pass: access.passwordHash,
    user_nicename: uniqueSlug(nicename, nicenames, NICENAME_BYTES),
    user_email: firstCharacters(replaceLoneSurrogates(author.email), MAX_LENGTHS.email),
    user_url: trustedColumn('user_url', ''),
    user_registered: trustedColumn('user_registered', utcFromDate(run.site.clock())),
    user_activation_key: '',
    user_status: 0,
    display_name: nameOf(run.trustedAccounts, author.displayName) || nameOf(run.trustedAccounts, login),
  };
  touched.any = true;
  if (hasApplicationPassword(access)) await noteApplicationPasswords(db);
  return insertUser(db, row, { nickname: storedText(login), ...metasOf(run.trustedAccounts, author), ...accessMetas(db, access) });
}

/**
 * Returns the login to store. The login in a file is untrusted text, so that markup is removed (as with
 * `sanitize_user`).
 */
function loginOf(trustedAccounts: boolean, sourceLogin: string): string {
  const login = stripControlCharacters(replaceLoneSurrogates(sourceLogin));
  return firstCharacters((trustedAccounts ? login : sanitizeTextField(login).replace(/[<>"'`&]/g, '')).trim(), MAX_LENGTHS.login);
}

/** Returns the email address to store. An address from a file that contains markup or is invalid becomes empty. */
const emailOf = (trustedAccounts: boolean, email: string): string =>
  trustedAccounts || /^[^\s@<>"]+@[^\s@<>"]+$/.test(email) ? email : '';

/**
 * Returns the display name to store. The name in a file is untrusted text; WordPress filters display names like names
 * of terms (`pre_user_display_name`).
 */
function nameOf(trustedAccounts: boolean, displayName: string): string {
  const name = stripControlCharacters(replaceLoneSurrogates(displayName));
  return trustedAccounts ? firstCharacters(name, MAX_LENGTHS.name) : sanitizeDisplayName(name);
}

const metasOf = (trustedAccounts: boolean, { metas }: AuthorItem): Record<string, StoredValue> =>
  Object.fromEntries(
    metas
      .filter(([key]) => IMPORTED_METAS.has(key))
      .map(([key, value]) => [key, storedText(trustedAccounts ? value : filterOf(key)(value))] as const),
  );

const accessMetas = (db: Work['db'], access: AuthorAccess): Record<string, StoredValue> => ({
  [capabilitiesKey(db)]: access.capabilities,
  [levelKey(db)]: access.user_level,
  ...(access.applicationPasswords === undefined ? {} : { [PASSWORDS_KEY]: access.applicationPasswords }),
});

const filterOf = (key: string) => (key === 'description' ? sanitizeTermDescription : sanitizeTermName);

import { existsSync } from 'node:fs';
import { PASSWORDS_KEY } from '../accounts/stored-passwords.ts';
import { OCCURRENCE_BASE_OPTION, occurrenceBase, type RecurrenceSettings } from '../calendar/settings.ts';
import { postKind, postTypes } from '../kinds/index.ts';
import { type Database, hasTable, openDatabase } from '../storage/engine/database.ts';
import { pagesById } from '../storage/engine/pages.ts';
import { sqlitePath } from '../storage/engine/sqlite/connection.ts';
import { findLanguages } from '../storage/languages/detect.ts';
import { authorsOfTypes } from '../storage/lists/named-by-posts.ts';
import { countTypes, idsOfType } from '../storage/lists/posts-of-type.ts';
import { readOptions } from '../storage/rows/options.ts';
import { loadAllUsers, type StoredUser } from '../storage/rows/users.ts';
import { findRecurrenceTables } from '../storage/schema/recurrence-tables.ts';
import { parseRoles, userCapabilities } from '../wordpress/capabilities.ts';
import { NETWORK_ADMINS, NETWORK_REWRITING, type Network, networkOf } from '../wordpress/network.ts';
import { parseSerialized, toSerialized } from '../wordpress/php/serialized.ts';
import { activePlugins, NETWORK_PLUGINS, SITE_PLUGINS } from '../wordpress/plugins.ts';
import { siteAddress, uploadsAddress } from '../wordpress/site-address.ts';
import { trimEndOf } from '../wordpress/trim.ts';
import { IMPORTED_OPTIONS } from './import/imported-settings.ts';
import { settingsItem } from './import/write-settings.ts';
import { withLanguages } from './items/item-languages.ts';
import { type AuthorItem, type Entry, SourceFault } from './items/items.ts';
import { authorItem, POST_ORDER, postItems, termItems, termPlaces, typeOf, withRecurrence } from './items/site-items.ts';
import { type Source, siteName } from './items/source.ts';

/**
 * Location of a WordPress. `prefix`: as in its `wp-config.php`; `site`: number of a site of a network, which is part of
 * the names of its tables.
 */
export interface DatabaseSource {
  readonly url: string;
  readonly prefix: string;
  readonly site?: number | undefined;
}

/** Number of posts that are read at a time. */
const PAGE_SIZE = 200;
/** Types of posts that belong to other posts. */
const DEPENDENT_POST_TYPES = new Set(['revision']);
const AUTHOR_METAS = ['first_name', 'last_name', 'nickname', 'description', 'locale', PASSWORDS_KEY];

/**
 * Opens a WordPress database for reading; nothing is written to it.
 *
 * @throws SourceFault `unreadable` if the file does not exist, `no-wordpress` if the tables do not exist,
 * DatabaseUnavailable
 */
export async function openWordpressDatabase({ url, prefix, site = 1 }: DatabaseSource): Promise<Source> {
  // Opening a missing SQLite file would create it.
  const file = sqlitePath(url);
  if (file !== undefined && !existsSync(file)) throw new SourceFault('unreadable', { file, what: 'ENOENT' });
  const db = await openDatabase({ url, prefix, site, use: 'read' });
  try {
    for (const table of ['posts', 'options', 'users'] as const) {
      if (!(await hasTable(db, table))) throw new SourceFault('no-wordpress', { table: db.table(table) });
    }
    const home = (await readOptions(db, ['home'])).get('home') ?? '';
    if (home === '') throw new SourceFault('no-wordpress', { table: `${db.table('options')} (home)` });
    return { name: () => siteName(home), trustedAccounts: true, close: () => db.close(), entries: () => entries(db, site) };
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** Options that determine the languages of the content. */
const LANGUAGE_OPTIONS = [SITE_PLUGINS, 'polylang', 'icl_sitepress_settings', 'permalink_structure'];

async function* entries(db: Database, site: number): AsyncGenerator<Entry> {
  const names = [
    ...IMPORTED_OPTIONS,
    ...LANGUAGE_OPTIONS,
    NETWORK_PLUGINS,
    NETWORK_ADMINS,
    'upload_path',
    'upload_url_path',
    NETWORK_REWRITING,
    'home',
    'siteurl',
    `${db.prefix}user_roles`,
    OCCURRENCE_BASE_OPTION,
  ];
  const options = await readOptions(db, names);
  yield settingsItem(options);
  const home = options.get('home') ?? '';
  const uploads = uploadsAddress(siteAddress(home) ?? trimEndOf(home, '/'), options, site);

  const logins = new Map<number, string>();
  const network = networkOf(options);
  for (const user of await authors(db, options.get(`${db.prefix}user_roles`) ?? '', network)) {
    logins.set(user.row.ID, user.row.user_login);
    yield withNetworkRights(authorItem(user, db.prefix), user, network);
  }
  const shared = activePlugins(options).includes('the-events-calendar');
  const languages = await findLanguages(db, options, { setting: 'auto', isShared: shared });
  const places = await termPlaces(db);
  yield* await withLanguages(db, languages, await termItems(db, places));

  const { posts, comments } = await countTypes(db, postTypes);
  const recurrence = await recurrenceIn(db, options);
  for (const kind of POST_ORDER) {
    for await (const ids of pagesById(PAGE_SIZE, (after, size) => idsOfType(db, typeOf(kind), after, size))) {
      const author = (id: number) => logins.get(id) ?? (id > 0 ? `#${id}` : undefined);
      const loaded = await postItems(db, kind, ids, { author, uploads, places });
      const items = await withLanguages(db, languages, loaded);
      yield* kind === 'event' ? await withRecurrence(db, items, { recurrence }) : items;
    }
  }
  for (const [type, number] of posts) {
    if (type !== 'attachment' && !postTypes.includes(type) && !DEPENDENT_POST_TYPES.has(type))
      yield { kind: 'skipped', what: type, count: number };
  }
  const revisions = posts.get('revision') ?? 0;
  if (revisions > 0) yield { kind: 'skipped', what: 'revision', count: revisions };
  if (comments > 0) yield { kind: 'skipped', what: 'comment', count: comments };
}

/**
 * Returns the settings for recurring events if the source has tables for them, with the base of public ids of their
 * dates.
 */
async function recurrenceIn(db: Database, options: ReadonlyMap<string, string>): Promise<RecurrenceSettings | undefined> {
  if (!(await hasTable(db, 'tec_occurrences'))) return undefined;
  const { columns, series } = await findRecurrenceTables(db);
  return columns ? { base: occurrenceBase(options), series } : undefined;
}

/** Returns the authors of calendar records, and all other users who may write posts or events on this site. */
async function authors(db: Database, storedRoles: string, network: Network | undefined): Promise<StoredUser[]> {
  const authorIds = new Set(await authorsOfTypes(db, [...postTypes, 'attachment']));
  const roles = parseRoles(parseSerialized(storedRoles));
  const [capabilities, level] = [`${db.prefix}capabilities`, `${db.prefix}user_level`];
  const users = await loadAllUsers(db, [...AUTHOR_METAS, capabilities, level]);
  return users.filter(({ row, metas }) => {
    if (authorIds.has(row.ID) || network?.admins.has(row.user_login)) return true;
    const grantedCapabilities = userCapabilities(parseSerialized(metas.get(capabilities) ?? ''), roles);
    return grantedCapabilities.has('edit_posts') || grantedCapabilities.has(`edit_${postKind('event').capabilities}`);
  });
}

/**
 * Returns a user with the rights that the network gives and takes on all of its sites: its administrators may do
 * everything, whatever their role on the site.
 */
function withNetworkRights(item: AuthorItem, { row }: StoredUser, network: Network | undefined): AuthorItem {
  if (!network) return item;
  if (Number(row.spam ?? 0) === 1) return { ...item, isSpam: true };
  return network.admins.has(row.user_login) ? { ...item, metas: [...new Map([...item.metas, ...ADMINISTRATOR])] } : item;
}

const ADMINISTRATOR: AuthorItem['metas'] = [
  ['capabilities', toSerialized({ administrator: true })],
  ['user_level', '10'],
];

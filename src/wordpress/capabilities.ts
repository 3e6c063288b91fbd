import { objectOf } from '../objects.ts';
import { parseSerialized } from './php/serialized.ts';
import { isPrivate, isPublic, isPublished } from './status.ts';
import type { Viewer } from './viewer.ts';

/** A role's display name and its capabilities; `false` denies a capability that an earlier role grants. */
export interface Role {
  readonly name: string;
  readonly capabilities: Readonly<Record<string, boolean>>;
}
export type Roles = ReadonlyMap<string, Role>;

/** Properties of a post on which its meta capabilities depend. */
export interface OwnedPost {
  /** `post_author`. */
  readonly author: number;
  readonly status: string;
  /** `_wp_trash_meta_status`: the status before it was moved to the trash. */
  readonly trashedFrom?: string | undefined;
}

/**
 * Returns the roles stored in the option `{prefix}user_roles`. `stored`: its text, or the value parsed from it. An
 * invalid value counts as no roles.
 */
export function parseRoles(stored: unknown): Roles {
  return new Map(
    Object.entries(membersOf(stored)).map(([key, role]) => {
      const { name, capabilities } = membersOf(role);
      return [key, { name: typeof name === 'string' ? name : key, capabilities: grants(capabilities) }];
    }),
  );
}

/**
 * Returns the capabilities of a user: those of the user's roles, in the order in which the user has them, then the
 * user's own grants and denials, including role names (WordPress `WP_User::get_role_caps`). `userCaps`: usermeta
 * `{prefix}capabilities`, as text or parsed. A role that is stored as false grants nothing, although WordPress takes
 * every key that is the name of a role: no role is meant to be held by denying it.
 */
export function userCapabilities(userCaps: unknown, roles: Roles): ReadonlySet<string> {
  const ownGrants = grants(membersOf(userCaps));
  const roleCapabilities = Object.entries(ownGrants).flatMap(([key, isGranted]) => (isGranted ? [roles.get(key)?.capabilities ?? {}] : []));
  const all = new Map([...roleCapabilities, ownGrants].flatMap((capabilities) => Object.entries(capabilities)));
  return new Set(['exist', ...[...all].filter(([, granted]) => granted).map(([capability]) => capability)]);
}

/**
 * Returns whether the viewer may edit, delete or read a post (WordPress `map_meta_cap` for types with mapped
 * capabilities). `plural`: the type's word in primitive capabilities, `tribe_events` for `edit_tribe_events`.
 */
export function mapMetaCap(verb: 'edit' | 'delete' | 'read', viewer: Viewer, post: OwnedPost, plural: string): boolean {
  const isOwn = viewer.id > 0 && post.author === viewer.id;
  if (verb === 'read') {
    if (isPublic(post.status)) return true;
    if (isOwn) return viewer.can('read');
    return isPrivate(post.status) ? viewer.can(`read_private_${plural}`) : mapMetaCap('edit', viewer, post, plural);
  }
  if (isOwn) {
    const status = post.status === 'trash' ? (post.trashedFrom ?? '') : post.status;
    return viewer.can(isPublished(status) ? `${verb}_published_${plural}` : `${verb}_${plural}`);
  }
  if (!viewer.can(`${verb}_others_${plural}`)) return false;
  if (isPublished(post.status)) return viewer.can(`${verb}_published_${plural}`);
  return !isPrivate(post.status) || viewer.can(`${verb}_private_${plural}`);
}

/**
 * Returns the roles of a new site: WordPress's roles with the capabilities that The Events Calendar adds. To be stored
 * in `{prefix}user_roles` by `toSerialized`.
 */
export function defaultRoles(): Record<string, { name: string; capabilities: Record<string, true> }> {
  const role = (name: string, ...capabilities: string[]) => ({
    name,
    capabilities: Object.fromEntries(capabilities.map((one) => [one, true as const])),
  });
  return {
    administrator: role(
      'Administrator',
      ...ADMINISTRATION,
      ...levels(10),
      ...EDITOR_PAGE_CAPABILITIES,
      ...UPKEEP,
      ...ofTypes(EDITOR_VERBS),
    ),
    editor: role('Editor', ...EDITOR_CAPABILITIES, ...levels(7), ...EDITOR_PAGE_CAPABILITIES, ...ofTypes(EDITOR_VERBS)),
    author: role(
      'Author',
      ...words('upload_files edit_posts edit_published_posts publish_posts read'),
      ...levels(2),
      ...words('delete_posts delete_published_posts'),
      ...ofTypes(AUTHOR_VERBS),
    ),
    contributor: role('Contributor', 'edit_posts', 'read', ...levels(1), 'delete_posts', ...ofTypes(CONTRIBUTOR_VERBS)),
    subscriber: role('Subscriber', 'read', ...levels(0)),
  };
}

const words = (text: string) => text.trim().split(/\s+/);

/** User levels of old WordPress versions, in descending order: `level_2`, `level_1`, `level_0`. */
const levels = (highest: number) => Array.from({ length: highest + 1 }, (_, index) => `level_${highest - index}`);

/** Capabilities of editors for posts and pages. */
const EDITOR_CAPABILITIES =
  words(`moderate_comments manage_categories manage_links upload_files unfiltered_html edit_posts edit_others_posts
  edit_published_posts publish_posts edit_pages read`);
const EDITOR_PAGE_CAPABILITIES =
  words(`edit_others_pages edit_published_pages publish_pages delete_pages delete_others_pages delete_published_pages
  delete_posts delete_others_posts delete_published_posts delete_private_posts edit_private_posts read_private_posts
  delete_private_pages edit_private_pages read_private_pages`);
const ADMINISTRATION = words(`switch_themes edit_themes activate_plugins edit_plugins edit_users edit_files manage_options moderate_comments
  manage_categories manage_links upload_files import unfiltered_html edit_posts edit_others_posts edit_published_posts publish_posts
  edit_pages read`);
const UPKEEP = words(`delete_users create_users unfiltered_upload edit_dashboard update_plugins delete_plugins install_plugins update_themes
  install_themes update_core list_users remove_users promote_users edit_theme_options delete_themes export`);

/** Verbs for the calendar's types: of editors and administrators, of authors, of contributors. */
const EDITOR_VERBS = words(
  `read_private edit edit_others edit_private edit_published delete delete_others delete_private delete_published publish`,
);
const AUTHOR_VERBS = words('edit edit_published delete delete_published publish');
const CONTRIBUTOR_VERBS = words('edit delete');
const TYPES = ['tribe_events', 'tribe_venues', 'tribe_organizers', 'aggregator-records'];
const ofTypes = (verbs: readonly string[]) => TYPES.flatMap((type) => verbs.map((verb) => `${verb}_${type}`));

/** Returns the members of a stored PHP array, or an empty object for anything else. */
const membersOf = (stored: unknown): Readonly<Record<string, unknown>> =>
  objectOf(typeof stored === 'string' ? parseSerialized(stored) : stored);

/** Returns the capabilities as booleans, with PHP's rules: empty texts, "0", 0 and null deny. */
function grants(capabilities: unknown): Record<string, boolean> {
  return Object.fromEntries(Object.entries(membersOf(capabilities)).map(([name, value]) => [name, Boolean(value) && value !== '0']));
}

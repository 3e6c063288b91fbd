import type { SettingName } from '../../calendar/settings.ts';
import { avatarUrls } from '../../wordpress/avatar.ts';
import { authorUrl, coreUrl } from '../../wordpress/links.ts';
import { type CoreContext, EDIT_ONLY, isoDate, type Methods, membersInView, VIEW_AND_EDIT, type View } from './view.ts';

/** A person, as read from the rows of `users` and `usermeta`. */
export interface Person {
  readonly id: number;
  readonly login: string;
  readonly email: string;
  readonly displayName: string;
  readonly nicename: string;
  readonly url: string;
  /** UTC, `YYYY-MM-DD HH:MM:SS`. */
  readonly registered: string;
  readonly description: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly nickname: string;
  readonly locale: string;
  readonly roles: readonly string[];
  /** All capabilities from roles and direct grants, and those from direct grants alone. */
  readonly capabilities: readonly string[];
  readonly grants: readonly string[];
  /** Preferences stored by the editor, shown only to users who may edit the person. */
  readonly preferences: object;
}

/** Members that are not shown in every context (`WP_REST_Users_Controller::get_item_schema`). */
const MEMBER_VIEWS: Readonly<Record<string, readonly View[]>> = {
  username: EDIT_ONLY, first_name: EDIT_ONLY, last_name: EDIT_ONLY, email: EDIT_ONLY, locale: EDIT_ONLY, nickname: EDIT_ONLY, roles: EDIT_ONLY, registered_date: EDIT_ONLY,
  capabilities: EDIT_ONLY, extra_capabilities: EDIT_ONLY, meta: VIEW_AND_EDIT,
}; // biome-ignore format: pairs

/** Returns a person as WordPress's own routes show one (`WP_REST_Users_Controller::prepare_item_for_response`). */
export function coreUser(person: Person, context: CoreContext, methods: Methods): Record<string, unknown> {
  const { settings, home } = context;
  const option = (name: SettingName, fallback: string) => settings.raw.get(name) || fallback;
  const record = {
    id: person.id,
    username: person.login,
    name: person.displayName,
    first_name: person.firstName,
    last_name: person.lastName,
    email: person.email,
    url: person.url,
    description: person.description,
    link: authorUrl({ home, permalinkStructure: settings.permalinkStructure }, { id: person.id, nicename: person.nicename }),
    locale: person.locale || option('WPLANG', 'en_US'),
    nickname: person.nickname,
    slug: person.nicename,
    roles: person.roles,
    registered_date: `${isoDate(person.registered)}+00:00`,
    capabilities: grantsOf(person.capabilities),
    extra_capabilities: grantsOf(person.grants),
    ...(['', '0'].includes(option('show_avatars', '1'))
      ? {}
      : {
          avatar_urls: avatarUrls(person.email, {
            defaultPicture: option('avatar_default', 'mystery'),
            rating: option('avatar_rating', 'G'),
          }),
        }),
    meta: context.view === 'edit' ? { persisted_preferences: person.preferences } : [],
  };
  const links = {
    self: [{ href: coreUrl(context, `users/${person.id}`), targetHints: { allow: methods } }],
    collection: [{ href: coreUrl(context, 'users') }],
  };
  return { ...membersInView(record, context.view, MEMBER_VIEWS), _links: links };
}

const grantsOf = (capabilities: readonly string[]) => Object.fromEntries(capabilities.map((capability) => [capability, true]));

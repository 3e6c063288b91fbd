import { kindOnSite } from '../kinds/custom-fields.ts';
import type { PostKind } from '../kinds/kind.ts';
import type { Field, Values } from '../kinds/param.ts';
import type { Visit } from './visit.ts';

/*
 * Selection and order of the fields in a form. A field that is not named here is at the end of the main part.
 */

/** Fields next to the main part, in groups. */
const SIDEBAR_FIELDS = {
  publish: ['status', 'date', 'author', 'slug', 'language'],
  image: ['image'],
  categories: ['categories'],
  tags: ['tags'],
  shown: ['featured', 'sticky', 'hide_from_listings', 'show_map', 'show_map_link'],
} as const satisfies Record<string, readonly string[]>;
export type SidebarGroup = keyof typeof SIDEBAR_FIELDS;

/** Fields of the main part in order; those that the kind does not have are skipped. */
const MAIN_FIELDS = [
  'title', 'start_date', 'end_date', 'all_day', 'timezone', 'venue', 'organizer', 'description', 'excerpt', 'cost', 'website',
  'address', 'city', 'zip', 'province', 'state', 'stateprovince', 'country', 'geo_lat', 'geo_lng', 'phone', 'email',
]; // biome-ignore format: a list of names

/**
 * Fields without an input: the same date is in the form in the site's local time; translations are linked on their own
 * pages.
 */
const OMITTED_FIELDS: ReadonlySet<string> = new Set(['date_utc', 'translations', 'translation_of']);

export interface FormPlan {
  readonly kind: PostKind;
  readonly main: readonly string[];
  readonly sidebar: readonly { readonly group: SidebarGroup; readonly names: readonly string[] }[];
  /** Names of all fields in the form. */
  readonly names: readonly string[];
}

/**
 * Returns the form of a kind for this caller, without the fields that the caller may not set. The slug is one of them
 * if the caller may not publish, since it is dropped while the record is pending review (`wp_insert_post`).
 */
export function formPlan({ settings, caller }: Visit, declaredKind: PostKind): FormPlan {
  const kind = kindOnSite(declaredKind, settings);
  const { viewer } = caller;
  const mayEditOthers = viewer.can(`edit_others_${kind.capabilities}`);
  const mayPromote = mayEditOthers || viewer.can(`publish_${kind.capabilities}`);
  const allowedNames = Object.entries<Field>(kind.fields).flatMap(([name, field]) =>
    OMITTED_FIELDS.has(name) || ((field.promotes || name === 'slug') && !mayPromote) || (name === 'author' && !mayEditOthers) ? [] : [name],
  );
  const sidebarNames: readonly string[] = Object.values(SIDEBAR_FIELDS).flat();
  const place = (name: string) => {
    const index = name === kind.titleField ? 0 : MAIN_FIELDS.indexOf(name);
    return index < 0 ? MAIN_FIELDS.length : index;
  };
  const main = allowedNames.filter((name) => !sidebarNames.includes(name)).sort((one, other) => place(one) - place(other));
  const sidebar = Object.entries(SIDEBAR_FIELDS).flatMap(([group, names]) => {
    const groupNames = names.filter((name) => allowedNames.includes(name));
    return groupNames.length > 0 ? [{ group: group as SidebarGroup, names: groupNames }] : [];
  });
  return { kind, main, sidebar, names: [...main, ...sidebar.flatMap(({ names }) => names)] };
}

/** Returns the initial values in the form of a new record. */
export function initialValues({ settings, caller }: Visit, kind: PostKind): Values {
  const { viewer } = caller;
  return {
    status: viewer.can(`publish_${kind.capabilities}`) ? 'publish' : 'pending',
    ...('author' in kind.fields ? { author: viewer.id } : {}),
    ...(settings.contentLanguages && 'language' in kind.fields ? { language: settings.contentLanguages.defaultCode } : {}),
    ...('timezone' in kind.fields ? { timezone: settings.timezone } : {}),
    // A new venue shows maps by default.
    ...(kind.hasDates
      ? {}
      : Object.fromEntries(['show_map', 'show_map_link'].filter((name) => name in kind.fields).map((name) => [name, true]))),
  };
}

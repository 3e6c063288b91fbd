import type { Condition, ConditionBy, InLanguage, LinkedRecords, ThroughGroups } from '../kinds/condition.ts';
import { postKind } from '../kinds/index.ts';
import type { PostKind } from '../kinds/kind.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import type { RecordKeys } from '../storage/languages/form.ts';
import { formOf } from '../storage/languages/forms.ts';
import { withReplaced } from '../storage/lists/replaced-records.ts';
import { loadPosts } from '../storage/rows/bundle.ts';
import { type ContentLanguages, isTranslated, languageOfCode } from '../wordpress/content-languages.ts';
import { ANONYMOUS } from '../wordpress/viewer.ts';
import { type Caller, settingsFor } from './caller.ts';
import { withDescendantTerms } from './descendant-terms.ts';
import { mayRead } from './visibility.ts';

/*
 * The effect of the requested language on a list.
 */

/**
 * Returns the language to which a list of a post type or taxonomy is limited; undefined: all languages. `fallback`:
 * whether records of the default language, and those without a language, stand in for missing translations; undefined:
 * the site's setting.
 */
export function languageOfList({ settings, content }: Caller, name: string, fallback: boolean | undefined): InLanguage | undefined {
  const { contentLanguages: languages } = settings;
  if (content.code === undefined || !isTranslated(languages, name)) return undefined;
  const isFilled = fallback ?? languages.withFallback.includes(name);
  return { languages, code: content.code, fill: fallback ? 'stand-ins-and-neutral' : isFilled ? 'stand-ins' : 'nothing' };
}

/** Options for limiting a list to the requested language. */
interface LanguageOptions {
  /** As in `languageOfList`. */
  readonly fallback?: boolean | undefined;
  /** Finds the records that an event links to, as the event shows them. */
  readonly linksShownIn?: (site: Site, caller: Caller, key: string, event: number) => Promise<number[]>;
}

/**
 * Returns the conditions of a list in the requested language. Terms, venues and organizers, named or described, then
 * also match by their translations. The records that one event links to are listed in any language, as the event shows
 * them; `linksShownIn` finds them.
 */
export async function contentConditions(
  site: Site,
  caller: Caller,
  kind: PostKind,
  conditions: readonly Condition[],
  { fallback, linksShownIn }: LanguageOptions = {},
): Promise<readonly Condition[]> {
  const { contentLanguages } = caller.settings;
  if (!contentLanguages || caller.content.code === undefined) return conditions;
  const linkCondition = conditions.find((condition) => condition.by === 'linkedFrom');
  if (linkCondition && linksShownIn) {
    const ids = await linksShownIn(site, caller, linkCondition.key, linkCondition.event);
    return conditions.map((condition) => (condition === linkCondition ? { by: 'id', ids } : condition));
  }
  const inLanguage = languageOfList(caller, kind.postType, fallback);
  const list = { db: site.db, caller, languages: contentLanguages, fallback };
  const widened = await Promise.all(conditions.map((condition) => withTranslations(list, condition)));
  return inLanguage ? [...widened, { by: 'language', ...inLanguage }] : widened;
}

/**
 * Sorts posts: those in the requested language first, then those without a language, each in the given order. A record
 * and its translation may share a slug.
 */
export async function inOrderOfLanguage(
  db: Database,
  { settings: { contentLanguages: languages }, content: { code } }: Caller,
  { postType }: PostKind,
  ids: readonly number[],
): Promise<readonly number[]> {
  if (ids.length < 2 || code === undefined || !isTranslated(languages, postType)) return ids;
  const { posts } = await formOf(languages).memberships(db, languages, { posts: ids, terms: [] });
  const rankOf = (id: number) => {
    const language = posts.get(id)?.language ?? null;
    return language === code ? 0 : language === null ? 1 : 2;
  };
  return ids.toSorted((one, other) => rankOf(one) - rankOf(other));
}

/** Chooses one of several posts: the first one in the order of languages. */
export const idInLanguage = async (...args: Parameters<typeof inOrderOfLanguage>): Promise<number | undefined> =>
  (await inOrderOfLanguage(...args))[0];

/**
 * Returns those of these posts or terms whose language is hidden from visitors (WPML hides a language that is still
 * being prepared). To an anonymous caller they look like records without a language; nothing should link to them.
 */
export async function hiddenFromVisitors(site: Site, keys: RecordKeys): Promise<ReadonlySet<number>> {
  const settings = await site.settings();
  const [allLanguages, visitorLanguages] = [settings.contentLanguages, settingsFor(settings, ANONYMOUS).contentLanguages];
  if (!allLanguages || !visitorLanguages || visitorLanguages === allLanguages) return new Set();
  const { posts, terms } = await formOf(allLanguages).memberships(site.db, allLanguages, keys);
  const hiddenMemberships = [...posts, ...terms].filter(
    ([, { language }]) => language !== null && !languageOfCode(visitorLanguages, language),
  );
  return new Set(hiddenMemberships.map(([id]) => id));
}

const EVENT = postKind('event');

/** A list in a language. `fallback`: as in `languageOfList`. */
interface ListInLanguage {
  readonly db: Database;
  readonly caller: Caller;
  readonly languages: ContentLanguages;
  readonly fallback: boolean | undefined;
}

/** Returns the same condition, matching translations as well. */
async function withTranslations(list: ListInLanguage, condition: Condition): Promise<Condition> {
  // The compiler cannot see that the entry with this name takes a condition of that type.
  const widen = WIDENED[condition.by] as ((condition: Condition, list: ListInLanguage) => Condition | Promise<Condition>) | 'unchanged';
  return widen === 'unchanged' ? condition : widen(condition, list);
}

/** For each kind of condition, a function that makes it match translations as well. */
const WIDENED: {
  readonly [By in Condition['by']]: ((condition: ConditionBy<By>, list: ListInLanguage) => Condition | Promise<Condition>) | 'unchanged';
} = {
  id: 'unchanged',
  notId: 'unchanged',
  author: 'unchanged',
  notAuthor: 'unchanged',
  parents: 'unchanged',
  notParents: 'unchanged',
  slug: 'unchanged',
  parent: 'unchanged',
  place: 'unchanged',
  moment: 'unchanged',
  overlap: 'unchanged',
  modified: 'unchanged',
  published: 'unchanged',
  mime: 'unchanged',
  words: 'unchanged',
  meta: 'unchanged',
  metaIs: 'unchanged',
  metaValue: 'unchanged',
  format: 'unchanged',
  ticketed: 'unchanged',
  language: 'unchanged',
  // It names one event and shows what that event has.
  linkedFrom: 'unchanged',
  either: async (condition, list) => ({
    ...condition,
    conditions: await Promise.all(condition.conditions.map((one) => withTranslations(list, one))),
  }),
  terms: (condition, { db, languages }) =>
    withDescendantTerms(db, condition, withTermTranslations(db, languages, condition.taxonomy, condition.ids)),
  links: async (condition, list) => ({ ...condition, ...(await withPostTranslations(list, condition.ids)) }),
  linkedFromAny: (condition, { caller, fallback }) => {
    const inLanguage = languageOfList(caller, EVENT.postType, fallback);
    return inLanguage ? { ...condition, inLanguage } : condition;
  },
  linkedMeta: (condition, list) => ({ ...condition, ...throughGroups(list, condition.link) }),
  placed: (condition, list) => ({ ...condition, ...throughGroups(list, condition.link) }),
  near: (condition, list) => ({ ...condition, ...throughGroups(list, condition.link) }),
};

/** Returns the language of the events in a list, if the records to which they link by this meta have translations. */
function throughGroups({ caller, languages, fallback }: ListInLanguage, link: string | undefined): ThroughGroups {
  const kind = link === undefined ? undefined : EVENT.links[link];
  const eventsIn = kind && isTranslated(languages, postKind(kind).postType) ? languageOfList(caller, EVENT.postType, fallback) : undefined;
  return eventsIn ? { eventsIn } : {};
}

/**
 * Returns these terms and their translations. Deleted ones may be among them, which is harmless, since no record has
 * them.
 */
export async function withTermTranslations(
  db: Database,
  languages: ContentLanguages,
  taxonomy: string,
  ids: readonly number[],
): Promise<readonly number[]> {
  if (ids.length === 0 || !isTranslated(languages, taxonomy)) return ids;
  const terms = ids.map((id) => ({ term_id: id, taxonomy }));
  const { terms: memberships } = await formOf(languages).memberships(db, languages, { posts: [], terms });
  return [...new Set([...ids, ...[...memberships.values()].flatMap(({ members }) => [...members.values()])])];
}

/**
 * Returns these records, their translations that the caller may read, and the others that events show a translation in
 * place of.
 */
async function withPostTranslations({ db, caller, languages, fallback }: ListInLanguage, ids: readonly number[]): Promise<LinkedRecords> {
  if (ids.length === 0) return { ids };
  const { posts: memberships } = await formOf(languages).memberships(db, languages, { posts: ids, terms: [] });
  const rows = await loadPosts(db, [...ids, ...[...memberships.values()].flatMap(({ members }) => [...members.values()])]);
  const translations = ids.flatMap((id) => {
    const [type, members] = [rows.get(id)?.post_type ?? '', memberships.get(id)?.members];
    return members && isTranslated(languages, type) ? [...members.values()].map((member) => ({ id: member, members, type })) : [];
  });
  const [visibleIds, hidden] = [[...ids], [] as typeof translations];
  for (const translation of translations) {
    const row = rows.get(translation.id);
    if (row?.post_type !== translation.type) continue;
    if (mayRead(caller.viewer, row)) visibleIds.push(row.ID);
    else if (!ids.includes(row.ID)) hidden.push(translation);
  }
  const eventsIn = languageOfList(caller, EVENT.postType, fallback);
  if (!eventsIn) return { ids: [...new Set(visibleIds)] };
  return withReplaced(eventsIn, visibleIds, hidden, (id) => rows.get(id)?.post_status === 'publish');
}

import { kinds } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { type Site, withinTransaction } from '../site.ts';
import { noteChange } from '../storage/journal/reported-changes.ts';
import { addLanguage, countInLanguage, LANGUAGES_OPTION, recordsWithoutLanguage } from '../storage/translations/site-languages.ts';
import type { ContentLanguage, ContentLanguages } from '../wordpress/content-languages.ts';
import { languageOfCode } from '../wordpress/content-languages.ts';
import { isLanguageCode, isLocale, isRightToLeft, knownLanguage } from '../wordpress/language-names.ts';
import type { Caller } from './caller.ts';
import { RESERVED_SEGMENTS, slugsThatBeginWith } from './first-segments.ts';
import { rebuildIndexIfUsed, updateIndex } from './list-index.ts';
import { assignToNeutral, languagesOf, languagesOfRecords } from './record-languages.ts';

/**
 * Reasons why a language cannot be added or assigned to records; each is a key in `locales/<language>/cli.json` under
 * `errors`.
 */
export type LanguageProblem =
  | 'language-code-invalid'
  | 'language-locale-invalid'
  | 'language-locale-missing'
  | 'language-name-missing'
  | 'language-known'
  | 'language-is-slug'
  | 'language-unknown'
  | 'link-without-language'
  | 'link-same-language'
  | 'field-option'
  | 'languages-of-wpml'
  | 'languages-only-of-wpml'
  | 'languages-off'
  | 'languages-without-plugin'
  | 'no-languages';

/** Thrown if languages cannot be changed as requested. */
export class LanguageError extends Error {
  readonly problem: LanguageProblem;
  readonly values: Readonly<Record<string, string>>;

  constructor(problem: LanguageProblem, values: Readonly<Record<string, string>> = {}) {
    super(problem);
    this.problem = problem;
    this.values = values;
  }
}

/** A language to add. Missing members are derived from its code. */
export interface NewLanguage {
  readonly code: string;
  readonly locale?: string | undefined;
  readonly name?: string | undefined;
  readonly isDefault?: boolean | undefined;
}

/**
 * Checks that the configuration allows languages on a new site, which has no plugins.
 *
 * @throws LanguageError
 */
export function requireLanguagesOfNewSite({ contentLanguages, sharedWithWordpress }: Site['config']): void {
  if (contentLanguages === 'off') throw new LanguageError('languages-off');
  if (contentLanguages !== 'polylang' && (contentLanguages === 'wpml' || sharedWithWordpress === 'on'))
    throw languagesUnread(contentLanguages);
}

/** Returns the error that languages in Polylang's form would not be read. */
const languagesUnread = (contentLanguages: Site['config']['contentLanguages']): LanguageError =>
  new LanguageError(contentLanguages === 'wpml' ? 'languages-only-of-wpml' : 'languages-without-plugin');

/**
 * Adds a language to the site, in Polylang's form. All existing records get the first language that is added.
 *
 * @returns how many records got it
 * @throws LanguageError
 */
export async function addSiteLanguage(site: Site, newLanguage: NewLanguage): Promise<number> {
  const { contentLanguages } = site.config;
  if (contentLanguages === 'off') throw new LanguageError('languages-off');
  const { code } = newLanguage;
  if (!isLanguageCode(code)) throw new LanguageError('language-code-invalid', { code });
  const defaults = knownLanguage(code);
  const { locale = defaults?.locale ?? '', name = defaults?.name ?? '', isDefault = false } = newLanguage;
  if (locale === '') throw new LanguageError('language-locale-missing', { code });
  if (!isLocale(locale)) throw new LanguageError('language-locale-invalid', { locale });
  if (name.trim() === '') throw new LanguageError('language-name-missing', { code });
  const assignedCount = await site.db.transaction(async (db) => {
    const innerSite = withinTransaction(site, db);
    const settings = await innerSite.settings();
    const before = settings.contentLanguages;
    if (before?.form === 'wpml') throw new LanguageError('languages-of-wpml');
    if (languageOfCode(before ?? { languages: [] }, code)) throw new LanguageError('language-known', { code });
    // Addresses of the pages with this segment would be read as those of the language.
    if (RESERVED_SEGMENTS.has(code) || slugsThatBeginWith(settings, [code]).length > 0)
      throw new LanguageError('language-is-slug', { code });
    if (!(await addLanguage(db, { code, locale, name: name.trim(), rtl: isRightToLeft(code), isDefault })))
      throw new LanguageError('field-option', { option: LANGUAGES_OPTION });
    if (!(await innerSite.settings()).contentLanguages) throw languagesUnread(contentLanguages);
    const count = before ? 0 : await assignAll(code, kinds, (assign) => assign(innerSite));
    noteChange(db, { now: site.clock() });
    return count;
  });
  await rebuildIndexIfUsed(site);
  return assignedCount;
}

/**
 * Assigns a language to all records of these kinds that have none. Those that a group of translations lists under a
 * language get that one. Each batch is a transaction of its own, since a transaction leaves WPML few numbers for its
 * own new groups.
 *
 * @returns how many records got it
 * @throws LanguageError
 */
export const assignLanguage = (site: Site, code: string, targetKinds: readonly Kind[] = kinds): Promise<number> =>
  assignAll(code, targetKinds, (assign) =>
    site.db.transaction(async (db) => {
      const count = await assign(withinTransaction(site, db));
      if (count > 0) noteChange(db, { now: site.clock() });
      return count;
    }),
  );

/**
 * Checks that records can be linked as translations. Throws if one of them has no language or two share one, with an
 * error that says what to do.
 *
 * @throws LanguageError
 */
export async function requireLinkable(site: Site, caller: Caller, kind: Kind, ids: readonly number[]): Promise<void> {
  const kindLanguages = languagesOf(caller, kind);
  if (!kindLanguages) throw new LanguageError('no-languages');
  const byCode = new Map<string, number>();
  for (const [id, code] of await languagesOfRecords(site.db, kindLanguages, ids)) {
    const errorValues = { id: String(id), kind: kind.name };
    if (code === null) throw new LanguageError('link-without-language', errorValues);
    const otherId = byCode.get(code);
    if (otherId !== undefined) throw new LanguageError('link-same-language', { ...errorValues, other: String(otherId), code });
    byCode.set(code, id);
  }
}

/** Number of records that are assigned a language at a time. */
const BATCH_SIZE = 500;

/**
 * Assigns a language to all records of these kinds, batch by batch.
 *
 * @param run carries out one batch, and returns how many records it contained
 */
async function assignAll(
  code: string,
  targetKinds: readonly Kind[],
  run: (assign: (site: Site) => Promise<number>) => Promise<number>,
): Promise<number> {
  let count = 0;
  for (const kind of targetKinds) {
    for (;;) {
      const assignedCount = await run((site) => assignBatch(site, code, kind));
      if (assignedCount === 0) break;
      count += assignedCount;
    }
  }
  return count;
}

/** Assigns a language to the next records of a kind that have none, and returns how many they are. */
async function assignBatch(site: Site, code: string, kind: Kind): Promise<number> {
  const { db } = site;
  const settings = await site.settings();
  const { contentLanguages } = settings;
  if (!contentLanguages) throw new LanguageError('no-languages');
  const language = languageOfCode(contentLanguages, code) ?? refuseUnknown(code);
  const kindLanguages = languagesOf({ settings }, kind);
  if (!kindLanguages) return 0;
  const records = await recordsWithoutLanguage(db, kindLanguages.languages, kindLanguages.translatable, BATCH_SIZE);
  if (records.length === 0) return 0;
  await assignToNeutral(db, kindLanguages, records, language);
  const ids = records.map(({ id }) => id);
  if (kind.is === 'post' && kind.hasDates) await updateIndex(db, { settings }, ids);
  return ids.length;
}

const refuseUnknown = (code: string): never => {
  throw new LanguageError('language-unknown', { code });
};

/** Number of records of each kind in a language, or without one. */
export interface LanguageCounts {
  /** Undefined: records without a language. */
  readonly language: ContentLanguage | undefined;
  readonly isDefault: boolean;
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * Counts the records of each language of the site; those without one are last.
 *
 * @throws LanguageError `no-languages`
 */
export async function countLanguages(site: Site): Promise<readonly LanguageCounts[]> {
  const settings = await site.settings();
  const { contentLanguages } = settings;
  if (!contentLanguages) throw new LanguageError('no-languages');
  const counts: LanguageCounts[] = [];
  for (const language of [...contentLanguages.languages, undefined])
    counts.push({
      language,
      isDefault: language?.code === contentLanguages.defaultCode,
      counts: await countsIn(site, contentLanguages, language),
    });
  return counts;
}

async function countsIn(site: Site, languages: ContentLanguages, language: ContentLanguage | undefined): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const kind of kinds) {
    const kindLanguages = languagesOf({ settings: { ...(await site.settings()), contentLanguages: languages } }, kind);
    if (kindLanguages) counts[kind.path] = await countInLanguage(site.db, languages, kindLanguages.translatable, language?.code ?? null);
  }
  return counts;
}

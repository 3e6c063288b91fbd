import { postTypes, taxonomies } from '../../kinds/index.ts';
import type { ContentLanguages } from '../../wordpress/content-languages.ts';
import { parseSerialized, serializedMembers, toSerialized, withMembers } from '../../wordpress/php/serialized.ts';
import { ALWAYS_TRANSLATED, type LANGUAGE_TAXONOMIES, POLYLANG_TAXONOMIES } from '../../wordpress/polylang.ts';
import type { QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';
import { insertRows } from '../engine/insert.ts';
import { reportTerm } from '../journal/reported-changes.ts';
import type { ListedRecords } from '../languages/form.ts';
import { formOf } from '../languages/forms.ts';
import { deleteOption, forgetAddressRules, lockOption, writeOption } from '../rows/options.ts';
import { countRows } from '../rows/row-count.ts';
import type { Translatable } from './language-writer.ts';

/* The languages of a site with rows in Polylang's form, and its records that have no language yet. */

/** The option with the settings of the plugin. */
export const LANGUAGES_OPTION = 'polylang';

/** A language to be added. */
export interface NewLanguage {
  readonly code: string;
  readonly locale: string;
  readonly name: string;
  readonly rtl: boolean;
  /** Whether it becomes the default language of the site. */
  readonly isDefault: boolean;
}

/**
 * The settings that Polylang needs to take over a calendar in several languages. Existing settings of the plugin are
 * kept.
 */
const REQUIRED_SETTINGS = {
  force_lang: 1,
  hide_default: true,
  rewrite: true,
  post_types: postTypes,
  taxonomies: taxonomies.filter((name) => !ALWAYS_TRANSLATED.includes(name)),
};

/**
 * Adds a language as Polylang's own settings page does: a term for posts and one for terms, after the existing
 * languages. Returns false, and adds nothing, if the settings of the plugin cannot be read: they would be lost.
 */
export async function addLanguage(db: Database, { code, locale, name, rtl, isDefault }: NewLanguage): Promise<boolean> {
  const stored = await lockOption(db, LANGUAGES_OPTION);
  if (stored !== '' && typeof parseSerialized(stored) !== 'object') return false;
  const settings = serializedMembers(stored);
  const missingSettings = Object.entries(REQUIRED_SETTINGS).filter(([setting]) => !(setting in settings));
  const first = typeof settings.default_lang !== 'string' || settings.default_lang === '';
  const changes = { ...(isDefault || first ? { default_lang: code } : {}), ...Object.fromEntries(missingSettings) };
  const changedSettings = withMembers(stored, changes);
  if (changedSettings === undefined) return false;
  const [row] = await db.rows<{ last: number | null }>`
    SELECT MAX(t.term_group) AS last FROM {terms} t JOIN {term_taxonomy} tt ON tt.term_id = t.term_id WHERE tt.taxonomy = ${POLYLANG_TAXONOMIES.post.language}`;
  const place = (row?.last ?? -1) + 1;
  await insertLanguageTerm(db, POLYLANG_TAXONOMIES.post.language, {
    name,
    slug: code,
    place,
    description: toSerialized({ locale, rtl, flag_code: '' }),
  });
  await insertLanguageTerm(db, POLYLANG_TAXONOMIES.term.language, { name, slug: `pll_${code}`, place, description: '' });
  await writeOption(db, LANGUAGES_OPTION, changedSettings);
  // The rules name the languages.
  await forgetAddressRules(db);
  // Polylang caches the languages in these transients.
  for (const name of ['_transient_pll_languages_list', '_transient_timeout_pll_languages_list']) await deleteOption(db, name);
  return true;
}

async function insertLanguageTerm(
  db: Database,
  taxonomy: (typeof LANGUAGE_TAXONOMIES)[number],
  { name, slug, place, description }: { name: string; slug: string; place: number; description: string },
): Promise<void> {
  const term_id = await insertRows(db, 'terms', [{ name, slug, term_group: place }]);
  await insertRows(db, 'term_taxonomy', [{ term_id, taxonomy, description, parent: 0, count: 0 }]);
  reportTerm(db, { term_id, taxonomy }, 'made');
}

/**
 * Counts the records of a kind in a language; null: without a language. Records that were never saved (`auto-draft`) do
 * not count.
 */
export async function countInLanguage(db: Database, languages: ContentLanguages, of: Translatable, code: string | null): Promise<number> {
  const listedRecords = listedOf(of);
  return countRows(recordsOf(db, of).where((where) => formOf(languages).whereLanguage(db, where, languages, listedRecords, code)));
}

/**
 * Returns the ids of the first `limit` records of a kind without a language, in order, and whether they are published.
 */
export async function recordsWithoutLanguage(
  db: Database,
  languages: ContentLanguages,
  of: Translatable,
  limit: number,
): Promise<{ readonly id: number; readonly isVisible: boolean }[]> {
  const listedRecords = listedOf(of);
  const query = recordsOf(db, of).where((where) => formOf(languages).whereLanguage(db, where, languages, listedRecords, null));
  if (of.is === 'term') {
    const rows: { id: number }[] = await query.orderBy('t.term_id').limit(limit).select({ id: 't.term_id' });
    return rows.map(({ id }) => ({ id, isVisible: false }));
  }
  const rows: {
    id: number;
    status: string;
  }[] = await query.orderBy('p.ID').limit(limit).select({ id: 'p.ID', status: 'p.post_status' });
  return rows.map(({ id, status }) => ({ id, isVisible: status === 'publish' }));
}

const listedOf = ({ is, type }: Translatable): ListedRecords => (is === 'post' ? { is, name: type, alias: 'p' } : { is, name: type });

const recordsOf = (db: Database, { is, type }: Translatable): QueryBuilder =>
  is === 'post'
    ? db.from('posts', 'p').where('p.post_type', type).whereNot('p.post_status', 'auto-draft')
    : db
        .from('term_taxonomy', 'tt')
        .join({ t: db.table('terms') }, 't.term_id', 'tt.term_id')
        .where('tt.taxonomy', type);

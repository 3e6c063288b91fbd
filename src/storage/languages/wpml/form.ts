import { postKinds, taxonomies } from '../../../kinds/index.ts';
import { objectOf } from '../../../objects.ts';
import { type ContentLanguages, type LanguageUrls, languageOfCode, type Membership } from '../../../wordpress/content-languages.ts';
import { serializedMembers } from '../../../wordpress/php/serialized.ts';
import type { Term } from '../../../wordpress/rows.ts';
import type { QueryBuilder } from '../../engine/builder.ts';
import { type Database, hasTable } from '../../engine/database.ts';
import { placeholders } from '../../engine/select-together.ts';
import { verbatim } from '../../engine/statement.ts';
import { dependingOn, termDependency } from '../../journal/dependencies.ts';
import { dependenciesOf, type LanguageForm, type ListedRecords, type NamedTerm, NO_MEMBERSHIPS } from '../form.ts';
import { hostsIn } from '../hosts.ts';
import { membershipOf } from '../membership.ts';

/*
 * Languages in WPML's form: a row of `icl_translations` for each record, whose `trid` is its group. Rows of terms refer
 * to the `term_taxonomy_id`.
 */

/** Translation modes of post types and taxonomies in WPML's settings. */
const TRANSLATED_MODES = [1, 2];
const FALLBACK_MODE = 2;

export const wpml: LanguageForm = {
  async read(db, options) {
    if (!(await hasTable(db, 'icl_translations')) || !(await hasTable(db, 'icl_languages'))) return undefined;
    const settings = serializedMembers(options.get('icl_sitepress_settings'));
    const languages = await languagesIn(db, settings);
    const defaultCode = String(settings.default_language ?? '');
    if (!languageOfCode({ languages }, defaultCode)) return undefined;
    const modes = [...Object.entries(settings.custom_posts_sync_option ?? {}), ...Object.entries(settings.taxonomies_sync_option ?? {})];
    const having = (numbers: readonly number[]) => modes.filter(([, mode]) => numbers.includes(Number(mode))).map(([name]) => name);
    return {
      languages,
      defaultCode,
      translated: having(TRANSLATED_MODES),
      withFallback: having([FALLBACK_MODE]),
      urls: urlsOf(settings, defaultCode),
    };
  },

  async memberships(db, languages, records) {
    const { posts, terms } = records;
    if (posts.length + terms.length === 0) return NO_MEMBERSHIPS;
    const elements = await elementsOfTerms(db, terms);
    const rows = await dependingOn(db, dependenciesOf(records)).rows<MemberRow>`
      SELECT m.element_type AS type, CASE WHEN m.element_type IN (${TERM_ELEMENTS}) THEN tt.term_id ELSE m.element_id END AS id,
        m.language_code AS language, o.element_id AS element_of, o.language_code AS language_of, o.element_type AS type_of
      FROM {icl_translations} o ${verbatim(db.dialect.joinInOrder)} {icl_translations} m ON m.trid = o.trid
      LEFT JOIN {term_taxonomy} tt ON tt.term_taxonomy_id = m.element_id
      WHERE o.language_code <> '' AND ((o.element_id IN (${unique(posts)}) AND o.element_type IN (${POST_ELEMENTS}))
        OR (o.element_id IN (${[...elements.keys()]}) AND o.element_type IN (${TERM_ELEMENTS})))`;
    const groups = groupsIn(rows);
    return {
      posts: membershipsOf(languages, groups.post, (id) => id),
      terms: membershipsOf(languages, groups.term, (element) => elements.get(element) ?? 0),
    };
  },

  rowsOfPosts: (db, ids) => ({
    columns: {
      type: 'm.element_type',
      id: 'm.element_id',
      language: 'm.language_code',
      element_of: 'o.element_id',
      language_of: 'o.language_code',
      type_of: 'o.element_type',
    },
    from: `FROM \`${db.table('icl_translations')}\` o ${db.dialect.joinInOrder} \`${db.table('icl_translations')}\` m ON m.trid = o.trid
      WHERE o.language_code <> '' AND o.element_id IN (${placeholders(ids)}) AND o.element_type IN ('${POST_ELEMENTS.join("', '")}')`,
    bindings: ids,
  }),

  membershipsIn: (languages, rows) => {
    const members = rows.map((row) => ({
      type: row.type ?? '',
      id: row.id ?? null,
      language: row.language ?? '',
      element_of: Number(row.element_of),
      language_of: row.language_of ?? '',
      type_of: row.type_of ?? '',
    }));
    return membershipsOf(languages, groupsIn(members).post, (id) => id);
  },

  // A record in a language that is switched off, or hidden from the caller, does not count as a record without a
  // language.
  whereLanguage(db, where, _languages, records, code) {
    if (code === null) where.whereNotExists((sub: QueryBuilder) => void elementsOf(db, sub, records).where('w.language_code', '<>', ''));
    else where.whereExists((sub: QueryBuilder) => void elementsOf(db, sub, records).where('w.language_code', code));
  },

  whereInGroup(db, where, _languages, records, { code, isShown }) {
    where.whereExists((sub: QueryBuilder) => {
      elementsOf(db, sub, records)
        .joinRaw(`${db.dialect.joinInOrder} ?? wm ON wm.trid = w.trid AND wm.element_type = w.element_type`, [db.table('icl_translations')])
        .where('wm.language_code', code);
      if (records.is === 'term')
        return void sub
          .joinRaw(`${db.dialect.joinInOrder} ?? member ON member.term_taxonomy_id = wm.element_id`, [db.table('term_taxonomy')])
          .where((part: QueryBuilder) => void isShown?.(part));
      sub
        .joinRaw(`${db.dialect.joinInOrder} ?? member ON member.ID = wm.element_id`, [db.table('posts')])
        .where((part: QueryBuilder) => void isShown?.(part));
    });
  },
};

interface Group {
  readonly language: string;
  readonly members: Map<string, number>;
}

/** A member of the group of a record, with the row of the record itself (`_of`). */
interface MemberRow {
  readonly type: string;
  readonly id: number | string | null;
  readonly language: string;
  readonly element_of: number;
  readonly language_of: string;
  readonly type_of: string;
}

/** Returns the groups of posts and of terms, by the ids of their elements. */
function groupsIn(rows: readonly MemberRow[]): { readonly post: ReadonlyMap<number, Group>; readonly term: ReadonlyMap<number, Group> } {
  const groups = { post: new Map<number, Group>(), term: new Map<number, Group>() };
  for (const row of rows) {
    const kindGroups = row.type_of.startsWith('tax_') ? groups.term : groups.post;
    const group = kindGroups.get(row.element_of) ?? { language: row.language_of, members: new Map() };
    kindGroups.set(row.element_of, group);
    // A job for a translation that does not exist yet has no id, and neither does a deleted term.
    if (row.type === row.type_of && row.id !== null) group.members.set(row.language, Number(row.id));
  }
  return groups;
}

const membershipsOf = (
  languages: ContentLanguages,
  groups: ReadonlyMap<number, Group>,
  idOf: (element: number) => number,
): Map<number, Membership> =>
  new Map([...groups].map(([element, group]) => [idOf(element), membershipOf(languages, idOf(element), group.language, group.members)]));

/** Returns WPML's name for a post type or a taxonomy. */
const elementType = (is: 'post' | 'term', name: string): string => (is === 'post' ? `post_${name}` : `tax_${name}`);
const POST_ELEMENTS = postKinds.map(({ postType }) => elementType('post', postType));
const TERM_ELEMENTS = taxonomies.map((taxonomy) => elementType('term', taxonomy));

/** Maps WPML's element ids of these terms to their term ids. */
async function elementsOfTerms(db: Database, terms: readonly NamedTerm[]): Promise<Map<number, number>> {
  const unknownTerms = terms.filter((term) => term.term_taxonomy_id === undefined);
  const ids = unique(unknownTerms.map((term) => term.term_id));
  const rows =
    unknownTerms.length === 0
      ? []
      : await dependingOn(db, ids.map(termDependency)).rows<Pick<Term, 'term_id' | 'term_taxonomy_id'>>`
        SELECT term_id, term_taxonomy_id FROM {term_taxonomy} WHERE term_id IN (${ids}) AND taxonomy IN (${[...new Set(unknownTerms.map((term) => term.taxonomy))]})`;
  return new Map(
    [...terms, ...rows].flatMap((term) => (term.term_taxonomy_id === undefined ? [] : [[term.term_taxonomy_id, term.term_id]])),
  );
}

/** Selects the row (as `w`) of a record of a list. */
const elementsOf = (db: Database, sub: QueryBuilder, records: ListedRecords): QueryBuilder =>
  sub
    .select(db.raw('1'))
    .from({ w: db.table('icl_translations') })
    .where('w.element_type', elementType(records.is, records.name))
    .where('w.element_id', db.ref(records.is === 'post' ? `${records.alias}.ID` : 'tt.term_taxonomy_id'));

/** Reads the active languages in the order of the settings. */
async function languagesIn(db: Database, settings: Record<string, unknown>): Promise<ContentLanguages['languages']> {
  const [hasNames, hasLocales] = [await hasTable(db, 'icl_languages_translations'), await hasTable(db, 'icl_locale_map')];
  const rows = await db
    .from('icl_languages', 'l')
    .where('l.active', 1)
    .orderBy('l.id')
    .select('l.id', 'l.code', 'l.english_name', 'l.default_locale');
  const names = hasNames
    ? await db
        .from('icl_languages_translations', 'n')
        .whereRaw('n.language_code = n.display_language_code')
        .select('n.language_code', 'n.name')
    : [];
  const locales = hasLocales ? await db.from('icl_locale_map').select('code', 'locale') : [];
  const [nameOf, localeOf] = [
    new Map(names.map((row) => [row.language_code, row.name])),
    new Map(locales.map((row) => [row.code, row.locale])),
  ];
  const hiddenCodes = textsIn(settings.hidden_languages);
  const order = textsIn(settings.languages_order);
  const place = (code: string) => (order.includes(code) ? order.indexOf(code) : order.length);
  return rows
    .map(({ id, code, english_name: english, default_locale: locale }) => ({
      code,
      locale: localeOf.get(code) ?? locale ?? code,
      name: nameOf.get(code) ?? english,
      number: id,
      hidden: hiddenCodes.includes(code),
      onPosts: 0,
      onTerms: 0,
    }))
    .sort((a, b) => place(a.code) - place(b.code));
}

/** Returns how URLs contain the language, according to WPML's settings. */
function urlsOf(settings: Record<string, unknown>, defaultCode: string): LanguageUrls {
  const mode = Number(settings.language_negotiation_type ?? 0);
  if (mode === 1) {
    const defaultDirectory = Number(
      (settings.urls as { directory_for_default_language?: unknown } | undefined)?.directory_for_default_language ?? 0,
    );
    return { by: 'directory', before: '', bare: defaultDirectory ? undefined : defaultCode };
  }
  if (mode === 2) return { by: 'host', hosts: hostsIn(settings.language_domains) };
  return mode === 3 ? { by: 'parameter', bare: defaultCode } : { by: 'nothing' };
}

const textsIn = (value: unknown): string[] => Object.values(objectOf(value)).filter((item) => typeof item === 'string');
const unique = (ids: readonly number[]) => [...new Set(ids)];

import { postKinds } from '../../../kinds/index.ts';
import { objectOf } from '../../../objects.ts';
import { type ContentLanguages, type LanguageUrls, languageOfCode, type Membership } from '../../../wordpress/content-languages.ts';
import { parseSerialized, serializedMembers } from '../../../wordpress/php/serialized.ts';
import { ALWAYS_TRANSLATED, LANGUAGE_TAXONOMIES, POLYLANG_TAXONOMIES } from '../../../wordpress/polylang.ts';
import type { QueryBuilder } from '../../engine/builder.ts';
import type { Database } from '../../engine/database.ts';
import type { Sql } from '../../engine/dialect.ts';
import { placeholders } from '../../engine/select-together.ts';
import { verbatim } from '../../engine/statement.ts';
import { dependingOn } from '../../journal/dependencies.ts';
import { dependenciesOf, type LanguageForm, type ListedRecords, NO_MEMBERSHIPS, type SiteLanguages } from '../form.ts';
import { hostsIn } from '../hosts.ts';
import { membershipOf } from '../membership.ts';
import { membersIn } from './group.ts';

/* Languages in Polylang's form: terms of four taxonomies. */

interface LanguageRow {
  readonly taxonomy: string;
  readonly id: number;
  readonly name: string;
  readonly slug: string;
  readonly place: number;
  readonly description: string;
}

export const polylang: LanguageForm = {
  async read(db, options) {
    const option = serializedMembers(options.get('polylang'));
    const rows = await db.rows<LanguageRow>`
      SELECT tt.taxonomy, tt.term_taxonomy_id AS id, t.name, t.slug, t.term_group AS place, tt.description
      FROM {term_taxonomy} tt JOIN {terms} t ON t.term_id = tt.term_id
      WHERE tt.taxonomy IN (${LANGUAGE_TAXONOMIES}) ORDER BY t.term_group, t.term_id`;
    const onTerms = new Map(
      rows.filter(({ taxonomy }) => taxonomy === POLYLANG_TAXONOMIES.term.language).map(({ slug, id }) => [slug, id]),
    );
    const languages = rows
      .filter(({ taxonomy }) => taxonomy === POLYLANG_TAXONOMIES.post.language)
      .map(({ slug, name, description, id }) => ({
        code: slug,
        locale: textOf(serializedMembers(description).locale),
        name,
        number: id,
        hidden: false,
        onPosts: id,
        onTerms: onTerms.get(`pll_${slug}`) ?? 0,
      }));
    const defaultCode = textOf(option.default_lang);
    if (!languageOfCode({ languages }, defaultCode)) return undefined;
    const translatedTypes = [...ALWAYS_TRANSLATED, ...listOf(option.post_types), ...listOf(option.taxonomies)];
    return {
      languages,
      defaultCode,
      translated: [...translatedTypes, ...(await typesInUse(db, { languages }, translatedTypes))],
      withFallback: [],
      urls: urlsOf(option, defaultCode, options.get('permalink_structure') ?? ''),
    };
  },

  async memberships(db, languages, records) {
    const { posts, terms } = records;
    if (posts.length + terms.length === 0) return NO_MEMBERSHIPS;
    const termIds = terms.map(({ term_id: id }) => id);
    const rows = await dependingOn(db, dependenciesOf(records)).rows<MembershipRow>`
      SELECT r.object_id AS object, tt.term_taxonomy_id AS id, tt.taxonomy, tt.description
      FROM {term_relationships} r ${verbatim(db.dialect.joinInOrder)} {term_taxonomy} tt ON tt.term_taxonomy_id = r.term_taxonomy_id
      WHERE (r.object_id IN (${unique(posts)}) AND tt.taxonomy IN (${Object.values(POLYLANG_TAXONOMIES.post)}))
        OR (r.object_id IN (${unique(termIds)}) AND tt.taxonomy IN (${Object.values(POLYLANG_TAXONOMIES.term)}))`;
    return { posts: membershipsOf(languages, rows, 'post'), terms: membershipsOf(languages, rows, 'term') };
  },

  rowsOfPosts: (db, ids) => ({
    columns: { object: 'r.object_id', id: 'tt.term_taxonomy_id', taxonomy: 'tt.taxonomy', description: 'tt.description' },
    from: `FROM \`${db.table('term_relationships')}\` r
      ${db.dialect.joinInOrder} \`${db.table('term_taxonomy')}\` tt ON tt.term_taxonomy_id = r.term_taxonomy_id
      WHERE r.object_id IN (${placeholders(ids)}) AND tt.taxonomy IN ('${Object.values(POLYLANG_TAXONOMIES.post).join("', '")}')`,
    bindings: ids,
  }),

  membershipsIn: (languages, rows) =>
    membershipsOf(
      languages,
      rows.map(({ object, id, taxonomy, description }) => ({
        object: Number(object),
        id: Number(id),
        taxonomy: taxonomy ?? '',
        description: description ?? '',
      })),
      'post',
    ),

  whereLanguage(db, where, languages, records, code) {
    const [sql, bindings] = languageSql(db, languages, records.is, columnOf(records));
    if (code === null) where.whereRaw(`${sql} IS NULL`, bindings);
    else where.whereRaw(`${sql} = ?`, [...bindings, rowOf(languages, records.is, code)]);
  },

  whereInGroup(db, where, languages, records, { code, isShown }) {
    where.whereExists((sub: QueryBuilder) => {
      sub
        .select(db.raw('1'))
        .from({ gr: db.table('term_relationships') })
        .joinRaw(`${db.dialect.joinInOrder} ?? gt ON gt.term_taxonomy_id = gr.term_taxonomy_id`, [db.table('term_taxonomy')])
        .joinRaw(`${db.dialect.joinInOrder} ?? gm ON gm.term_taxonomy_id = gr.term_taxonomy_id`, [db.table('term_relationships')])
        .where('gr.object_id', db.ref(columnOf(records)))
        .where('gt.taxonomy', POLYLANG_TAXONOMIES[records.is].group);
      const [sql, bindings] = languageSql(db, languages, records.is, 'gm.object_id');
      sub.whereRaw(`${sql} = ?`, [...bindings, rowOf(languages, records.is, code)]);
      if (records.is === 'term')
        return void sub
          .joinRaw(`${db.dialect.joinInOrder} ?? member ON member.term_id = gm.object_id`, [db.table('term_taxonomy')])
          .where('member.taxonomy', records.name)
          .where((part: QueryBuilder) => void isShown?.(part));
      sub
        .joinRaw(`${db.dialect.joinInOrder} ?? member ON member.ID = gm.object_id`, [db.table('posts')])
        .where('member.post_type', records.name)
        .where((part: QueryBuilder) => void isShown?.(part));
    });
  },
};

/** A term of a record that is its language or its group. */
interface MembershipRow {
  readonly object: number;
  readonly id: number;
  readonly taxonomy: string;
  readonly description: string;
}

/** Returns the languages and groups of records. Of several languages of one record, that of the lowest row counts. */
function membershipsOf(languages: ContentLanguages, rows: readonly MembershipRow[], is: 'post' | 'term'): Map<number, Membership> {
  const { language, group } = POLYLANG_TAXONOMIES[is];
  const codes = new Map(languages.languages.map(({ code, onPosts, onTerms }) => [is === 'post' ? onPosts : onTerms, code]));
  const [ownCodes, groups] = [new Map<number, string | undefined>(), new Map<number, ReadonlyMap<string, number>>()];
  for (const row of [...rows].sort((one, other) => other.id - one.id)) {
    if (row.taxonomy === language && codes.has(row.id)) ownCodes.set(row.object, codes.get(row.id));
    if (row.taxonomy === group) groups.set(row.object, membersIn(row.description));
  }
  return new Map([...ownCodes].map(([id, code]) => [id, membershipOf(languages, id, code, groups.get(id) ?? new Map())]));
}

/** SQL for the row with the language of a record: the lowest one if there are several; NULL if there is none. */
const languageSql = (db: Database, languages: ContentLanguages, is: 'post' | 'term', column: string): Sql => {
  const rows = languages.languages.map(({ onPosts, onTerms }) => (is === 'post' ? onPosts : onTerms));
  return [
    `(SELECT MIN(lr.term_taxonomy_id) FROM ?? lr WHERE lr.object_id = ${column} AND lr.term_taxonomy_id IN (${rows.map(() => '?').join()}))`,
    [db.table('term_relationships'), ...rows],
  ];
};

function rowOf(languages: ContentLanguages, is: 'post' | 'term', code: string): number {
  const language = languageOfCode(languages, code);
  return (is === 'post' ? language?.onPosts : language?.onTerms) ?? 0;
}

const columnOf = (records: ListedRecords): string => (records.is === 'post' ? `${records.alias}.ID` : 't.term_id');

/**
 * Returns post types of the calendar that are not in the option although some of their records have a language: with
 * Polylang Pro, code can register them as translated. Categories are treated in the same way.
 */
async function typesInUse(
  db: Database,
  { languages }: Pick<SiteLanguages, 'languages'>,
  translatedTypes: readonly string[],
): Promise<string[]> {
  const types = postKinds.map(({ postType }) => postType).filter((type) => !translatedTypes.includes(type));
  const usedTypes: string[] = [];
  const rows = languages.map(({ onPosts }) => onPosts);
  for (const type of types) {
    const [row] = await db.rows<{ id: number }>`
      SELECT p.ID AS id FROM {posts} p JOIN {term_relationships} r ON r.object_id = p.ID
      WHERE p.post_type = ${type} AND r.term_taxonomy_id IN (${rows}) LIMIT 1`;
    if (row) usedTypes.push(type);
  }
  if (translatedTypes.includes(CATEGORIES)) return usedTypes;
  const onTerms = languages.map((language) => language.onTerms);
  const [row] = await db.rows<{ id: number }>`
    SELECT tt.term_id AS id FROM {term_taxonomy} tt JOIN {term_relationships} r ON r.object_id = tt.term_id
    WHERE tt.taxonomy = ${CATEGORIES} AND r.term_taxonomy_id IN (${onTerms}) LIMIT 1`;
  return row ? [...usedTypes, CATEGORIES] : usedTypes;
}

const CATEGORIES = 'tribe_events_cat';

/** Returns how URLs contain the language, according to Polylang's option. */
function urlsOf(option: Record<string, unknown>, defaultCode: string, permalinks: string): LanguageUrls {
  const defaultIsHidden = isYes(option.hide_default) ? defaultCode : undefined;
  const mode = Number(option.force_lang ?? 0);
  if (mode === 3) return { by: 'host', hosts: hostsIn(option.domains) };
  if (mode !== 1 && mode !== 2) return { by: 'nothing' };
  if (permalinks === '') return { by: 'parameter', bare: defaultIsHidden };
  return mode === 2
    ? { by: 'subdomain', bare: defaultIsHidden }
    : { by: 'directory', before: isYes(option.rewrite) ? '' : 'language/', bare: defaultIsHidden };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
/** Whether a setting is on. Older versions store 0 and 1. */
const isYes = (value: unknown): boolean => ![undefined, null, false, 0, '', '0'].includes(value as null);
const listOf = (value: unknown): string[] =>
  Object.values(objectOf(typeof value === 'string' ? parseSerialized(value) : value)).filter((item) => typeof item === 'string');
const unique = (ids: readonly number[]) => [...new Set(ids)];

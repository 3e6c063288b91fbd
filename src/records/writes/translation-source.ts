import { failParam } from '../../errors.ts';
import { EVENT } from '../../kinds/events/fields.ts';
import { COORDINATES, COST, DATES } from '../../kinds/events/metas.ts';
import { termKind } from '../../kinds/index.ts';
import type { Before, PostKind, PostValues, Rows } from '../../kinds/kind.ts';
import type { Field } from '../../kinds/param.ts';
import { EXTERNAL_ID } from '../../kinds/post-fields.ts';
import type { Database } from '../../storage/engine/database.ts';
import { formOf } from '../../storage/languages/forms.ts';
import { loadMetas, loadPosts } from '../../storage/rows/bundle.ts';
import { loadTermsOf } from '../../storage/rows/terms.ts';
import type { Caller } from '../caller.ts';
import { languagesOf, languageValues } from '../record-languages.ts';
import { termsInLanguage } from '../term-languages.ts';
import { accessRow, mayEdit } from '../visibility.ts';
import type { MetasAndTerms } from './metas-and-terms.ts';
import { mayPromote, type PostPlan, planPost } from './post-plan.ts';
import { followingRows } from './post-rows.ts';
import type { WriteContext } from './write-context.ts';

/*
 * What a new record takes from the one that it is a translation of (`translation_of`): everything that is not text and
 * that the request does not name.
 */

/**
 * The record that a new one is a translation of; undefined: of none.
 *
 * @throws rest_invalid_param where it is no record of the kind that the caller may edit
 */
export async function sourceOf(db: Database, caller: Caller, kind: PostKind, values: PostValues): Promise<Before | undefined> {
  const { translation_of: id } = languageValues(values);
  if (!id || !languagesOf(caller, kind)) return undefined;
  const row = (await loadPosts(db, [id])).get(id);
  const metas = (await loadMetas(db, [id])).get(id) ?? new Map<string, string[]>();
  if (row?.post_type !== kind.postType || row.post_status === 'trash' || !mayEdit(caller.viewer, accessRow(row, metas)))
    return failParam('translation_of', 'translation-not-linked');
  return { row, metas };
}

/** The plan of a new record, with the columns and metas of its source that it does not name itself. */
export function planOfNew(caller: Caller, kind: PostKind, values: PostValues, source: Before | undefined): PostPlan {
  const plan = planPost(caller, kind, values, undefined, source);
  if (!source) return plan;
  const usual = followingRows(kind, {}, undefined, caller).metas;
  return {
    ...plan,
    columns: { ...columnsOf(caller, kind, source), ...plan.columns },
    metas: { ...usual, ...metasOf(caller, kind, source), ...plan.metas },
  };
}

/**
 * Terms, image, venues and organizers of a new record: those of its source where it names none, in its own language.
 */
export async function withInherited(
  write: WriteContext,
  source: Before | undefined,
  values: PostValues,
  resolved: MetasAndTerms,
): Promise<MetasAndTerms> {
  const { db, caller, kind, language } = write;
  if (!source || !language) return resolved;
  const [terms, metas] = [new Map(resolved.terms), { ...resolved.metas }];
  const held = (await loadTermsOf(db, [source.row.ID])).get(source.row.ID) ?? [];
  for (const field of Object.entries(kind.fields)) {
    const [name, { place }] = field;
    if (name in values) continue;
    if (place.in === 'terms') {
      const taxonomy = termKind(place.kind);
      const ids = held.filter((term) => term.taxonomy === taxonomy.taxonomy).map((term) => term.term_id);
      terms.set(place.kind, await termsInLanguage(db, caller, taxonomy, ids, language.language));
    } else if (place.in === 'links') metas[place.key] = await linksIn(write, source.metas.get(place.key) ?? []);
    else if (place.in === 'image') metas._thumbnail_id = [...(source.metas.get('_thumbnail_id') ?? [])];
  }
  return { metas, terms };
}

/** Linked records by their ids, each replaced by its translation into the language of the write, if it has one. */
async function linksIn({ db, caller, language }: WriteContext, stored: readonly string[]): Promise<string[]> {
  const { contentLanguages } = caller.settings;
  const code = language?.language.code;
  if (!contentLanguages || code === undefined) return [...stored];
  const { posts } = await formOf(contentLanguages).memberships(db, contentLanguages, { posts: stored.map(Number), terms: [] });
  const wanted = stored.map((id) => posts.get(Number(id))?.members.get(code));
  const rows = await loadPosts(
    db,
    wanted.flatMap((id) => id ?? []),
  );
  return [...new Set(stored.map((id, place) => (rows.get(wanted[place] ?? 0)?.post_status === 'publish' ? String(wanted[place]) : id)))];
}

/**
 * The metas of a source that hold fields or what follows from them. The name by which another system knows the source
 * is its own.
 */
function metasOf(caller: Caller, kind: PostKind, { metas }: Before): Rows['metas'] {
  const keys = Object.values(kind.fields).flatMap((field) =>
    field.place.in === 'meta' && field.place.key !== EXTERNAL_ID && mayTake(caller, kind, field) ? [field.place.key] : [],
  );
  const following = kind.dated ? [...Object.values(DATES), ...Object.values(COST)] : [...Object.values(COORDINATES), ...SECOND_MAP_METAS];
  return Object.fromEntries([...keys, ...following].flatMap((key) => (metas.has(key) ? [[key, metas.get(key)!] as const] : [])));
}

/** Whether maps are shown stands a second time with venues, under the names that events use. */
const SECOND_MAP_METAS = [EVENT.show_map, EVENT.show_map_link];

/** The columns of a source that say whether it is put before others. */
const columnsOf = (caller: Caller, kind: PostKind, { row }: Before): Rows['columns'] =>
  Object.fromEntries(
    Object.values(kind.fields).flatMap((field) =>
      field.place.in === 'column' && field.promotes && mayTake(caller, kind, field)
        ? [[field.place.column, row[field.place.column]] as const]
        : [],
    ),
  );

/** What puts a record before others takes its right. */
const mayTake = ({ viewer }: Caller, kind: PostKind, { promotes }: Field): boolean => !promotes || mayPromote(viewer, kind);

import { failParam } from '../../errors.ts';
import { metasInCommon } from '../../kinds/custom-fields.ts';
import { EVENT } from '../../kinds/events/fields.ts';
import { COORDINATES, COST, DATES } from '../../kinds/events/metas.ts';
import { EXTERNAL_ID } from '../../kinds/external-id.ts';
import { termKind } from '../../kinds/index.ts';
import type { PostKind, PostValues, Rows, StoredPost } from '../../kinds/kind.ts';
import type { Field } from '../../kinds/param.ts';
import type { Database } from '../../storage/engine/database.ts';
import { loadMetasOf, loadPosts } from '../../storage/rows/bundle.ts';
import { loadTermsOf } from '../../storage/rows/terms.ts';
import { type StoredValue, storedText } from '../../wordpress/php/serialized.ts';
import type { Caller } from '../caller.ts';
import { languagesOf, languageValues } from '../record-languages.ts';
import { termsInLanguage } from '../term-languages.ts';
import { accessRow, mayEdit } from '../visibility.ts';
import type { MetasAndTerms } from './metas-and-terms.ts';
import { mayPromote, type PostPlan, planPost } from './post-plan.ts';
import { deriveRows } from './post-rows.ts';
import { loadShownLinks } from './shown-links.ts';
import type { WriteContext } from './write-context.ts';

/*
 * The data that a new record takes from the record that it is a translation of (`translation_of`): everything that is
 * not text and not named in the request.
 */

/**
 * Returns the record that a new one is a translation of; undefined if it is no translation.
 *
 * @throws rest_invalid_param unless it is a record of the kind that the caller may edit
 */
export async function loadTranslationSource(
  db: Database,
  caller: Caller,
  kind: PostKind,
  values: PostValues,
): Promise<StoredPost | undefined> {
  const { translation_of: id } = languageValues(values);
  if (!id || !languagesOf(caller, kind)) return undefined;
  const row = (await loadPosts(db, [id])).get(id);
  const metas = await loadMetasOf(db, id);
  if (row?.post_type !== kind.postType || row.post_status === 'trash' || !mayEdit(caller.viewer, accessRow(row, metas)))
    return failParam('translation_of', 'translation-not-linked');
  return { row, metas };
}

/** Plans a new record, with the columns and metas of its source that the values do not name. */
export function planOfNew(caller: Caller, kind: PostKind, values: PostValues, source: StoredPost | undefined): PostPlan {
  const plan = planPost(caller, kind, values, undefined, source);
  if (!source) return plan;
  const copiedKeys = metasToCopy(caller, kind);
  // A meta that the source lacks means something else than the value that a new record starts with.
  const otherDefaults = Object.entries(deriveRows(kind, {}, undefined, caller).metas).filter(([key]) => !copiedKeys.has(key));
  return {
    ...plan,
    // The copied values, such as the venue, stay as protected as they are in the source.
    columns: { ...copiedColumns(caller, kind, source), post_password: source.row.post_password, ...plan.columns },
    metas: {
      ...Object.fromEntries(otherDefaults),
      ...Object.fromEntries([...source.metas].filter(([key]) => copiedKeys.has(key))),
      ...plan.metas,
    },
  };
}

/**
 * Completes the terms, image, venues and organizers of a new record from its source, as far as the values do not name
 * them, in the language of the new record.
 */
export async function withInherited(
  write: WriteContext,
  source: StoredPost | undefined,
  values: PostValues,
  references: MetasAndTerms,
): Promise<MetasAndTerms> {
  const { db, caller, kind, language } = write;
  if (!source || !language) return references;
  const [terms, metas] = [new Map(references.terms), { ...references.metas }];
  const sourceTerms = (await loadTermsOf(db, [source.row.ID])).get(source.row.ID) ?? [];
  for (const field of Object.entries(kind.fields)) {
    const [name, { place }] = field;
    if (name in values) continue;
    if (place.in === 'terms') {
      const taxonomy = termKind(place.kind);
      const ids = sourceTerms.filter((term) => term.taxonomy === taxonomy.taxonomy).map((term) => term.term_id);
      terms.set(place.kind, await termsInLanguage(db, caller, taxonomy, ids, language.language));
    } else if (place.in === 'links') metas[place.key] = await shownLinks(write, source.metas.get(place.key) ?? []);
    else if (place.in === 'image') metas._thumbnail_id = [...(source.metas.get('_thumbnail_id') ?? [])];
  }
  return { ...references, metas, terms };
}

/** Returns the links of a source as the new record shows them, each record once. */
async function shownLinks(write: WriteContext, links: readonly StoredValue[]): Promise<StoredValue[]> {
  const { shownInPlaceOf } = await loadShownLinks(write, links, write.language?.language.code);
  const shown = links.map((link) => {
    const id = shownInPlaceOf(link);
    return id === link ? link : storedText(id);
  });
  return [...new Set(shown)];
}

/**
 * Returns the names of the metas that store fields or follow from them, without the external id, which must be unique.
 */
function metasToCopy(caller: Caller, kind: PostKind): ReadonlySet<string> {
  const keys = Object.values(kind.fields).flatMap((field) =>
    field.place.in === 'meta' && field.place.key !== EXTERNAL_ID && mayCopy(caller, kind, field) ? [field.place.key] : [],
  );
  const otherKeys = kind.hasDates
    ? [...Object.values(DATES), ...Object.values(COST)]
    : [...Object.values(COORDINATES), ...SECOND_MAP_METAS];
  const customFieldKeys = metasInCommon(kind, caller.settings.calendar.customFields);
  return new Set([...keys, ...otherKeys, ...customFieldKeys]);
}

/** Venues store a second time whether maps are shown, under the names that events use. */
const SECOND_MAP_METAS = [EVENT.show_map, EVENT.show_map_link];

/** Returns the columns of a source that put it before other records. */
const copiedColumns = (caller: Caller, kind: PostKind, { row }: StoredPost): Rows['columns'] =>
  Object.fromEntries(
    Object.values(kind.fields).flatMap((field) =>
      field.place.in === 'column' && field.promotes && mayCopy(caller, kind, field)
        ? [[field.place.column, row[field.place.column]] as const]
        : [],
    ),
  );

/** Whether a field may be copied. Putting a record first (sticky, featured) needs the capability for it. */
const mayCopy = ({ viewer }: Caller, kind: PostKind, { promotes }: Field): boolean => !promotes || mayPromote(viewer, kind);

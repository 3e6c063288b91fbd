import { lastWholeDay } from '../calendar/schedule.ts';
import type { SiteSettings } from '../calendar/settings.ts';
import { memoizeByObject } from '../memo.ts';
import { decodeEntities, decodeForEditing } from '../wordpress/content/entities.ts';
import { isTranslated, languageOfCode } from '../wordpress/content-languages.ts';
import { idsIn, type Metas, metaOf, type Post, type Term } from '../wordpress/rows.ts';
import { tableOf } from '../wordpress/table.ts';
import { percentDecoded } from '../wordpress/web-url.ts';
import { costRecord } from './events/cost.ts';
import { DATES } from './events/metas.ts';
import { isImage, isLinks, isTerms } from './fields.ts';
import { filter, group } from './filter.ts';
import { flag, flagText } from './grammars/flags.ts';
import { type Grammar, MAX_BYTES } from './grammars/grammar.ts';
import { text } from './grammars/grammars.ts';
import { ids } from './grammars/lists.ts';
import { termKind } from './index.ts';
import type { PostKind, PublishedRecord } from './kind.ts';
import { byIds } from './narrowing.ts';
import type { Field, Values } from './param.ts';

/** The rows that the values of a record are read from. */
interface Stored {
  readonly row: Post;
  readonly metas: Metas | undefined;
  readonly terms: readonly Term[];
  /**
   * The record rendered from these rows, as the caller sees it. It gives the booleans whose row may be missing.
   */
  readonly record: PublishedRecord;
}

/**
 * Returns the values of a record by field name, as an editing form shows them: texts as stored, ids of terms, linked
 * records and the image, and booleans. A title is shown as people write it (`Rock & Roll`), although WordPress stores
 * `Rock &amp; Roll` for authors who may not write HTML.
 */
export function editableValues(kind: PostKind, stored: Stored, settings: SiteSettings): Values {
  return Object.fromEntries(Object.entries(kind.fields).map(([name, field]) => [name, editableValue(name, field, stored, settings)]));
}

/** Returns whether a field is a boolean. */
export const isYesOrNo = (grammar: Grammar): boolean => grammar === flag || grammar === flagText;

function editableValue(name: string, field: Field, { row, metas, terms, record }: Stored, settings: SiteSettings): unknown {
  if (isYesOrNo(field.grammar)) return record[name] === true;
  if (isTerms(field)) {
    const { taxonomy } = termKind(field.place.kind);
    return terms.filter((term) => term.taxonomy === taxonomy).map((term) => term.term_id);
  }
  if (isLinks(field)) return idsIn(metas?.get(field.place.key) ?? []);
  if (isImage(field)) return Number(metaOf(metas, '_thumbnail_id')) || 0;
  if (field.place.in === 'column') return field.place.column === 'post_title' ? decodeForEditing(row.post_title) : row[field.place.column];
  if (field.place.in === 'meta') return metaOf(metas, field.place.key) ?? '';
  return RULES.get(name)?.({ row, metas, terms, record }, settings) ?? metaOf(metas, field.names?.core || '') ?? '';
}

/** Values of fields that have no column of their own and are not stored in the meta of WordPress's own routes. */
const RULES: ReadonlyMap<string, (stored: Stored, settings: SiteSettings) => unknown> = tableOf({
  status: ({ row }) => row.post_status,
  end_date: ({ metas, record }) => {
    const [start, end] = [metaOf(metas, DATES.start) ?? '', metaOf(metas, DATES.end) ?? ''];
    // The last day of an all-day event is edited as a date; the stored end may be on the following day.
    return record.all_day === true ? lastWholeDay(start, end) + end.slice(10) : end;
  },
  date: ({ row }) => row.post_date,
  date_utc: ({ row }) => row.post_date_gmt,
  slug: ({ row }) => percentDecoded(row.post_name),
  language: ({ record }) => record.language,
  // As shown, since the stored amount has its currency in another meta. A price of zero is a number, since copies and
  // translations would keep the word for it in the editor's language.
  cost: ({ metas }, settings) => decodeEntities(costRecord(metas, { settings, freeLabel: '0' }).cost),
  custom_fields: ({ metas }, { calendar: { customFields } }) =>
    Object.fromEntries(customFields.map(({ name, meta }) => [name, metaOf(metas, meta) ?? ''])),
});

/**
 * Returns a kind whose list can also be filtered by author and by content language, and can include records hidden from
 * public lists.
 */
export const editorList = memoizeByObject(
  (kind: PostKind): PostKind => ({
    ...kind,
    filters: {
      ...kind.filters,
      ...('include' in kind.filters ? chosenIds : {}),
      author: filter({ grammar: ids('user'), narrows: byIds('author') }),
      language: filter({
        grammar: text(MAX_BYTES.slug),
        narrows: (code, { settings: { contentLanguages: languages } }) =>
          isTranslated(languages, kind.postType) && languageOfCode(languages, code)
            ? [{ by: 'language', languages, code, fill: 'nothing' }]
            : [],
      }),
    },
  }),
);

const chosenIds = group({
  params: { include: { grammar: ids() } },
  narrows: ({ include }) => (include ? [{ by: 'id', ids: include }] : []),
});

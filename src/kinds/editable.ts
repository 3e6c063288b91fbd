import type { CustomField } from '../calendar/custom-fields.ts';
import { lastWholeDay } from '../calendar/schedule.ts';
import { memoizeByObject } from '../memo.ts';
import { decodeEntities } from '../wordpress/content/entities.ts';
import { isTranslated, languageOfCode } from '../wordpress/content-languages.ts';
import { type Metas, metaOf, type Post, type Term } from '../wordpress/rows.ts';
import { tableOf } from '../wordpress/table.ts';
import { percentDecoded } from '../wordpress/web-url.ts';
import { DATES } from './events/metas.ts';
import { isImage, isLinks, isTerms } from './fields.ts';
import { filter, group } from './filter.ts';
import { flag, flagText } from './grammars/flags.ts';
import { type Grammar, LENGTHS } from './grammars/grammar.ts';
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
  /** The record that is made of them, open whatever protects it: it says yes or no where a row may be missing. */
  readonly record: PublishedRecord;
}

/**
 * What a record holds under the names of its fields, in the form in which a form offers it to be changed: texts as they
 * are stored, ids of terms, of what it links to and of the image, yes and no. A title is plain text to people (`Rock &
 * Roll`), though WordPress stores `Rock &amp; Roll` for those who may not write HTML.
 */
export function editableValues(kind: PostKind, stored: Stored, customFields: readonly CustomField[]): Values {
  return Object.fromEntries(Object.entries(kind.fields).map(([name, field]) => [name, editableValue(name, field, stored, customFields)]));
}

/** Whether a field takes a yes or a no. */
export const isYesOrNo = (grammar: Grammar): boolean => grammar === flag || grammar === flagText;

function editableValue(name: string, field: Field, { row, metas, terms, record }: Stored, customFields: readonly CustomField[]): unknown {
  if (isYesOrNo(field.grammar)) return record[name] === true;
  if (isTerms(field)) {
    const { taxonomy } = termKind(field.place.kind);
    return terms.filter((term) => term.taxonomy === taxonomy).map((term) => term.term_id);
  }
  if (isLinks(field)) return (metas?.get(field.place.key) ?? []).map(Number).filter((id) => Number.isSafeInteger(id) && id > 0);
  if (isImage(field)) return Number(metaOf(metas, '_thumbnail_id')) || 0;
  if (field.place.in === 'column') return field.place.column === 'post_title' ? decodeEntities(row.post_title) : row[field.place.column];
  if (field.place.in === 'meta') return metaOf(metas, field.place.key) ?? '';
  return RULES.get(name)?.({ row, metas, terms, record }, customFields) ?? metaOf(metas, field.names?.core || '') ?? '';
}

/** What is stored nowhere by itself, and not in the meta that WordPress's own routes call it by. */
const RULES: ReadonlyMap<string, (stored: Stored, customFields: readonly CustomField[]) => unknown> = tableOf({
  status: ({ row }) => row.post_status,
  end_date: ({ metas, record }) => {
    const [start, end] = [metaOf(metas, DATES.start) ?? '', metaOf(metas, DATES.end) ?? ''];
    // What is written of an event of whole days is its last day, which may end on the day after.
    return record.all_day === true ? lastWholeDay(start, end) + end.slice(10) : end;
  },
  date: ({ row }) => row.post_date,
  date_utc: ({ row }) => row.post_date_gmt,
  slug: ({ row }) => percentDecoded(row.post_name),
  language: ({ record }) => record.language,
  // As it is shown: what is stored may be an amount whose currency stands elsewhere.
  cost: ({ record }) => decodeEntities(String(record.cost ?? '')),
  custom_fields: ({ metas }, customFields) => Object.fromEntries(customFields.map(({ name, meta }) => [name, metaOf(metas, meta) ?? ''])),
});

/**
 * A kind whose list can be narrowed to what one person wrote, and to a language of the content; it holds what is hidden
 * from public lists, too.
 */
export const listedToEdit = memoizeByObject(
  (kind: PostKind): PostKind => ({
    ...kind,
    filters: {
      ...kind.filters,
      ...('include' in kind.filters ? chosen : {}),
      author: filter({ grammar: ids('user'), narrows: byIds('author') }),
      language: filter({
        grammar: text(LENGTHS.slug),
        narrows: (code, { settings: { contentLanguages: languages } }) =>
          isTranslated(languages, kind.postType) && languageOfCode(languages, code)
            ? [{ by: 'language', languages, code, fill: 'nothing' }]
            : [],
      }),
    },
  }),
);

const chosen = group({ params: { include: { grammar: ids() } }, narrows: ({ include }) => (include ? [{ by: 'id', ids: include }] : []) });

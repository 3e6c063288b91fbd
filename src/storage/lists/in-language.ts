import type { InLanguage } from '../../kinds/condition.ts';
import type { QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';
import type { ListedRecords } from '../languages/form.ts';
import { formOf } from '../languages/forms.ts';

/**
 * Restricts a list to the records of a language. `isShown` restricts the posts (as `member`) that count as
 * translations: if a translation is not shown, the record in the default language is listed instead.
 */
export function whereInLanguage(
  db: Database,
  where: QueryBuilder,
  { languages, code, fill }: InLanguage,
  records: ListedRecords,
  isShown?: (member: QueryBuilder) => void,
): void {
  const { whereLanguage, whereInGroup } = formOf(languages);
  const { defaultCode } = languages;
  where.where((any: QueryBuilder) => {
    any.where((part) => whereLanguage(db, part, languages, records, code));
    if (fill !== 'nothing' && code !== defaultCode)
      any.orWhere((part) => {
        whereLanguage(db, part, languages, records, defaultCode);
        part.whereNot((translated) => whereInGroup(db, translated, languages, records, { code, isShown }));
      });
    if (fill === 'stand-ins-and-neutral') any.orWhere((none) => whereLanguage(db, none, languages, records, null));
  });
}

/**
 * Selects those of some posts that are in a list of a language. Negated, unlike the condition, this also matches posts
 * without a language.
 *
 * @param selectPosts selects the ids of the posts
 */
export const selectInLanguage =
  (db: Database, type: string, listed: InLanguage, selectPosts: (sub: QueryBuilder) => void) =>
  (sub: QueryBuilder): void =>
    void sub
      .select('o.ID')
      .from({ o: db.table('posts') })
      .where('o.post_type', type)
      .whereIn('o.ID', selectPosts)
      .where((where: QueryBuilder) => whereInLanguage(db, where, listed, { is: 'post', name: type, alias: 'o' }));

import { postKind } from '../../kinds/index.ts';
import type { PostKindName } from '../../kinds/kind-names.ts';
import { type LanguagesOfKind, languagesOf, membershipsOf } from '../../records/record-languages.ts';
import type { Database } from '../../storage/engine/database.ts';
import { languageOfCode } from '../../wordpress/content-languages.ts';
import type { Work } from './run.ts';

/**
 * Returns those of some records that are in a language, since translations of a record often have its name. Records
 * without a language count as in the default one. Returns all of them if the site has no languages.
 */
export async function inLanguage(
  { run, db }: Pick<Work, 'run' | 'db'>,
  kind: PostKindName,
  ids: readonly number[],
  language: string,
): Promise<readonly number[]> {
  const kindLanguages = languagesOf(run.caller, postKind(kind));
  if (!kindLanguages || ids.length === 0) return ids;
  // A record in a language that the site does not have gets the default one.
  const code = languageOfCode(kindLanguages.languages, language)?.code ?? kindLanguages.languages.defaultCode;
  // In a dry run, new records have no ids of posts. Rows with the same language have already been compared with them.
  const stored = ids.filter((id) => id > 0);
  const languageOf = await languagesById(db, kindLanguages, stored);
  return stored.filter((id) => languageOf(id) === code);
}

/** Returns those of some records that are in the same language as another one, or all of them. */
export async function inLanguageOf(
  { run, db }: Pick<Work, 'run' | 'db'>,
  kind: PostKindName,
  ids: readonly number[],
  other: number,
): Promise<readonly number[]> {
  const kindLanguages = languagesOf(run.caller, postKind(kind));
  if (!kindLanguages || ids.length === 0) return ids;
  const languageOf = await languagesById(db, kindLanguages, [...ids, other]);
  return ids.filter((id) => languageOf(id) === languageOf(other));
}

async function languagesById(db: Database, kindLanguages: LanguagesOfKind, ids: readonly number[]) {
  const memberships = await membershipsOf(db, kindLanguages, ids);
  return (id: number) => (memberships.has(id) ? memberships.get(id)?.language : kindLanguages.languages.defaultCode);
}

import { postKind } from '../../kinds/index.ts';
import type { PostKindName } from '../../kinds/kind-names.ts';
import { type LanguagesOfKind, languagesOf, membershipsOf } from '../../records/record-languages.ts';
import type { Database } from '../../storage/engine/database.ts';
import { languageOfCode } from '../../wordpress/content-languages.ts';
import type { PostItem } from '../items/items.ts';
import type { Work } from './run.ts';

/**
 * Returns those of some records that are in the language of an imported one or a link: its own, or that of the whole
 * import if it has none. Translations of a record often have its name. Records without a language count as in the
 * default one. Returns all of them if neither is known, or if the site has no languages.
 */
export async function inOwnLanguage(
  work: Session,
  { kind, language }: Pick<PostItem, 'kind' | 'language'>,
  ids: readonly number[],
): Promise<readonly number[]> {
  if (kind === 'attachment') return ids;
  const keep = await ownLanguageFilter(work, kind, [{ language, ids }]);
  return keep({ language, ids });
}

/** Records with which an imported one is compared, and its own language, if any. */
interface Compared {
  readonly language: string | undefined;
  readonly ids: readonly number[];
}

/**
 * Returns a function that does the same as `inOwnLanguage` for each of these comparisons. The languages are read once
 * for all of them.
 */
export async function ownLanguageFilter(
  { run, db }: Session,
  kind: PostKindName,
  comparisons: readonly Compared[],
): Promise<(compared: Compared) => readonly number[]> {
  const kindLanguages = languagesOf(run.caller, postKind(kind));
  if (!kindLanguages) return ({ ids }) => ids;
  const { languages } = kindLanguages;
  // A record in a language that the site does not have gets the default one.
  const wantedFor = ({ language = run.language }: Compared) =>
    language === undefined ? undefined : (languageOfCode(languages, language)?.code ?? languages.defaultCode);
  const stored = comparisons.flatMap((one) => (wantedFor(one) === undefined ? [] : one.ids.filter((id) => id > 0)));
  const languageOf = await languagesById(db, kindLanguages, [...new Set(stored)]);
  return (compared) => {
    const wanted = wantedFor(compared);
    if (wanted === undefined) return compared.ids;
    // New records of a dry run have no ids of posts. They have the language of the import.
    return compared.ids.filter((id) => (id < 0 ? compared.language === undefined : languageOf(id) === wanted));
  };
}

/** Returns those of some records of this site that are in the language of another one, as `inOwnLanguage` does. */
export const inLanguageOf = (work: Session, kind: PostKindName, ids: readonly number[], other: number): Promise<readonly number[]> =>
  withLanguage(work, kind, ids, async (kindLanguages) => (await languagesById(work.db, kindLanguages, [other]))(other));

type Session = Pick<Work, 'run' | 'db'>;
type Code = string | null | undefined;

async function withLanguage(
  { run, db }: Session,
  kind: PostKindName,
  ids: readonly number[],
  loadCode: (kindLanguages: LanguagesOfKind) => Promise<Code>,
): Promise<readonly number[]> {
  const kindLanguages = languagesOf(run.caller, postKind(kind));
  if (!kindLanguages || ids.length === 0) return ids;
  const code = await loadCode(kindLanguages);
  // In a dry run, new records have no ids of posts. Rows with the same language have already been compared with them.
  const stored = ids.filter((id) => id > 0);
  const languageOf = await languagesById(db, kindLanguages, stored);
  return stored.filter((id) => languageOf(id) === code);
}

async function languagesById(db: Database, kindLanguages: LanguagesOfKind, ids: readonly number[]): Promise<(id: number) => Code> {
  const memberships = await membershipsOf(db, kindLanguages, ids);
  return (id) => (memberships.has(id) ? memberships.get(id)?.language : kindLanguages.languages.defaultCode);
}

import { postKind } from '../../kinds/index.ts';
import type { PostKindName } from '../../kinds/kind-names.ts';
import { languagesOf, languagesOfRecords } from '../../records/record-languages.ts';
import { languageOfCode } from '../../wordpress/content-languages.ts';
import type { Work } from './run.ts';

/** Returns those of some records that are in a language, since translations of a record often have its name. */
export async function inLanguage(
  { run, db }: Pick<Work, 'run' | 'db'>,
  kind: PostKindName,
  ids: readonly number[],
  code: string,
): Promise<readonly number[]> {
  const own = languagesOf(run.caller, postKind(kind));
  const language = own && languageOfCode(own.languages, code);
  if (!own || !language || ids.length === 0) return [];
  const codes = await languagesOfRecords(
    db,
    own,
    ids.filter((id) => id > 0),
  );
  return ids.filter((id) => codes.get(id) === language.code);
}

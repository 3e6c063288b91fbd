import { ApiError } from '../../errors.ts';
import { postKind, termKind } from '../../kinds/index.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { TermKindName } from '../../kinds/kind-names.ts';
import { type LanguagesOfKind, languagesOf, languagesOfRecords, membershipsOf, placeInLanguage } from '../../records/record-languages.ts';
import { languageFaults } from '../../storage/audit/language-audit.ts';
import type { Database } from '../../storage/engine/database.ts';
import { loadPosts } from '../../storage/rows/bundle.ts';
import { takenPostIds } from '../../storage/rows/taken.ts';
import { loadTerms } from '../../storage/rows/terms.ts';
import { languageWriterOf } from '../../storage/translations/language-writers.ts';
import { type ContentLanguage, languageOfCode } from '../../wordpress/content-languages.ts';
import { isPostItem, nameOf, type PostItem, type TermItem } from '../items/items.ts';
import { lose } from '../items/report.ts';
import { groupOf, translationKey } from './ledger.ts';
import type { Run, Work } from './run.ts';

/**
 * Gives the records of items that were written their languages, and links those that are translations of one another.
 * What has a language already and of which the source says none keeps it.
 */
export async function writeLanguages(work: Work, items: readonly (PostItem | TermItem)[]): Promise<void> {
  const { run, db, ledger } = work;
  for (const name of new Set(items.map(({ kind }) => kind))) {
    if (name === 'attachment') continue;
    const some = items.filter((item) => item.kind === name);
    const kind: Kind = name === 'category' || name === 'tag' ? termKind(name) : postKind(name);
    const own = languagesOf(run.caller, kind);
    const placed = some.flatMap((item) => {
      const id = ledger.target(groupOf(item), item.sourceId);
      return id === undefined ? [] : [{ item, id }];
    });
    if (!own) {
      for (const { item } of placed) if (item.language !== undefined) noteLoss(work, item, 'language-lost', item.language);
      continue;
    }
    const codes = await languagesOfRecords(
      db,
      own,
      placed.map(({ id }) => id).filter((id) => id > 0),
    );
    const known = knownMembers(
      work,
      placed.flatMap(({ item }) => groupKeyOf(item) ?? []),
    );
    const gone = await goneMembers(work, kind, known);
    const groups = run.dry ? await groupsOf(work, { own, kind, known }) : new Map<number, ReadonlyMap<string, number>>();
    for (const { item, id } of placed) await place(work, { own, kind, item, id, before: codes.get(id) ?? null, gone, groups });
  }
}

/** What the ledger has the group under that an item is in with its translations. */
const groupKeyOf = ({ kind, translation_group: group }: PostItem | TermItem): string | undefined =>
  group === undefined ? undefined : translationKey(kind, group);

/** Records by which groups are known. */
const knownMembers = ({ ledger }: Work, keys: readonly string[]): number[] =>
  [...new Set(keys.flatMap((key) => ledger.entry(key)?.target ?? []))].filter((id) => id > 0);

/** Those of them that were deleted since they came. */
async function goneMembers({ db }: Work, kind: Kind, ids: readonly number[]): Promise<ReadonlySet<number>> {
  const there = kind.is === 'post' ? await takenPostIds(db, ids) : await loadTerms(db, kind.taxonomy, ids);
  return new Set(ids.filter((id) => !there.has(id)));
}

/** The groups that they are in: who is there and not in the trash, by language. */
async function groupsOf(
  { db }: Work,
  { own, kind, known }: { readonly own: LanguagesOfKind; readonly kind: Kind; readonly known: readonly number[] },
): Promise<ReadonlyMap<number, ReadonlyMap<string, number>>> {
  const groups = [...(await membershipsOf(db, own, known))].map(
    ([id, { language, members }]) => [id, [...members, ...(language === null ? [] : [[language, id] as const])]] as const,
  );
  const ids = [...new Set(groups.flatMap(([, members]) => members.map(([, id]) => id)))];
  const living =
    kind.is === 'term'
      ? [...(await loadTerms(db, kind.taxonomy, ids)).keys()]
      : [...(await loadPosts(db, ids)).values()].flatMap(({ ID, post_status: status }) => (status === 'trash' ? [] : [ID]));
  const lives = new Set(living);
  return new Map(groups.map(([id, members]) => [id, new Map(members.filter(([, one]) => lives.has(one)))]));
}

/**
 * A record that was written for an item; `before`: its language so far; `gone`: records that are there no more;
 * `groups`: in a rehearsal, those that known records are in.
 */
interface Placed {
  readonly own: LanguagesOfKind;
  readonly kind: Kind;
  readonly item: PostItem | TermItem;
  readonly id: number;
  readonly before: string | null;
  readonly gone: ReadonlySet<number>;
  readonly groups: ReadonlyMap<number, ReadonlyMap<string, number>>;
}

async function place(work: Work, { own, kind, item, id, before, gone, groups }: Placed): Promise<void> {
  const { run, db, ledger, events } = work;
  const wanted = item.language ?? (before === null ? run.language : undefined);
  const stated = wanted === undefined ? undefined : languageOfCode(own.languages, wanted);
  if (wanted !== undefined && !stated) noteLoss(work, item, 'language-unknown', wanted);
  const language = stated ?? languageOfCode(own.languages, before ?? own.languages.defaultCode);
  if (!language) return;
  const key = groupKeyOf(item);
  const known = key === undefined ? undefined : ledger.entry(key)?.target;
  const other = known !== undefined && gone.has(known) ? undefined : known;
  if (key !== undefined && other === undefined) ledger.add({ item: key, kind: 'translations', target: id, digest: '', run: run.number });
  if (run.dry) {
    const there = other === undefined ? undefined : groups.get(other);
    if (key !== undefined && !takesPlace(run.overlayGroups, { key, there, language, id }))
      noteLoss(work, item, 'translation-conflict', item.translation_group!);
    return;
  }
  const placing = { id, before, language };
  const linked = await placeInLanguage(
    db,
    run.caller,
    kind,
    placing,
    other === undefined || other === id ? {} : { translation_of: other },
  ).catch(async (error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    noteLoss(work, item, 'translation-conflict', item.translation_group ?? language.code);
    return before === null ? placeInLanguage(db, run.caller, kind, placing, {}) : [];
  });
  if (kind.is === 'post' && kind.dated) events.push(...linked);
}

/** Rehearses that a record takes the place of its language in a group. False: another one has it. */
function takesPlace(
  groups: Run['overlayGroups'],
  {
    key,
    there,
    language: { code },
    id,
  }: { key: string; there: ReadonlyMap<string, number> | undefined; language: ContentLanguage; id: number },
): boolean {
  const members = groups.get(key) ?? new Map(there);
  groups.set(key, members);
  if ((members.get(code) ?? id) !== id) return false;
  for (const [other, member] of members) if (member === id) members.delete(other);
  members.set(code, id);
  return true;
}

const noteLoss = ({ tally }: Work, item: PostItem | TermItem, reason: string, detail: string): void =>
  lose(tally, { reason, kind: item.kind, of: isPostItem(item) ? nameOf(item) : item.name, place: item.place, detail });

/** Gives terms that came with records, of which nothing but a name is known, the language of the others. */
export async function assignTermLanguage(db: Database, run: Run, name: TermKindName, ids: readonly number[]): Promise<void> {
  const own = languagesOf(run.caller, termKind(name));
  const language: ContentLanguage | undefined = own && languageOfCode(own.languages, run.language ?? own.languages.defaultCode);
  if (!own || !language) return;
  const codes = await languagesOfRecords(db, own, ids);
  const neutral = ids.filter((id) => codes.get(id) === null);
  if (neutral.length > 0) await languageWriterOf(own.languages).assign(db, own.of, neutral, language, 0);
}

/** Counts again how many records each language has. */
export async function recountLanguages(db: Database, { caller }: Run): Promise<void> {
  const { contentLanguages } = caller.settings;
  if (!contentLanguages) return;
  await languageFaults(contentLanguages)
    .find(({ name }) => name === 'language-counts-wrong')
    ?.fix(db);
}

import { takenPostIds } from '../../storage/rows/ids-in-use.ts';
import { existingUserIds, findUserByLogin, preventUserRemoval } from '../../storage/rows/users.ts';
import type { Post } from '../../wordpress/rows.ts';
import { type Link, nameOf, type PostItem } from '../items/items.ts';
import { typeOf } from '../items/site-items.ts';
import { inOwnLanguage } from './in-language.ts';
import { permittedAuthor } from './rights.ts';
import type { WantedReferences, Work } from './run.ts';

/** The references of a post as ids of this site; those that are not imported yet are left out and resolved later. */
export interface Resolved {
  readonly author: number | undefined;
  readonly parent: number | undefined;
  readonly links: readonly (readonly [key: string, value: string])[];
  /** `kind:term_id`. */
  readonly terms: readonly string[];
  /** Keys of links and kinds of terms of which some are left out, so that an update writes them at the end. */
  readonly pending: ReadonlySet<string>;
}

/** An imported post with its name in the ledger. */
interface Imported {
  readonly item: PostItem;
  readonly key: string;
  readonly digest: string;
}

/**
 * Resolves the references of a post. If one is missing, those that are to be resolved again at the end are noted.
 * `post`: its id, and its author until now.
 */
export async function resolvePost(
  work: Work,
  { item, key, digest }: Imported,
  { ID: target, post_author: current }: Pick<Post, 'ID' | 'post_author'>,
): Promise<Resolved> {
  const { ledger } = work;
  const author = item.author === undefined ? undefined : await authorOf(work, item.author);
  const parent = item.parent === undefined ? undefined : ledger.target('post', item.parent);
  const links: [string, string][] = [];
  const pending = new Set<string>();
  for (const link of item.links) {
    const id = await linkTarget(work, link);
    if (id === undefined) pending.add(link.key);
    else links.push([link.key, String(id)]);
  }
  const terms = (item.terms ?? []).map((term) => ({ term, id: ledger.target(term.kind, term.sourceId) }));
  for (const { term, id } of terms) if (id === undefined) pending.add(term.kind);
  const isMissing = (part: string): boolean =>
    pending.has(part) || (part === 'author' && author === undefined) || (part === 'parent' && parent === undefined);
  waitForParts(work, { item, key, target }, isMissing, { digest });
  // Two terms of the source may be one term here.
  const termKeys = new Set(terms.flatMap(({ term, id }) => (id === undefined ? [] : [`${term.kind}:${id}`])));
  const named = { key, kind: item.kind, of: nameOf(item), place: item.place };
  return { author: permittedAuthor(work, named, author, current), parent, links, terms: [...termKeys], pending };
}

/** Notes the references in some parts of a post, which are to be resolved at the end. Returns whether there are any. */
export function waitForParts(
  { waiting }: Work,
  { item, key, target }: Pick<Imported, 'item' | 'key'> & { readonly target: number },
  isPart: (part: string) => boolean,
  state: Pick<WantedReferences, 'digest' | 'unchanged'>,
): boolean {
  const links = item.links.filter((link) => isPart(link.key));
  // A term that is created for the record gets its language.
  const terms = (item.terms ?? []).filter((term) => isPart(term.kind)).map((term) => ({ language: item.language, ...term }));
  const references: Partial<WantedReferences> = {
    ...(item.author !== undefined && isPart('author') ? { author: item.author } : {}),
    ...(item.parent !== undefined && isPart('parent') ? { parent: item.parent } : {}),
    ...(links.length > 0 ? { links, ...(item.complete ? { complete: true } : {}) } : {}),
    ...(terms.length > 0 ? { terms, unsaid: item.unsaid } : {}),
  };
  if (Object.keys(references).length === 0) return false;
  const wants: WantedReferences = { of: nameOf(item), place: item.place, ...state, ...references };
  waiting.push({ item: key, kind: item.kind, target, wants: JSON.stringify(wants) });
  return true;
}

/**
 * Returns the user of an author: one that was imported with the source, or one with this login; undefined if there is
 * none, or if the user was deleted here. The user cannot be deleted until the transaction ends, so that each author is
 * looked up once in a step.
 */
export async function authorOf(work: Work, author: string): Promise<number | undefined> {
  const { authors } = work;
  if (!authors.has(author)) authors.set(author, await findAuthor(work, author));
  return authors.get(author);
}

async function findAuthor(work: Work, author: string): Promise<number | undefined> {
  const { run, db, ledger } = work;
  const user = ledger.target('author', author) ?? (await findUserByLogin(db, author, []))?.row.ID;
  if (user === undefined) return undefined;
  const isThere = run.isDryRun ? await doesUserExist(work, user) : await preventUserRemoval(db, user);
  return isThere ? user : undefined;
}

/** Whether there is a user with this id, or would be after a dry run. */
export const doesUserExist = async ({ db, run }: Pick<Work, 'db' | 'run'>, id: number): Promise<boolean> =>
  (run.isDryRun && id < 0) || (await existingUserIds(db, [id])).has(id);

/**
 * Returns the id that a link leads to: the record that was imported under that name, or the record with this title that
 * is no draft of somebody else, if possible in the language of the link or of the import, or, if there is none, with
 * this id. Images are found by source id alone.
 */
export async function linkTarget(work: Work, link: Link): Promise<number | undefined> {
  const { run, db, ledger, replaced } = work;
  if ('sourceId' in link) {
    const id = ledger.target('post', link.sourceId);
    return id === undefined ? undefined : (replaced.get(id) ?? id);
  }
  const all = link.kind === 'attachment' ? [] : await run.names.findUsable(db, link.kind, link.name);
  const idsInLanguage = all.length < 2 ? all : await inOwnLanguage(work, link, all);
  const target = idsInLanguage[0] ?? all[0];
  if (target !== undefined || !/^[1-9]\d{0,14}$/.test(link.name)) return target;
  const id = Number(link.name);
  return (await takenPostIds(db, [id])).get(id)?.post_type === typeOf(link.kind) ? id : undefined;
}

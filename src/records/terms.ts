import { fail, failParam } from '../errors.ts';
import { termLinks } from '../kinds/core-term.ts';
import type { Methods } from '../kinds/core-view.ts';
import { narrow, together } from '../kinds/filter.ts';
import type { TermKind, TermListValues, TermValues } from '../kinds/kind.ts';
import { termOrder } from '../kinds/term-list.ts';
import { termRecord } from '../kinds/term-record.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import { noteChange } from '../storage/journal/touched.ts';
import { findTerms } from '../storage/lists/term-list.ts';
import { findTerm, loadTree } from '../storage/rows/terms.ts';
import type { Term } from '../wordpress/rows.ts';
import type { Caller } from './caller.ts';
import { keepIndexOfMoved, removeIndexedTerm } from './list-index.ts';
import { type Listing, pageSize } from './posts.ts';
import { changeTermRow, createTermRow, dropTree } from './term-writes.ts';
import { type Shown, versionOfTerm } from './versions.ts';
import { mayManageTerms } from './visibility.ts';

/**
 * The terms that a request asks for. A page past the last is empty. `offset`: how many terms to pass over instead of
 * pages.
 */
export async function listTerms(site: Site, caller: Caller, kind: TermKind, values: TermListValues, offset?: number): Promise<Listing> {
  const { page = 1 } = values;
  const perPage = pageSize(site, caller, values);
  const { conditions, echo, timeliness } = narrow(kind.filters, values, caller);
  const { terms, total, tree } = await findTerms(site.db, {
    kind,
    ...together(conditions),
    ...termOrder(values),
    limit: perPage,
    offset: offset === undefined ? (page - 1) * perPage : Math.max(0, offset),
  });
  return {
    records: terms.map((term) => termRecord(term, kind, ancestors(term, tree), caller)),
    total,
    pages: Math.ceil(total / perPage),
    page,
    timeliness,
    query: [...(values.per_page === undefined ? [] : [['per_page', String(perPage)] as const]), ...echo],
  };
}

/** One term, with the links that WordPress's own routes give it. */
export async function readTerm({ db }: Site, caller: Caller, kind: TermKind, id: number): Promise<Required<Shown>> {
  const term = await existing(db, kind, id);
  const record = {
    ...termRecord(term, kind, await ancestorsOf(db, kind, term), caller),
    _links: termLinks(term, kind, caller, termMethods(caller, kind)),
  };
  return { record, version: versionOfTerm(caller, term) };
}

/** What the caller may do with a term on WordPress's own route of it. */
export const termMethods = (caller: Caller, kind: TermKind): Methods =>
  mayManageTerms(caller, kind) ? ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] : ['GET'];

/** Creates a term. Gives its record and id. */
export async function createTerm(
  site: Site,
  caller: Caller,
  kind: TermKind,
  values: TermValues,
): Promise<Required<Shown> & { id: number }> {
  const { name = '', slug, description, parent } = values;
  if (!kind.hierarchical && parent !== undefined) fail('rest_taxonomy_not_hierarchical');
  const { id } = await site.db.transaction(async (trx) => {
    const made = await createTermRow(trx, kind, {
      name,
      slug,
      description: description ?? '',
      parent: parent ?? 0,
    });
    noteChange(trx, caller);
    return made;
  });
  return { id, ...(await readTerm(site, caller, kind, id)) };
}

/** Changes what the values name of a term. */
export async function changeTerm(site: Site, caller: Caller, kind: TermKind, id: number, values: TermValues): Promise<Shown> {
  const { name, slug, description, parent } = values;
  if (!kind.hierarchical && parent !== undefined) fail('rest_taxonomy_not_hierarchical');
  await site.db.transaction(async (trx) => {
    const term = await existing(trx, kind, id);
    if (!Object.keys(values).some((name) => name in kind.fields)) return;
    await changeTermRow(trx, kind, term, {
      ...(name === undefined ? {} : { name }),
      ...(slug === undefined ? {} : { slug }),
      ...(description === undefined ? {} : { description: description ?? '' }),
      ...(parent === undefined ? {} : { parent: parent ?? 0 }),
    });
    await keepIndexOfMoved(trx, caller, term);
    noteChange(trx, caller);
  });
  return readTerm(site, caller, kind, id);
}

/** Deletes a term for good; its children move up, posts lose it. Gives the record as it was. */
export async function deleteTerm({ db }: Site, caller: Caller, kind: TermKind, id: number): Promise<Record<string, unknown>> {
  return db.transaction(async (trx) => {
    const term = await existing(trx, kind, id);
    const record = termRecord(term, kind, await ancestorsOf(trx, kind, term), caller);
    await removeIndexedTerm(trx, caller, term);
    if (kind.hierarchical) await dropTree(trx, kind);
    noteChange(trx, caller);
    return record;
  });
}

async function existing(db: Database, kind: TermKind, id: number): Promise<Term> {
  return (await findTerm(db, kind.taxonomy, id)) ?? failParam('id', 'id-unknown');
}

export async function ancestorsOf(db: Database, kind: TermKind, term: Term): Promise<string[]> {
  return term.parent === 0 ? [] : ancestors(term, await loadTree(db, kind.taxonomy));
}

/** Slugs from the root down to the term's parent. */
export function ancestors({ parent }: Term, tree: ReadonlyMap<number, { parent: number; slug: string }>): string[] {
  const slugs: string[] = [];
  for (let node = tree.get(parent); node && slugs.length < tree.size; node = tree.get(node.parent)) slugs.unshift(node.slug);
  return slugs;
}

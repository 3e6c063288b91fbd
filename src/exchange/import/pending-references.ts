import { postKind, termKind } from '../../kinds/index.ts';
import { updateIndexAfterTermChange } from '../../records/list-index.ts';
import { makesLoop } from '../../records/term-writes.ts';
import { loadMetas, loadPosts } from '../../storage/rows/bundle.ts';
import { updatePost, writeMetas } from '../../storage/rows/posts.ts';
import { recount, setTermsOf } from '../../storage/rows/term-links.ts';
import { loadTerms, loadTermsOf, updateTerm } from '../../storage/rows/terms.ts';
import type { Link, LinkedKind, PostItem } from '../items/items.ts';
import { addLoss } from '../items/report.ts';
import { withHiddenLinks } from './hidden-links.ts';
import { ledgerKey } from './ledger.ts';
import { authorOf, linkTarget } from './resolve.ts';
import type { WaitingRecord, WantedReferences, Work } from './run.ts';
import { lockCategoryTree, termFromReference } from './write-terms.ts';

/** Returns the references that a record waits for. */
const referencesOf = ({ wants }: Pick<WaitingRecord, 'wants'>): WantedReferences => JSON.parse(wants);

/** Returns the ledger keys of the references that records wait for. */
export function keysOfPending(rows: readonly WaitingRecord[]): Set<string> {
  return new Set(
    rows.flatMap((row) => {
      const { kind } = row;
      const { author, parent, links = [], terms = [] } = referencesOf(row);
      return [
        ...(author === undefined ? [] : [ledgerKey('author', author)]),
        ...(parent === undefined ? [] : [ledgerKey(kind === 'category' || kind === 'tag' ? kind : 'post', parent)]),
        ...links.flatMap((link) => ('sourceId' in link ? [ledgerKey('post', link.sourceId)] : [])),
        ...terms.map((term) => ledgerKey(term.kind, term.sourceId)),
      ];
    }),
  );
}

/** Resolves pending references after all items have come. References that are still missing are reported as lost. */
export async function resolvePending(work: Work, rows: readonly WaitingRecord[]): Promise<void> {
  if (rows.some(({ kind }) => kind === 'category')) await lockCategoryTree(work);
  for (const row of rows) {
    const wants = referencesOf(row);
    const { kind } = row;
    if (kind === 'category' || kind === 'tag') await resolvePendingTerm(work, kind, row.target, wants);
    else await resolvePendingPost(work, row, kind as PostItem['kind'], wants);
  }
}

/** Returns the same record without references to terms that would have to be created; those count as missing. */
export function withoutNewTerms(row: WaitingRecord): WaitingRecord {
  const { terms, ...wants } = referencesOf(row);
  const knownTerms = terms?.map(({ kind, sourceId }) => ({ kind, sourceId }));
  return { ...row, wants: JSON.stringify(knownTerms ? { ...wants, terms: knownTerms } : wants) };
}

async function resolvePendingTerm(work: Work, kind: 'category' | 'tag', target: number, wants: WantedReferences): Promise<void> {
  const { run, db, ledger, tally, touched } = work;
  const { taxonomy } = termKind(kind);
  const parent = ledger.target(kind, wants.parent ?? '');
  if (parent === undefined) {
    addLoss(tally, { reason: 'parent-missing', kind, of: wants.of, place: wants.place, detail: wants.parent });
    return;
  }
  if (await makesLoop(db, { term_id: target, taxonomy }, parent, run.dryParents)) {
    addLoss(tally, { reason: 'parent-loop', kind, of: wants.of, place: wants.place, detail: wants.parent });
    return;
  }
  if (run.isDryRun) run.dryParents.set(target, parent);
  const term = run.isDryRun ? undefined : (await loadTerms(db, taxonomy, [target])).get(target);
  if (!term || term.parent === parent) return;
  await updateTerm(db, term, { parent });
  await updateIndexAfterTermChange(db, run.caller, term);
  touched.any = true;
  touched.tree = true;
}

async function resolvePendingPost(
  work: Work,
  { item, target }: WaitingRecord,
  kind: PostItem['kind'],
  wants: WantedReferences,
): Promise<void> {
  const { run, ledger, touched } = work;
  touched.any = true;
  const references = await lookUp(work, kind, wants);
  // Another import may bring what is missing, so that an empty digest makes it compare the record again.
  if (!references.isComplete) ledger.add({ item, kind, target, digest: '', run: run.number });
  if (!run.isDryRun) await writeReferences(work, kind, target, references);
}

/** The references of a record that could be resolved. */
interface FoundReferences {
  /** Whether all of them could. */
  readonly isComplete: boolean;
  readonly author: number | undefined;
  readonly parent: number | undefined;
  /** Key -> the ids that it links to. */
  readonly metas: ReadonlyMap<string, readonly string[]>;
  /** Whether the source also names venues and organizers that visitors do not see. */
  readonly namesHidden: boolean;
  /** Undefined if the source contains no terms for the record. */
  readonly terms: readonly { readonly kind: 'category' | 'tag'; readonly id: number }[] | undefined;
  /** Kinds of terms whose current terms stay. */
  readonly unsaid: NonNullable<WantedReferences['unsaid']>;
}

/** Resolves the references that a record waits for, and reports those that are missing. */
async function lookUp(work: Work, kind: PostItem['kind'], wants: WantedReferences): Promise<FoundReferences> {
  const { ledger, tally } = work;
  const { of, place } = wants;
  let isComplete = true;
  const reportMissing = (reason: string, detail: string, linked?: LinkedKind) => {
    isComplete = false;
    addLoss(tally, { reason, kind, of, place, detail, ...(linked ? { linked } : {}) });
  };

  const author = wants.author === undefined ? undefined : await authorOf(work, wants.author);
  if (wants.author !== undefined && author === undefined) reportMissing('author-missing', wants.author);
  const parent = wants.parent === undefined ? undefined : ledger.target('post', wants.parent);
  if (wants.parent !== undefined && parent === undefined) {
    // Attachments often belong to articles, which are not part of a calendar, so that this is not reported.
    if (kind === 'attachment') isComplete = false;
    else reportMissing('parent-missing', wants.parent);
  }

  const metas = new Map<string, string[]>();
  for (const link of wants.links ?? []) {
    const id = await linkTarget(work, link);
    const ids = metas.get(link.key) ?? [];
    metas.set(link.key, ids);
    if (id !== undefined) ids.push(String(id));
    else if (isAddress(link)) isComplete = false;
    else reportMissing('link-missing', 'sourceId' in link ? link.sourceId : link.name, link.kind);
  }
  const terms: { kind: 'category' | 'tag'; id: number }[] = [];
  for (const term of wants.terms ?? []) {
    const id = ledger.target(term.kind, term.sourceId) ?? (await termFromReference(work, term));
    if (id === undefined) reportMissing('term-missing', term.sourceId);
    else terms.push({ kind: term.kind, id });
  }
  const { unsaid = [], complete: namesHidden = false } = wants;
  return { isComplete, author, parent, metas, namesHidden, terms: wants.terms && terms, unsaid };
}

/** Writes the resolved references into the record. */
async function writeReferences({ db, events }: Work, kind: PostItem['kind'], target: number, references: FoundReferences): Promise<void> {
  const { author, parent, metas, namesHidden, terms, unsaid } = references;
  const row = (await loadPosts(db, [target])).get(target);
  if (!row) return;
  if (kind === 'event') events.push(target);
  await updatePost(db, target, {
    ...(author === undefined ? {} : { post_author: author }),
    ...(parent === undefined || parent === target ? {} : { post_parent: parent }),
  });
  const storedMetas = (await loadMetas(db, [target])).get(target) ?? new Map<string, string[]>();
  const links = namesHidden ? metas : await withHiddenLinks(db, metas, storedMetas);
  await writeMetas(db, target, withPlaceholders(links, storedMetas));
  if (terms === undefined || kind === 'attachment') return;
  const before = (await loadTermsOf(db, [target])).get(target) ?? [];
  for (const name of postKind(kind).terms) {
    const { taxonomy } = termKind(name);
    const keptIds = unsaid.includes(name) ? before.filter((term) => term.taxonomy === taxonomy).map(({ term_id: id }) => id) : [];
    const ids = terms.filter((term) => term.kind === name).map(({ id }) => id);
    await recount(db, await setTermsOf(db, target, taxonomy, [...new Set([...keptIds, ...ids])]));
  }
}

/** Keeps the placeholder values of link metas (empty or 0) before the ids. */
function withPlaceholders(
  metas: ReadonlyMap<string, readonly string[]>,
  before: ReadonlyMap<string, readonly string[]>,
): Record<string, string[]> {
  return Object.fromEntries(
    Array.from(metas, ([key, ids]) => [key, [...(before.get(key) ?? []).filter((value) => value === '' || value === '0'), ...ids]]),
  );
}

/** Whether a link is to an image by URL. If it could not be fetched, that has been reported already. */
const isAddress = (link: Link): boolean => link.kind === 'attachment' && 'sourceId' in link && /^https?:/.test(link.sourceId);

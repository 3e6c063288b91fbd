import { postKind, termKind } from '../../kinds/index.ts';
import type { PostKindName } from '../../kinds/kind-names.ts';
import { updateIndexAfterTermChange } from '../../records/list-index.ts';
import { makesLoop } from '../../records/term-writes.ts';
import type { Database } from '../../storage/engine/database.ts';
import { loadMetas, loadPosts } from '../../storage/rows/bundle.ts';
import { lockPost, updatePost, writeMetas } from '../../storage/rows/posts.ts';
import { recount, setTermsOf } from '../../storage/rows/term-links.ts';
import { loadTerms, loadTermsOf, updateTerm } from '../../storage/rows/terms.ts';
import { storedTexts } from '../../wordpress/php/serialized.ts';
import type { Post } from '../../wordpress/rows.ts';
import { type Link, type LinkedKind, type PostItem, shownLinks } from '../items/items.ts';
import { addLoss, addToCount } from '../items/report.ts';
import { withHiddenLinks } from './hidden-links.ts';
import { digestAfterSearch, noteMissing } from './incomplete.ts';
import { ledgerKey } from './ledger.ts';
import { authorOf, linkTarget } from './resolve.ts';
import { mayChangePost, mayWriteTerms, permittedAuthor } from './rights.ts';
import type { WaitingRecord, WantedReferences, Work } from './run.ts';
import { noteTrashedLinks } from './trashed-links.ts';
import { lockCategoryTree, termFromReference } from './write-terms.ts';

/** Returns the references that a record waits for. */
const referencesOf = ({ wants }: Pick<WaitingRecord, 'wants'>): WantedReferences => JSON.parse(wants);

/** Returns the parts of a record that it waits for. */
const partsOf = ({ author, parent, links = [], terms = [] }: WantedReferences): string[] => [
  ...(author === undefined ? [] : ['author']),
  ...(parent === undefined ? [] : ['parent']),
  ...links.map(({ key }) => key),
  ...terms.map(({ kind }) => kind),
];

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
  await noteTrashedLinks(
    work,
    rows.map(referencesOf).flatMap(({ complete, links }) => (complete ? [] : (links ?? []))),
  );
  // Records are locked in the order of their ids, as everywhere.
  for (const row of [...rows].sort((one, other) => one.target - other.target)) {
    const wants = referencesOf(row);
    const { kind } = row;
    if (kind === 'category' || kind === 'tag') await resolvePendingTerm(work, row, kind, wants);
    else await resolvePendingPost(work, row, kind as PostItem['kind'], wants);
  }
}

/** Returns the same record without references to terms that would have to be created; those count as missing. */
export function withoutNewTerms(row: WaitingRecord): WaitingRecord {
  const { terms, ...wants } = referencesOf(row);
  const knownTerms = terms?.map(({ kind, sourceId }) => ({ kind, sourceId }));
  return { ...row, wants: JSON.stringify(knownTerms ? { ...wants, terms: knownTerms } : wants) };
}

async function resolvePendingTerm(
  work: Work,
  { item, target }: WaitingRecord,
  kind: 'category' | 'tag',
  wants: WantedReferences,
): Promise<void> {
  const { run, db, ledger, tally, touched } = work;
  if (!mayWriteTerms(run, kind)) {
    const entry = ledger.entry(item);
    // Without a digest, the next user who may examines the term again.
    if (entry) ledger.add({ ...entry, digest: '' });
    return;
  }
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
  await updateIndexAfterTermChange(db, await work.indexer(), term);
  touched.any = true;
  touched.tree = true;
}

async function resolvePendingPost(
  work: Work,
  { item, target }: WaitingRecord,
  kind: PostItem['kind'],
  wants: WantedReferences,
): Promise<void> {
  const { run, db, ledger, tally } = work;
  const references = await lookUp(work, kind, wants);
  const row = run.isDryRun ? (await loadPosts(db, [target])).get(target) : await lockPost(db, target);
  const { digest: storedDigest = '', made = 0 } = ledger.entry(item) ?? {};
  const metas = row?.post_status === 'trash' ? (await loadMetas(db, [target])).get(target) : undefined;
  if (row && made !== run.number && !mayChangePost(run, row, metas)) {
    addLoss(tally, { reason: 'record-forbidden', kind, of: wants.of, place: wants.place });
    if (wants.unchanged) addToCount(tally.unchanged, kind);
    noteMissing(ledger, item, partsOf(wants));
    return;
  }
  const digest = digestAfterSearch(storedDigest, wants.digest ?? storedDigest, { sought: partsOf(wants), missing: references.missing });
  ledger.add({ item, kind, target, digest, run: run.number });
  const current = row?.post_author ?? run.caller.viewer.id;
  const author = permittedAuthor(work, { key: item, kind, of: wants.of, place: wants.place }, references.author, current);
  const isChanged = row !== undefined && (await writeReferences(work, kind, row, { ...references, author }));
  if (wants.unchanged) addToCount(isChanged ? tally.updated : tally.unchanged, kind);
}

/** The references of a record that could be resolved. */
interface FoundReferences extends Pick<WantedReferences, 'unsaid'> {
  /** The parts of the record of which some could not: `author`, `parent`, keys of links, kinds of terms. */
  readonly missing: ReadonlySet<string>;
  readonly author: number | undefined;
  readonly parent: number | undefined;
  /** Key -> the ids that it links to. */
  readonly metas: ReadonlyMap<string, readonly string[]>;
  /** Kind of terms -> their ids. */
  readonly terms: ReadonlyMap<string, readonly string[]>;
  /** Whether the source also names venues and organizers that visitors do not see. */
  readonly namesHidden: boolean;
  /** Whether the source has not changed since these references were missing. */
  readonly isUnchanged: boolean;
}

/** Resolves the references that a record waits for, and reports those that are missing. */
async function lookUp(work: Work, kind: PostItem['kind'], wants: WantedReferences): Promise<FoundReferences> {
  const { ledger, tally } = work;
  const { of, place } = wants;
  const missing = new Set<string>();
  const reportMissing = (part: string, reason: string, detail: string, linked?: LinkedKind) => {
    missing.add(part);
    addLoss(tally, { reason, kind, of, place, detail, ...(linked ? { linked } : {}) });
  };

  const author = wants.author === undefined ? undefined : await authorOf(work, wants.author);
  if (wants.author !== undefined && author === undefined) {
    // That the user was deleted here has been reported with the author.
    if (ledger.target('author', wants.author) !== undefined) missing.add('author');
    else reportMissing('author', 'author-missing', wants.author);
  }
  const parent = wants.parent === undefined ? undefined : ledger.target('post', wants.parent);
  if (wants.parent !== undefined && parent === undefined) {
    // Attachments often belong to articles, which are not part of a calendar, so that this is not reported.
    if (kind === 'attachment') missing.add('parent');
    else reportMissing('parent', 'parent-missing', wants.parent);
  }

  const { links = [] } = wants;
  const shown = new Set(shownLinks({ links }));
  const metas = new Map<string, string[]>(links.map(({ key }) => [key, []]));
  for (const link of links) {
    const id = await linkTarget(work, link);
    if (id !== undefined) metas.get(link.key)?.push(String(id));
    else if (isAddress(link) || !shown.has(link)) missing.add(link.key);
    else reportMissing(link.key, 'link-missing', 'sourceId' in link ? link.sourceId : link.name, link.kind);
  }
  const terms = new Map<string, string[]>((wants.terms ?? []).map((term) => [term.kind, []]));
  for (const term of wants.terms ?? []) {
    const id = ledger.target(term.kind, term.sourceId) ?? (await termFromReference(work, term));
    if (id === undefined)
      reportMissing(term.kind, mayWriteTerms(work.run, term.kind) ? 'term-missing' : 'term-forbidden', term.name ?? term.sourceId);
    else terms.get(term.kind)?.push(String(id));
  }
  const { unsaid = [], complete: namesHidden = false, unchanged: isUnchanged = false } = wants;
  return { missing, author, parent, metas, terms, unsaid, namesHidden, isUnchanged };
}

/** Writes the resolved references into the record. Returns whether it changes; a dry run only says so. */
async function writeReferences(work: Work, kind: PostItem['kind'], row: Post, references: FoundReferences): Promise<boolean> {
  const { run, db, events, touched } = work;
  const { author, parent } = references;
  const target = row.ID;
  const columns = {
    ...(author === undefined || author === row.post_author ? {} : { post_author: author }),
    ...(parent === undefined || [target, row.post_parent].includes(parent) ? {} : { post_parent: parent }),
  };
  const metas = await changedLinks(work, target, references);
  const terms = kind === 'attachment' ? [] : await changedTerms(db, kind, target, references);
  if (Object.keys({ ...columns, ...metas }).length + terms.length === 0) return false;
  touched.any = true;
  if (run.isDryRun) return true;
  if (kind === 'event') events.push(target);
  await updatePost(db, target, columns);
  await writeMetas(db, target, Object.fromEntries(Object.entries(metas).map(([key, ids]) => [key, storedTexts(ids)])));
  for (const [taxonomy, ids] of terms) await recount(db, await setTermsOf(db, target, taxonomy, ids));
  return true;
}

/** Returns the link metas of a record that change, with all their new values. */
async function changedLinks(
  work: Work,
  target: number,
  { metas, missing, namesHidden, isUnchanged }: FoundReferences,
): Promise<Record<string, string[]>> {
  if (metas.size === 0) return {};
  const storedMetas = (await loadMetas(work.db, [target])).get(target) ?? new Map<string, string[]>();
  const links = namesHidden ? metas : await withHiddenLinks(work, metas, storedMetas);
  const changes: Record<string, string[]> = {};
  for (const [key, found] of links) {
    const stored = storedMetas.get(key) ?? [];
    const [placeholders, ids] = [stored.filter(isPlaceholder), stored.filter((value) => !isPlaceholder(value))];
    const values = [...placeholders, ...idsToStore(ids, found, { isWhole: !missing.has(key), isUnchanged })];
    if (values.join() !== stored.join()) changes[key] = values;
  }
  return changes;
}

/** Whether a value of a link meta is empty or 0. Such values stay before the ids. */
const isPlaceholder = (value: string): boolean => value === '' || value === '0';

/** Returns the taxonomies in which the terms of a record change, with the ids of all their new terms. */
async function changedTerms(
  db: Database,
  kind: PostKindName,
  target: number,
  { terms, missing, unsaid = [], isUnchanged }: FoundReferences,
): Promise<(readonly [taxonomy: string, ids: number[]])[]> {
  if (terms.size === 0) return [];
  const storedTerms = (await loadTermsOf(db, [target])).get(target) ?? [];
  return postKind(kind).terms.flatMap((name) => {
    const found = terms.get(name);
    const { taxonomy } = termKind(name);
    const ids = storedTerms.filter((term) => term.taxonomy === taxonomy).map(({ term_id: id }) => String(id));
    const stated = new Set([...(unsaid.includes(name) ? ids : []), ...(found ?? [])]);
    const values = idsToStore(ids, [...stated], { isWhole: !missing.has(name), isUnchanged });
    const isSame = values.length === ids.length && values.every((id) => ids.includes(id));
    return found === undefined || isSame ? [] : [[taxonomy, values.map(Number)] as const];
  });
}

/**
 * Returns the ids that a record gets of which its source states these. While some are missing, it loses none: editors
 * may have filled the gap. A record that has not changed in its source only gets what was missing, unless editors have
 * chosen something else. `isWhole`: whether all ids were found.
 */
function idsToStore(
  stored: readonly string[],
  found: readonly string[],
  { isWhole, isUnchanged }: { readonly isWhole: boolean; readonly isUnchanged: boolean },
): readonly string[] {
  const isExtended = stored.every((id) => found.includes(id));
  if (isUnchanged) return isWhole && isExtended ? found : stored;
  return isWhole || isExtended ? found : [...stored, ...found.filter((id) => !stored.includes(id))];
}

/** Whether a link is to an image by URL. If it could not be fetched, that has been reported already. */
const isAddress = (link: Link): boolean => link.kind === 'attachment' && 'sourceId' in link && /^https?:/.test(link.sourceId);

import { groupedBy } from '../../grouped-by.ts';
import { termKind } from '../../kinds/index.ts';
import type { TermKindName } from '../../kinds/kind-names.ts';
import type { LedgerEntry } from '../../storage/rows/imports.ts';
import { loadTerms } from '../../storage/rows/terms.ts';
import type { Term } from '../../wordpress/rows.ts';
import { sanitizeTitle } from '../../wordpress/slug.ts';
import type { TermItem } from '../items/items.ts';
import { type Ledger, ledgerKey, sourceTermKey, termIdKey } from './ledger.ts';
import type { Work } from './run.ts';

type NamedTerm = Pick<TermItem, 'kind' | 'sourceId' | 'id' | 'slug'>;

/** A term that an earlier import brought. */
export interface KnownTerm {
  readonly entry: LedgerEntry;
  /** Its row here; undefined for a term that a dry run would have created. */
  readonly row: Term | undefined;
  /** Whether the source had it under another slug then. */
  readonly isRenamed: boolean;
}

/**
 * Terms of a source that this site has already. The source names terms by their slugs, which editors change, and
 * numbers those that share a slug; so the ids that the source states are noted, too.
 */
export interface KnownTerms {
  readonly find: (term: NamedTerm) => KnownTerm | undefined;
  /** Whether a term here is already that of another term of the source. */
  readonly isOfOther: (term: NamedTerm, target: number) => Promise<boolean>;
  /** Notes the id that a term has in the source. */
  readonly note: (term: NamedTerm, target: number) => Promise<void>;
}

/** Looks up the terms of a batch at once. */
export async function lookUpTerms(work: Work, terms: readonly TermItem[]): Promise<KnownTerms> {
  const { run, db, ledger } = work;
  const rows = new Map<string, Term>();
  const targets = terms.flatMap((term) =>
    [entryByName(ledger, term), entryById(ledger, term)].flatMap((entry) => (entry ? [{ kind: term.kind, id: entry.target }] : [])),
  );
  await ledger.lookUp(targets.map(({ kind, id }) => sourceTermKey(kind, id)));
  for (const [kind, of] of groupedBy(targets, ({ kind }) => kind))
    for (const row of (
      await loadTerms(
        db,
        termKind(kind).taxonomy,
        of.map(({ id }) => id).filter((id) => id > 0),
      )
    ).values())
      rows.set(keyOf(kind, row.term_id), row);

  const find = (term: NamedTerm) => findTerm(work, rows, term);
  /** Terms here that are those of terms of this batch by their ids -> these ids. */
  const claims = new Map(
    terms.flatMap((term) => {
      const entry = entryById(ledger, term);
      return entry && find(term)?.entry.target === entry.target ? [[keyOf(term.kind, entry.target), String(term.id)] as const] : [];
    }),
  );
  const isOfOther = async (term: NamedTerm, target: number): Promise<boolean> => {
    const { kind, id } = term;
    if (id === undefined) return false;
    const name = entryByName(ledger, term);
    if (name?.target === target && isFormerName(ledger, term, name)) return true;
    await ledger.lookUp([sourceTermKey(kind, target)]);
    const holder = ledger.entry(sourceTermKey(kind, target));
    const claim = claims.get(keyOf(kind, target)) ?? (holder?.run === run.number ? holder.digest : undefined);
    return claim !== undefined && claim !== String(id);
  };
  return {
    find,
    isOfOther,
    note: async ({ kind, id }, target) => {
      if (id === undefined) return;
      await ledger.lookUp([sourceTermKey(kind, target)]);
      const entry = { kind: 'term', target, run: run.number };
      ledger.add({ ...entry, item: termIdKey(kind, id), digest: '' });
      ledger.add({ ...entry, item: sourceTermKey(kind, target), digest: String(id) });
    },
  };
}

/** Finds a term among those that earlier imports brought. `rows`: their rows here. */
function findTerm({ run, ledger }: Work, rows: ReadonlyMap<string, Term>, term: NamedTerm): KnownTerm | undefined {
  const known = (entry: LedgerEntry | undefined): KnownTerm | undefined => {
    const row = entry && rows.get(keyOf(term.kind, entry.target));
    return entry && (row || (run.isDryRun && entry.target < 0)) ? { entry, row, isRenamed: false } : undefined;
  };
  const name = entryByName(ledger, term);
  const isNew = name === undefined || isFormerName(ledger, term, name);
  const [named, numbered] = [isNew ? undefined : known(name), known(entryById(ledger, term))];
  if (!numbered) return named;
  const isSame = named?.entry.target === numbered.entry.target;
  // The term has come under a new name since, and now has its former one again.
  const isBack = isSame && named.entry.run < numbered.entry.run;
  if (isNew || isBack) return { ...numbered, isRenamed: true };
  if (isSame) return named;
  // Another slug may mean that the source was made again, with other ids.
  return named && numbered.row?.slug !== sanitizeTitle(term.slug) ? named : numbered;
}

/** Whether a name in the ledger was that of another term, which has come under a new one since. */
function isFormerName(ledger: Ledger, { kind, id }: NamedTerm, name: LedgerEntry): boolean {
  const holder = ledger.entry(sourceTermKey(kind, name.target));
  return id !== undefined && holder !== undefined && holder.digest !== String(id) && holder.run > name.run;
}

const entryByName = (ledger: Ledger, { kind, sourceId }: NamedTerm) => ledger.entry(ledgerKey(kind, sourceId));

const entryById = (ledger: Ledger, { kind, id }: NamedTerm) => (id === undefined ? undefined : ledger.entry(termIdKey(kind, id)));

const keyOf = (kind: TermKindName, id: number): string => `${kind} ${id}`;

import { groupedBy } from '../../grouped-by.ts';
import { termKind } from '../../kinds/index.ts';
import type { TermKindName } from '../../kinds/kind-names.ts';
import type { LedgerEntry } from '../../storage/rows/imports.ts';
import { loadTerms } from '../../storage/rows/terms.ts';
import type { Term } from '../../wordpress/rows.ts';
import { sanitizeTitle } from '../../wordpress/slug.ts';
import type { TermItem } from '../items/items.ts';
import { ledgerKey, sourceTermKey, termIdKey } from './ledger.ts';
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
  const byName = ({ kind, sourceId }: NamedTerm) => ledger.entry(ledgerKey(kind, sourceId));
  const byId = ({ kind, id }: NamedTerm) => (id === undefined ? undefined : ledger.entry(termIdKey(kind, id)));
  const rows = new Map<string, Term>();
  const targets = terms.flatMap((term) =>
    [byName(term), byId(term)].flatMap((entry) => (entry ? [{ kind: term.kind, id: entry.target }] : [])),
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

  const known = ({ kind }: NamedTerm, entry: LedgerEntry | undefined): KnownTerm | undefined => {
    const row = entry && rows.get(keyOf(kind, entry.target));
    return entry && (row || (run.isDryRun && entry.target < 0)) ? { entry, row, isRenamed: false } : undefined;
  };
  const find = (term: NamedTerm): KnownTerm | undefined => {
    const [named, numbered] = [known(term, byName(term)), known(term, byId(term))];
    if (!numbered || named?.entry.target === numbered.entry.target) return named;
    if (byName(term) === undefined) return { ...numbered, isRenamed: true };
    // Another slug may mean that the source was made again, with other ids.
    return named && numbered.row?.slug !== sanitizeTitle(term.slug) ? named : numbered;
  };
  /** Ids in the source of the terms of this batch that have new names -> their terms here. */
  const claims = new Map(
    terms.flatMap((term) => {
      const entry = byId(term);
      return entry && byName(term)?.target !== entry.target && find(term)?.entry === entry
        ? [[keyOf(term.kind, entry.target), String(term.id)] as const]
        : [];
    }),
  );
  const isOfOther = async ({ kind, id }: NamedTerm, target: number): Promise<boolean> => {
    if (id === undefined) return false;
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

const keyOf = (kind: TermKindName, id: number): string => `${kind} ${id}`;

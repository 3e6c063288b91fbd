import { addToGroup } from '../../grouped-by.ts';
import { type Entry, isItem, isPostItem, isTermItem, type PostItem, type TermItem, type TermReference } from '../items/items.ts';
import { lossEntry } from '../items/report.ts';
import { termName } from '../items/term-names.ts';
import type { TermGroup } from './entries.ts';

/** Maximum number of terms that are held until their languages are known; further terms come without languages. */
const MAX_HELD_TERMS = 50_000;

/**
 * Holds back the terms of a file until the records begin. Only then are their languages known, which a file states in
 * separate elements and in any order, and which terms share a slug. A file names the terms of a record by their slugs
 * alone.
 */
export interface TermHolder {
  /**
   * Takes an entry and returns those that can be yielded: the entry itself unless it is a term, and before a record all
   * terms.
   */
  readonly add: (entry: Entry) => Entry[];
  readonly addGroup: (group: TermGroup) => void;
  /** Returns the terms that are still held. */
  readonly release: () => Entry[];
}

/** Begins to hold the terms of one file. */
export function createTermHolder(): TermHolder {
  let heldTerms: TermItem[] = [];
  const languagesById = new Map<number, Pick<TermItem, 'language' | 'translation_group'>>();
  const namesakes = createNamesakes();
  const release = (): Entry[] => {
    const terms = heldTerms.map((term) => ({ ...term, ...languagesById.get(term.id ?? 0) }));
    heldTerms = [];
    return namesakes.named(terms);
  };
  return {
    add: (entry) => {
      if (!isItem(entry) || entry.kind === 'author' || entry.kind === 'settings') return [entry];
      if (!isTermItem(entry)) return [...release(), ...(isPostItem(entry) ? namesakes.withTerms(entry) : [entry])];
      heldTerms.push(entry);
      return heldTerms.length > MAX_HELD_TERMS ? release() : [];
    },
    addGroup: ({ name, members }) => {
      if (languagesById.size > MAX_HELD_TERMS) return;
      const groupMember = members.size > 1 && name !== '' ? { translation_group: name } : {};
      for (const [language, id] of members) languagesById.set(id, { language, ...groupMember });
    },
    release,
  };
}

/** Terms that share a slug, by their kind and slug; each with its name in items. */
function createNamesakes() {
  const known = new Map<string, TermItem[]>();
  const keyOf = (kind: TermItem['kind'], slug: string) => `${kind} ${slug}`;
  const findAll = (kind: TermItem['kind'], slug: string): readonly TermItem[] => known.get(keyOf(kind, slug)) ?? [];

  /** Returns the term with its number among those of its slug. A file may repeat the terms of an earlier one. */
  const numbered = (term: TermItem): TermItem => {
    const earlier = findAll(term.kind, term.sourceId);
    const place = earlier.findIndex(({ id }) => id === term.id || id === undefined || term.id === undefined);
    const namesake = place === -1 ? earlier.length : place;
    const named = { ...term, sourceId: termName(term.sourceId, namesake), ...(namesake > 0 ? { namesake } : {}) };
    if (place === -1) addToGroup(known, keyOf(term.kind, term.sourceId), named);
    return named;
  };

  return {
    /** Returns terms under names that distinguish them, with a note about each parent that is uncertain. */
    named: (terms: readonly TermItem[]): Entry[] => {
      const numberedTerms = new Map(
        terms.toSorted((one, other) => (one.id ?? 0) - (other.id ?? 0)).map((term) => [term, numbered(term)] as const),
      );
      return terms.flatMap((original): Entry[] => {
        const term = numberedTerms.get(original) ?? original;
        if (term.parent === undefined) return [term];
        const { parent } = term;
        const candidates = findAll(term.kind, parent).filter(({ id }) => id === undefined || id !== term.id);
        const { found, isSure } = chosen(candidates, term.language);
        return [{ ...term, parent: found?.sourceId ?? parent }, ...(isSure ? [] : [uncertainty(term, parent)])];
      });
    },
    /** Returns a record with the names of its terms, and a note about each term that is uncertain. */
    withTerms: (post: PostItem): Entry[] => {
      const unsure: TermReference[] = [];
      const terms = post.terms?.map((reference) => {
        const { found, isSure } = chosen(findAll(reference.kind, reference.sourceId), post.language, reference.name);
        if (!isSure) unsure.push(reference);
        return found ? { ...reference, sourceId: found.sourceId } : reference;
      });
      return [{ ...post, terms }, ...unsure.map(({ sourceId }) => uncertainty(post, sourceId))];
    },
  };
}

/** Returns the one of some terms with the same slug that a record means: by its language, or else by its name. */
function chosen(terms: readonly TermItem[], language: string | undefined, name?: string) {
  const ofLanguage = language === undefined ? [] : terms.filter((term) => term.language === language);
  const ofName = (ofLanguage.length > 0 ? ofLanguage : terms).filter((term) => term.name === name);
  const candidates = [ofLanguage, ofName].find(({ length }) => length === 1) ?? (ofLanguage.length > 0 ? ofLanguage : terms);
  return { found: candidates[0], isSure: candidates.length < 2 };
}

const uncertainty = (item: PostItem | TermItem, slug: string): Entry =>
  lossEntry({
    reason: 'term-uncertain',
    kind: item.kind,
    of: isPostItem(item) ? item.columns.post_title || item.sourceId : item.name,
    place: item.place,
    detail: slug,
  });

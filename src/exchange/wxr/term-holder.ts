import { type Entry, isItem, isTermItem, type TermItem } from '../items/items.ts';
import type { TermGroup } from './entries.ts';

/** Maximum number of terms that are held until their languages are known; further terms come without languages. */
const MAX_HELD_TERMS = 50_000;

/**
 * Holds back the terms of a file until the records begin. Only then are their languages known, which a file states in
 * separate elements and in any order.
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

export function createTermHolder(): TermHolder {
  let heldTerms: TermItem[] = [];
  const languagesById = new Map<number, Pick<TermItem, 'language' | 'translation_group'>>();
  const release = () => {
    const terms = heldTerms.map((term) => ({ ...term, ...languagesById.get(term.id ?? 0) }));
    heldTerms = [];
    return terms;
  };
  return {
    add: (entry) => {
      if (!isItem(entry) || entry.kind === 'author' || entry.kind === 'settings') return [entry];
      if (!isTermItem(entry)) return [...release(), entry];
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

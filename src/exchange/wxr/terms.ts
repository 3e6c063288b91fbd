import { type Entry, isItem, isTermItem, type TermItem } from '../items/items.ts';
import type { TermGroup } from './entries.ts';

/** How many terms are kept until their languages are known; a calendar with more of them has them without languages. */
const MOST_HELD = 50_000;

/**
 * The terms of a file, held back until the records begin: only then are their languages known, which a file states in
 * elements of their own and in any order.
 */
export interface Terms {
  /** Takes an entry. Gives what can be handed on: everything but terms, and before a record all terms. */
  readonly take: (entry: Entry) => Entry[];
  readonly group: (group: TermGroup) => void;
  /** What is still held. */
  readonly rest: () => Entry[];
}

export function createTerms(): Terms {
  let held: TermItem[] = [];
  const spoken = new Map<number, Pick<TermItem, 'language' | 'translation_group'>>();
  const rest = () => {
    const terms = held.map((term) => ({ ...term, ...spoken.get(term.id ?? 0) }));
    held = [];
    return terms;
  };
  return {
    take: (entry) => {
      if (!isItem(entry) || entry.kind === 'author') return [entry];
      if (!isTermItem(entry)) return [...rest(), entry];
      held.push(entry);
      return held.length > MOST_HELD ? rest() : [];
    },
    group: ({ name, members }) => {
      if (spoken.size > MOST_HELD) return;
      const linked = members.size > 1 && name !== '' ? { translation_group: name } : {};
      for (const [language, id] of members) spoken.set(id, { language, ...linked });
    },
    rest,
  };
}

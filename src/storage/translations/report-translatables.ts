import type { Database } from '../engine/database.ts';
import { reportPostChanged, reportTerm } from '../journal/reported-changes.ts';
import type { Translatable } from './language-writer.ts';

/** Reports records as changed because their language or translations were written: records show both. */
export function reportTranslatables(db: Database, { is, type }: Translatable, ids: Iterable<number>): void {
  for (const id of ids) {
    if (is === 'post') reportPostChanged(db, id);
    else reportTerm(db, { term_id: id, taxonomy: type }, 'changed');
  }
}

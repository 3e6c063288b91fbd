import type { Database } from '../engine/database.ts';
import { postChanged, termTouched } from '../journal/touched.ts';
import type { Translatable } from './language-writer.ts';

/** Reports records as changed because their language or translations were written: records show both. */
export function touch(db: Database, { is, type }: Translatable, ids: Iterable<number>): void {
  for (const id of ids) {
    if (is === 'post') postChanged(db, id);
    else termTouched(db, { term_id: id, taxonomy: type }, 'changed');
  }
}

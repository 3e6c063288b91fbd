import { fail } from '../errors.ts';
import { tooManyNew } from '../kinds/grammars/grammar.ts';
import type { Database, TransactionData } from '../storage/engine/database.ts';

/** The number of terms that the records of a transaction have created by naming them, and its maximum. */
const NEW_TERMS: TransactionData<{ most: number; count: number }> = {
  create: () => ({ most: Number.POSITIVE_INFINITY, count: 0 }),
  copy: (terms) => ({ ...terms }),
  namesRecords: () => false,
  write: async () => undefined,
  afterCommit: () => undefined,
};

/** Sets how many terms the records of this transaction may create together by naming them. */
export function limitNewTerms(db: Database, most: number): void {
  const terms = db.transactionData(NEW_TERMS);
  if (terms) terms.most = most;
}

/**
 * Must be called before terms are created for a record.
 *
 * @throws rest_invalid_param for the field `path` if they are more than this transaction may create
 */
export function countNewTerms(db: Database, path: string, count: number): void {
  const terms = db.transactionData(NEW_TERMS);
  if (!terms || count === 0) return;
  terms.count += count;
  if (terms.count <= terms.most) return;
  fail('rest_invalid_param', { faults: new Map([[path, tooManyNew(terms.most)]]) });
}

import type { PostKind } from '../kinds/kind.ts';
import type { Database } from '../storage/engine/database.ts';
import type { Caller } from './caller.ts';

/** What every step of a write needs: the transaction, who writes, and what kind of record. */
export interface Write {
  readonly db: Database;
  readonly caller: Caller;
  readonly kind: PostKind;
}

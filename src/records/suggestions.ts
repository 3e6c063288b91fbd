import { fail } from '../errors.ts';
import { postKind } from '../kinds/index.ts';
import type { PostValues } from '../kinds/kind.ts';
import type { Values } from '../kinds/param.ts';
import { SUGGESTION_META, type Suggestion, storedSuggestion } from '../kinds/suggestion.ts';
import { type Site, withinTransaction } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import { countVisible } from '../storage/lists/posts-of-type.ts';
import type { Caller } from './caller.ts';
import { formDigest, storeOnce } from './store-once.ts';
import { insertRecord } from './writes/post-writes.ts';

/** Maximum number of suggestions waiting for review; further ones are refused. */
const MAX_WAITING = 200;

const NO_AUTHOR = 0;

/**
 * Stores an event that a visitor suggests, as a pending event without an author, with the visitor's details. The values
 * have been accepted; what a visitor may not do (such as create venues or categories) is refused as everywhere else.
 * `key`: the visitor's key; `sentValues`: the values as the form gave them. The same suggestion sent twice within a
 * day, as by a double click, is stored once.
 *
 * @throws suggestions-full; any error about the values
 */
export async function storeSuggestion(
  site: Site,
  caller: Caller,
  values: PostValues,
  { suggestion, key, sentValues }: { readonly suggestion: Suggestion; readonly key: string; readonly sentValues: Values },
): Promise<void> {
  const kind = postKind('event');
  // Not the raw form: one that is shown again has other empty boxes.
  const digest = formDigest({ form: ['suggestion', key], input: [sentValues, suggestion] });
  const write = async (db: Database): Promise<number> => {
    const counts = await countVisible(db, kind.postType, { viewer: NO_AUTHOR, all: ['pending'], others: [], own: [] }, NO_AUTHOR);
    if ((counts.get('pending') ?? 0) >= MAX_WAITING) fail('suggestions-full');
    const metas = { [SUGGESTION_META]: [storedSuggestion(suggestion)] };
    return insertRecord(withinTransaction(site, db), caller, kind, { ...values, status: 'pending' }, { metas });
  };
  // A rejected suggestion does not return.
  await site.db.transaction((db) => storeOnce(db, digest, caller.now, { write: () => write(db), replacesDiscarded: false }));
}

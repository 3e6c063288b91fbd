import { createHash } from 'node:crypto';
import { fail } from '../errors.ts';
import { postKind } from '../kinds/index.ts';
import type { PostValues } from '../kinds/kind.ts';
import type { Values } from '../kinds/param.ts';
import { SUGGESTION_META, type Suggestion, storedSuggestion } from '../kinds/suggestion.ts';
import { type Site, withinTransaction } from '../site.ts';
import { countVisible } from '../storage/lists/posts-of-type.ts';
import { claimAnswer, keepAnswer } from '../storage/rows/kept-answers.ts';
import type { Caller } from './caller.ts';
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
  const id = createHash('sha256')
    .update(`suggestion ${JSON.stringify([key, sentValues, suggestion])}`)
    .digest('base64url');
  await site.db.transaction(async (db) => {
    if (await claimAnswer(db, { id, fingerprint: id }, caller.now)) return;
    const counts = await countVisible(db, kind.postType, { viewer: NO_AUTHOR, all: ['pending'], others: [], own: [] }, NO_AUTHOR);
    if ((counts.get('pending') ?? 0) >= MAX_WAITING) fail('suggestions-full');
    const metas = { [SUGGESTION_META]: [storedSuggestion(suggestion)] };
    await insertRecord(withinTransaction(site, db), caller, kind, { ...values, status: 'pending' }, { metas });
    await keepAnswer(db, id, STORED_ANSWER);
  });
}

/** The stored answer, which only marks that the form was taken. */
const STORED_ANSWER = '{}';

import { fail } from '../errors.ts';
import { postKind } from '../kinds/index.ts';
import type { PostValues } from '../kinds/kind.ts';
import { SUGGESTION_META, type Suggestion, storedSuggestion } from '../kinds/suggestion.ts';
import type { Site } from '../site.ts';
import { countVisible } from '../storage/lists/posts-of-type.ts';
import type { Caller } from './caller.ts';
import { insertRecord } from './writes/post-writes.ts';

/** How many suggestions wait for somebody to look at them; then no more are taken. */
const MOST_WAITING = 200;

const NO_AUTHOR = 0;

/**
 * Keeps an event that a visitor suggests: as a pending one of nobody's, with what the visitor says of it. Values are
 * accepted ones; what a visitor may not do (make venues or categories) is refused as everywhere.
 *
 * @throws suggestions-full; whatever is wrong with the values
 */
export async function keepSuggestion(site: Site, caller: Caller, values: PostValues, suggestion: Suggestion): Promise<void> {
  const kind = postKind('event');
  const waiting = await countVisible(site.db, kind.postType, { viewer: NO_AUTHOR, all: ['pending'], others: [], own: [] }, NO_AUTHOR);
  if ((waiting.get('pending') ?? 0) >= MOST_WAITING) fail('suggestions-full');
  await insertRecord(
    site,
    caller,
    kind,
    { ...values, status: 'pending' },
    { metas: { [SUGGESTION_META]: [storedSuggestion(suggestion)] } },
  );
}

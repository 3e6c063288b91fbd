import type { Metas, Post } from '../../wordpress/rows.ts';
import type { Database } from '../engine/database.ts';
import { addDependencies } from '../journal/dependencies.ts';
import type { ObjectMemory } from '../journal/object-memory.ts';

/** Loaded rows of posts, by id. */
interface LoadedRows {
  readonly posts: Map<number, Post>;
  readonly metas: Map<number, Metas>;
}

/** A cache for the rows of posts that several records may refer to. */
export interface SharedRows {
  /** Adds those of these ids that are in the cache. */
  readonly recall: (loaded: LoadedRows, ids: readonly number[]) => void;
  readonly keep: (loaded: LoadedRows, ids: readonly number[]) => void;
}

/** A post with its metas, as JSON. */
interface RememberedRows {
  readonly post: Post;
  readonly metas: readonly (readonly [string, readonly string[]])[];
}

/**
 * Creates the cache. A venue, an organizer or an image is the same for all events that refer to it, so if one of them
 * changes, only its own rows are read again. `records`: not stored here, since they are cached in rendered form.
 */
export function sharedRows(db: Database, memory: ObjectMemory, records: readonly number[]): SharedRows {
  const recordIds = new Set(records);
  const keyOf = (id: number) => `rows ${id}`;
  return {
    recall: ({ posts, metas }, ids) => {
      for (const id of ids) {
        const cached = recordIds.has(id) || posts.has(id) ? undefined : memory.recall(keyOf(id));
        if (!cached) continue;
        addDependencies(db, cached.dependencies);
        // All values with these keys are rows.
        const { post, metas: ofPost } = cached.value as RememberedRows;
        posts.set(id, post);
        if (ofPost.length > 0) metas.set(id, new Map(ofPost));
      }
    },
    keep: ({ posts, metas }, ids) => {
      for (const id of ids) {
        const post = posts.get(id);
        if (!post || recordIds.has(id)) continue;
        const value: RememberedRows = { post, metas: [...(metas.get(id) ?? [])] };
        memory.keep(keyOf(id), { value, dependencies: [id] });
      }
    },
  };
}

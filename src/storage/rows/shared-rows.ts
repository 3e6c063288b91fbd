import type { Metas, Post } from '../../wordpress/rows.ts';
import type { Database } from '../engine/database.ts';
import { addDependencies } from '../journal/dependencies.ts';
import type { ObjectMemory } from '../journal/object-memory.ts';

/** Rows of posts that are loaded, by id. */
interface LoadedRows {
  readonly posts: Map<number, Post>;
  readonly metas: Map<number, Metas>;
}

/** The rows of posts that other records may name as well, in memory. */
export interface SharedRows {
  /** Adds those of these ids that are known. */
  readonly recall: (loaded: LoadedRows, ids: readonly number[]) => void;
  readonly keep: (loaded: LoadedRows, ids: readonly number[]) => void;
}

/** A post with its metas, as JSON. */
interface RememberedRows {
  readonly post: Post;
  readonly metas: readonly (readonly [string, readonly string[]])[];
}

/**
 * A venue, an organizer or an image is the same for all events that name it: when one of them changes, only its own
 * rows are read. `records`: not kept themselves, since they are remembered as they are rendered.
 */
export function sharedRows(db: Database, memory: ObjectMemory, records: readonly number[]): SharedRows {
  const own = new Set(records);
  const keyOf = (id: number) => `rows ${id}`;
  return {
    recall: ({ posts, metas }, ids) => {
      for (const id of ids) {
        const known = own.has(id) || posts.has(id) ? undefined : memory.recall(keyOf(id));
        if (!known) continue;
        addDependencies(db, known.dependencies);
        // Only rows are kept under these keys.
        const { post, metas: ofPost } = known.value as RememberedRows;
        posts.set(id, post);
        if (ofPost.length > 0) metas.set(id, new Map(ofPost));
      }
    },
    keep: ({ posts, metas }, ids) => {
      for (const id of ids) {
        const post = posts.get(id);
        if (!post || own.has(id)) continue;
        const value: RememberedRows = { post, metas: [...(metas.get(id) ?? [])] };
        memory.keep(keyOf(id), { value, dependencies: [id] });
      }
    },
  };
}

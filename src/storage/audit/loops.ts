import { postTypes, termKind } from '../../kinds/index.ts';
import type { Database } from '../engine/database.ts';

/** Returns the loops of categories that are below themselves, as ids of terms. */
export const categoryLoops = async (db: Database): Promise<number[][]> =>
  loopsOf(
    await db.rows<ChildRow>`SELECT term_id AS id, parent FROM {term_taxonomy} WHERE taxonomy = ${termKind('category').taxonomy} AND parent > 0`,
  );

/** Returns the loops of posts that are below themselves, as ids. */
export const postLoops = async (db: Database): Promise<number[][]> =>
  loopsOf(
    await db.rows<ChildRow>`SELECT ID AS id, post_parent AS parent FROM {posts} WHERE post_type IN (${postTypes}) AND post_parent > 0`,
  );

interface ChildRow {
  readonly id: number;
  readonly parent: number;
}

/** Returns the cycles in which each id is a child of the next one. The lowest id of a cycle comes first. */
function loopsOf(rows: readonly ChildRow[]): number[][] {
  const parents = new Map(rows.map(({ id, parent }) => [Number(id), Number(parent)]));
  const seen = new Set<number>();
  const loops: number[][] = [];
  for (const start of parents.keys()) {
    const path: number[] = [];
    let id: number | undefined = start;
    for (; id !== undefined && !seen.has(id); id = parents.get(id)) {
      seen.add(id);
      path.push(id);
    }
    const index = id === undefined ? -1 : path.indexOf(id);
    if (index >= 0) loops.push(lowestFirst(path.slice(index)));
  }
  return loops;
}

function lowestFirst(ring: readonly number[]): number[] {
  const index = ring.indexOf(ring.reduce((lowest, id) => Math.min(lowest, id)));
  return [...ring.slice(index), ...ring.slice(0, index)];
}

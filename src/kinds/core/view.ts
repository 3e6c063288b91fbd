import { isObject } from '../../objects.ts';
import type { RenderContext } from '../rendering.ts';

/**
 * Extent of a record in WordPress's own routes: the whole record, the few members of embedded records, or everything
 * needed to edit it.
 */
export type View = 'view' | 'embed' | 'edit';

/** Views of a member that embedded records do not have, and of one that is only shown for editing. */
export const VIEW_AND_EDIT: readonly View[] = ['view', 'edit'];
export const EDIT_ONLY: readonly View[] = ['edit'];

/** The methods that a caller may use on a record's own route. */
export type Methods = readonly string[];

/** Returns the methods of a record's own route for a caller with these permissions. */
export const methodsFor = ({
  reads = true,
  edits,
  deletes,
}: {
  readonly reads?: boolean;
  readonly edits: boolean;
  readonly deletes: boolean;
}): Methods => [...(reads ? ['GET'] : []), ...(edits ? ['POST', 'PUT', 'PATCH'] : []), ...(deletes ? ['DELETE'] : [])];

/** Data shown of a record that is not in its rows. */
export interface CoreFacts {
  readonly methods: Methods;
  /** Actions that the caller may take in the editing form (`actions.ts`); empty in other views. */
  readonly actions: readonly string[];
  /** The slug that its title would give it; only known in the editing form. */
  readonly sampleSlug: string | undefined;
}

/** Context of rendering for WordPress's own routes. */
export interface CoreContext extends RenderContext {
  readonly view: View;
}

type Members = Record<string, unknown>;

/**
 * Removes the members of a record that a view does not show. `memberViews`: the views of each member that is not in all
 * of them.
 */
export function membersInView<T extends Members>(record: T, view: View, memberViews: Readonly<Record<string, readonly View[]>>): Members {
  return Object.fromEntries(
    Object.entries(record).flatMap(([name, value]) => {
      if (memberViews[name] && !memberViews[name].includes(view)) return [];
      return [[name, RAW_TEXT_MEMBERS.has(name) && view !== 'edit' ? withoutRaw(value) : value] as const];
    }),
  );
}

/** Members that hold a text both as it is stored and as it is shown. */
const RAW_TEXT_MEMBERS = new Set(['guid', 'title', 'content', 'excerpt', 'description', 'caption']);

function withoutRaw(value: unknown): unknown {
  if (!isObject(value)) return value;
  const { raw: _, block_version: __, ...rest } = value as Members;
  return rest;
}

/** Returns a date in the form of WordPress's own routes (`mysql_to_rfc3339`). */
export const isoDate = (text: string): string => text.replace(' ', 'T');

/** The link that explains link names that start with `wp:`. */
export const CURIES = [{ name: 'wp', href: 'https://api.w.org/{rel}', templated: true }] as const;

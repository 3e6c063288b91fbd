import type { RenderContext } from '../rendering.ts';

/**
 * How much of a record WordPress's own routes show: all of it, as little as embedded ones have, or what is needed to
 * edit it.
 */
export type View = 'view' | 'embed' | 'edit';

/** Views of a member that is not embedded, and of one that is there for editing alone. */
export const WHOLE: readonly View[] = ['view', 'edit'];
export const EDITED: readonly View[] = ['edit'];

/** The methods that a caller may use on a record's own route. */
export type Methods = readonly string[];

/** The methods of a record's own route for somebody who may do this with it. */
export const methodsFor = ({
  reads = true,
  edits,
  deletes,
}: {
  readonly reads?: boolean;
  readonly edits: boolean;
  readonly deletes: boolean;
}): Methods => [...(reads ? ['GET'] : []), ...(edits ? ['POST', 'PUT', 'PATCH'] : []), ...(deletes ? ['DELETE'] : [])];

/** What a record shows besides its rows. */
export interface CoreFacts {
  readonly methods: Methods;
  /** What the caller may do to it in the form for editing (`actions.ts`); none elsewhere. */
  readonly actions: readonly string[];
  /** The slug that its title would give it; only known in the form for editing. */
  readonly sampleSlug: string | undefined;
}

/** What rendering for WordPress's own routes may know. */
export interface CoreContext extends RenderContext {
  readonly view: View;
}

type Record_ = Record<string, unknown>;

/**
 * Takes out of a record what a context does not show. `shown`: members that are not in every context, with those they
 * are in.
 */
export function inView<T extends Record_>(record: T, view: View, shown: Readonly<Record<string, readonly View[]>>): Record_ {
  return Object.fromEntries(
    Object.entries(record).flatMap(([name, value]) => {
      if (shown[name] && !shown[name].includes(view)) return [];
      return [[name, RAW.has(name) && view !== 'edit' ? withoutRaw(value) : value] as const];
    }),
  );
}

/** Members that hold a text as it is stored beside the text as it is shown. */
const RAW = new Set(['guid', 'title', 'content', 'excerpt', 'description', 'caption']);

function withoutRaw(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  const { raw: _, block_version: __, ...rest } = value as Record_;
  return rest;
}

/** A date as WordPress's own routes write it (`mysql_to_rfc3339`). */
export const isoDate = (text: string): string => text.replace(' ', 'T');

/** The link that explains those whose names begin with `wp:`. */
export const CURIES = [{ name: 'wp', href: 'https://api.w.org/{rel}', templated: true }] as const;

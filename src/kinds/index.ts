import { category } from './category.ts';
import { event } from './event.ts';
import { url } from './grammars/grammars.ts';
import type { Kind, PostKind, TermKind } from './kind.ts';
import type { PostKindName, TermKindName } from './kind-names.ts';
import { organizer } from './organizer.ts';
import type { Field, Params } from './param.ts';
import { tag } from './tag.ts';
import { venue } from './venue.ts';

/** All kinds of records, in the order in which the API lists them. */
export const postKinds: readonly PostKind[] = [event, venue, organizer];
export const termKinds: readonly TermKind[] = [category, tag];
export const kinds: readonly Kind[] = [...postKinds, ...termKinds];

/** Post types and taxonomies in which the calendar's records are stored. */
export const postTypes: readonly string[] = postKinds.map(({ postType }) => postType);
export const taxonomies: readonly string[] = termKinds.map(({ taxonomy }) => taxonomy);

const byName: Readonly<Record<PostKindName, PostKind>> = { event, venue, organizer };
const termsByName: Readonly<Record<TermKindName, TermKind>> = { category, tag };

/** Returns the kind of posts with this name. */
export const postKind = (name: PostKindName): PostKind => byName[name];
/** Returns the kind of terms with this name. */
export const termKind = (name: TermKindName): TermKind => termsByName[name];
/** Returns the kind of terms of a taxonomy; undefined if it is none of the calendar's. */
export const termKindOf = (taxonomy: string): TermKind | undefined => termKinds.find((kind) => kind.taxonomy === taxonomy);
/** Returns the kind of posts of a post type; undefined if it is none of the calendar's. */
export const postKindOfType = (type: string): PostKind | undefined => postKinds.find((kind) => kind.postType === type);

/** Metas that hold a URL. */
export const addressMetas: ReadonlySet<string> = new Set(
  postKinds.flatMap(({ fields }) =>
    Object.values<Field>(fields).flatMap(({ place, grammar }) => (grammar === url && place.in === 'meta' ? [place.key] : [])),
  ),
);

/** Returns the names of the parameters that the reference does not have. */
export const additionalParams = (params: Params): string[] =>
  Object.entries(params).flatMap(([name, { isAdditional }]) => (isAdditional ? [name] : []));

/** Returns the taxonomies of the terms that a kind of posts has. */
export const taxonomiesOf = ({ terms }: Pick<PostKind, 'terms'>): string[] => terms.map((name) => termKind(name).taxonomy);

import { category } from './category.ts';
import { event } from './event.ts';
import { url } from './grammars/grammars.ts';
import type { Kind, PostKind, TermKind } from './kind.ts';
import type { PostKindName, TermKindName } from './kind-names.ts';
import { organizer } from './organizer.ts';
import type { Field, Params } from './param.ts';
import { tag } from './tag.ts';
import { venue } from './venue.ts';

/** Every kind of record, in the order in which the API lists them. */
export const postKinds: readonly PostKind[] = [event, venue, organizer];
export const termKinds: readonly TermKind[] = [category, tag];
export const kinds: readonly Kind[] = [...postKinds, ...termKinds];

/** The types of posts, and the taxonomies, that the calendar's records rest in. */
export const postTypes: readonly string[] = postKinds.map(({ postType }) => postType);
export const taxonomies: readonly string[] = termKinds.map(({ taxonomy }) => taxonomy);

const byName: Readonly<Record<PostKindName, PostKind>> = { event, venue, organizer };
const termsByName: Readonly<Record<TermKindName, TermKind>> = { category, tag };

export const postKind = (name: PostKindName): PostKind => byName[name];
export const termKind = (name: TermKindName): TermKind => termsByName[name];
export const termKindOf = (taxonomy: string): TermKind | undefined => termKinds.find((kind) => kind.taxonomy === taxonomy);
export const postKindOfType = (type: string): PostKind | undefined => postKinds.find((kind) => kind.postType === type);

/** Metas that hold an address of the web. */
export const addressMetas: ReadonlySet<string> = new Set(
  postKinds.flatMap(({ fields }) =>
    Object.values<Field>(fields).flatMap(({ place, grammar }) => (grammar === url && place.in === 'meta' ? [place.key] : [])),
  ),
);

/** Names of the parameters that the reference does not have. */
export const oursIn = (params: Params): string[] => Object.entries(params).flatMap(([name, { ours }]) => (ours ? [name] : []));

/** The taxonomies of the terms that a kind of posts carries. */
export const taxonomiesOf = ({ terms }: Pick<PostKind, 'terms'>): string[] => terms.map((name) => termKind(name).taxonomy);

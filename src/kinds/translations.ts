import { isTranslated, type Membership, urlIn } from '../wordpress/content-languages.ts';
import { restUrl } from '../wordpress/links.ts';
import type { Post, Term } from '../wordpress/rows.ts';
import { isPublic } from '../wordpress/status.ts';
import type { Bundle, BundleLanguages, RenderContext } from './rendering.ts';

/** A member of a translation group, as records show it. */
export interface Translation {
  readonly id: number;
  readonly url: string;
  readonly rest_url: string;
}

type UrlContext = Pick<RenderContext, 'home' | 'settings'>;

/**
 * Returns the URL of a page in the language of its record, or, if the site's content has no languages, in that of the
 * request.
 */
export const pageIn = ({ home, settings }: UrlContext, code: string | null | undefined, make: (home: string) => string): string =>
  settings.contentLanguages ? urlIn(settings.contentLanguages, code ?? undefined, settings.home, make) : make(home);

/** Returns the language of a post: null if it has none, undefined if its kind has no languages. */
export const languageCodeOf = (
  { ID, post_type: type }: Pick<Post, 'ID' | 'post_type'>,
  { languages }: Bundle,
  { settings }: Pick<UrlContext, 'settings'>,
) => (isTranslated(settings.contentLanguages, type) ? (languages?.posts.get(ID)?.language ?? null) : undefined);

/** Returns the member `language` of a post whose kind has languages; null if the post has none. */
export function languageMember(row: Pick<Post, 'ID' | 'post_type'>, bundle: Bundle, context: Pick<UrlContext, 'settings'>) {
  const language = languageCodeOf(row, bundle, context);
  return language === undefined ? {} : { language };
}

/** Returns the member `language` of a term. `membership`: undefined if the term has no language. */
export const termLanguage = (
  { taxonomy }: Pick<Term, 'taxonomy'>,
  membership: Membership | undefined,
  { settings }: Pick<UrlContext, 'settings'>,
) => (isTranslated(settings.contentLanguages, taxonomy) ? { language: membership?.language ?? null } : {});

/**
 * Returns the member `translations` of a post whose kind has languages: the members of its group by language, including
 * itself, without those that are in the trash or that the caller may not read. `path`: route path of the kind.
 */
export function translationsMember(
  row: Post,
  path: string,
  bundle: Bundle,
  context: RenderContext,
  linkOf: (row: Post, code: string) => string,
) {
  const { languages, posts } = bundle;
  if (!languages || !isTranslated(context.settings.contentLanguages, row.post_type)) return {};
  const members = languages.posts.get(row.ID)?.members ?? new Map<string, number>();
  const entries = [...members].flatMap(([code, id]): [string, Translation][] => {
    const member = posts.get(id) ?? languages.siblings.get(id);
    if (!member || member.post_type !== row.post_type) return [];
    if (member !== row && (member.post_status === 'trash' || !context.mayRead(member))) return [];
    return [[code, { id, url: linkOf(member, code), rest_url: restUrl(context, `${context.namespace}/${path}/${id}`) }]];
  });
  return { translations: Object.fromEntries(entries) };
}

/**
 * Returns the id of the post shown instead of a linked post in an event of a language: its published translation into
 * this language, or else the post itself.
 */
export function translatedLink(
  linkedId: number,
  language: string,
  { languages, posts }: Pick<Bundle, 'posts'> & { readonly languages?: Pick<BundleLanguages, 'posts'> | undefined },
  { settings }: Pick<UrlContext, 'settings'>,
): number {
  const type = posts.get(linkedId)?.post_type ?? '';
  const translationId = isTranslated(settings.contentLanguages, type) ? languages?.posts.get(linkedId)?.members.get(language) : undefined;
  const row = translationId === undefined ? undefined : posts.get(translationId);
  return row && isPublic(row.post_status) && row.post_type === type ? row.ID : linkedId;
}

/** Returns the term shown instead of a term in an event of a language: its translation, or else the term itself. */
export function translatedTermOf(term: Term, language: string, { languages }: Bundle, { settings }: Pick<UrlContext, 'settings'>): Term {
  const translationId = isTranslated(settings.contentLanguages, term.taxonomy)
    ? languages?.terms.get(term.term_id)?.members.get(language)
    : undefined;
  const row = translationId === undefined ? undefined : languages?.termMembers.get(translationId);
  return row?.taxonomy === term.taxonomy ? row : term;
}

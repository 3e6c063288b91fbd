import type { SiteSettings } from '../calendar/settings.ts';
import { memoizeByObject } from '../memo.ts';
import { isTranslated } from '../wordpress/content-languages.ts';
import { control } from './filter.ts';
import { flag } from './grammars/flags.ts';
import type { PostKind, TermKind } from './kind.ts';

/** Parameters added to lists of kinds whose records have languages. */
const FALLBACK = { language_fallback: control(flag, { echo: String, isLast: true, ignoresEmpty: true, isAdditional: true }) };

const withFallback = {
  post: memoizeByObject((kind: PostKind): PostKind => ({ ...kind, filters: { ...kind.filters, ...FALLBACK } })),
  term: memoizeByObject((kind: TermKind): TermKind => ({ ...kind, filters: { ...kind.filters, ...FALLBACK } })),
};

/** Returns the kind with the additional list parameters if its records have languages. */
export const postsInLanguages = (kind: PostKind, { contentLanguages }: Pick<SiteSettings, 'contentLanguages'>): PostKind =>
  isTranslated(contentLanguages, kind.postType) ? withFallback.post(kind) : kind;
/** Returns a kind of terms, likewise. */
export const termsInLanguages = (kind: TermKind, { contentLanguages }: Pick<SiteSettings, 'contentLanguages'>): TermKind =>
  isTranslated(contentLanguages, kind.taxonomy) ? withFallback.term(kind) : kind;

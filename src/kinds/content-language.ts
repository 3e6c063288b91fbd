import type { SiteSettings } from '../calendar/settings.ts';
import { memoizeByObject } from '../memo.ts';
import { isTranslated } from '../wordpress/content-languages.ts';
import { control } from './filter.ts';
import { flag } from './grammars/flags.ts';
import type { PostKind, TermKind } from './kind.ts';

/** What lists take where the records of their kind have languages. */
const FALLBACK = { language_fallback: control(flag, { echo: String, last: true, ours: true }) };

const withFallback = {
  post: memoizeByObject((kind: PostKind): PostKind => ({ ...kind, filters: { ...kind.filters, ...FALLBACK } })),
  term: memoizeByObject((kind: TermKind): TermKind => ({ ...kind, filters: { ...kind.filters, ...FALLBACK } })),
};

/** A kind with the parameters that its list has where its records have languages. */
export const postsInLanguages = (kind: PostKind, { contentLanguages }: Pick<SiteSettings, 'contentLanguages'>): PostKind =>
  isTranslated(contentLanguages, kind.postType) ? withFallback.post(kind) : kind;
export const termsInLanguages = (kind: TermKind, { contentLanguages }: Pick<SiteSettings, 'contentLanguages'>): TermKind =>
  isTranslated(contentLanguages, kind.taxonomy) ? withFallback.term(kind) : kind;

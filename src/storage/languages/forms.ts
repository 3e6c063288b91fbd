import type { ContentLanguages } from '../../wordpress/content-languages.ts';
import type { LanguageForm } from './form.ts';
import { polylang } from './polylang/form.ts';
import { wpml } from './wpml/form.ts';

export const FORMS: Readonly<Record<ContentLanguages['form'], LanguageForm>> = { polylang, wpml };

/** Returns the form in which a site stores languages. */
export const formOf = ({ form }: Pick<ContentLanguages, 'form'>): LanguageForm => FORMS[form];

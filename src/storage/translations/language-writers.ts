import type { ContentLanguages } from '../../wordpress/content-languages.ts';
import type { LanguageWriter } from './language-writer.ts';
import { polylangWriter } from './polylang.ts';
import { wpmlWriter } from './wpml.ts';

const WRITERS: Readonly<Record<ContentLanguages['form'], LanguageWriter>> = { polylang: polylangWriter, wpml: wpmlWriter };

/** How languages are written on a site that has them. */
export const languageWriterOf = ({ form }: Pick<ContentLanguages, 'form'>): LanguageWriter => WRITERS[form];

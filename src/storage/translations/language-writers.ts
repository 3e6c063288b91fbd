import type { ContentLanguages } from '../../wordpress/content-languages.ts';
import type { LanguageWriter } from './language-writer.ts';
import { polylangWriter } from './polylang.ts';
import { wpmlWriter } from './wpml.ts';

const WRITERS: Readonly<Record<ContentLanguages['form'], LanguageWriter>> = { polylang: polylangWriter, wpml: wpmlWriter };

/** Returns the writer for the form in which a site stores languages. */
export const languageWriterOf = ({ form }: Pick<ContentLanguages, 'form'>): LanguageWriter => WRITERS[form];

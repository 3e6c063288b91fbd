import { readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { labelOf } from '../../src/forms/labels.ts';
import { i18nIn } from '../../src/html/i18n.ts';
import { postKinds } from '../../src/kinds/index.ts';
import { loadTexts } from '../../src/texts.ts';

const LANGUAGES = readdirSync(new URL('../../locales/', import.meta.url));
const texts = await loadTexts(LANGUAGES);

/** Fields that the forms do not contain. */
const LEFT_OUT = ['date_utc', 'translations', 'translation_of', 'custom_fields'];

describe.each(LANGUAGES)('the labels of forms in %s', (language) => {
  it.each(postKinds)('exist for every field: $name', ({ name: kind, fields }) => {
    const i18n = i18nIn(texts, language, 'en-US');
    const names = Object.keys(fields).filter((name) => !LEFT_OUT.includes(name));
    const wordless = names.filter((name) => !i18n.has(`desk:fields.${kind}.${name}`) && !i18n.has(`desk:fields.${name}`));
    expect(wordless).toEqual([]);
    expect(new Set(names.map((name) => labelOf(i18n, kind, name))).size).toBe(names.length);
  });
});

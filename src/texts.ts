import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createInstance, type i18n as I18nInstance, type TFunction } from 'i18next';
import Backend from 'i18next-fs-backend';
import { LRUCache } from 'lru-cache';
import { keyText, memoize } from './memo.ts';
import { isRecord } from './objects.ts';

/**
 * The files of each folder in `locales/`. A key consists of the file and the name of the sentence in it:
 * `problems:venue-is-in-trash`.
 */
export const TEXT_FILES = [
  'problems',
  'reasons',
  'routes',
  'params',
  'fields',
  'statuses',
  'site',
  'pages',
  'desk',
  'cli',
  'upkeep',
  'exchange',
] as const;

/** Language of sentences that are missing in another language. */
const FALLBACK_LANGUAGE = 'en';

/** Values for the placeholders in a sentence. */
export type Words = Readonly<Record<string, string | number | readonly string[]>>;

export interface Texts {
  /** The languages of the site, default first. */
  readonly languages: readonly string[];
  /**
   * Returns a sentence in a language; an unknown language means the default. Of several keys, the first one with a
   * sentence is used.
   */
  readonly t: (language: string, key: string | readonly string[], values?: Words) => string;
  /** Whether a language has a sentence with this key, without fallback. */
  readonly has: (language: string, key: string) => boolean;
  /**
   * Chooses the language of an answer: from the parameter, otherwise the URL's segment, otherwise the reader's
   * preference, otherwise the default.
   */
  readonly chooseLanguage: (requested: RequestedLanguages) => string;
}

/** Returns a sentence in one language by its key; of several keys, the first one with a sentence. */
export type Say = (key: string | readonly string[], values?: Words) => string;

/** Returns the function for the sentences of a language. */
export const sayIn =
  ({ t }: Pick<Texts, 't'>, language: string): Say =>
  (key, values) =>
    t(language, key, values);

/** Everything that says which language a reader would like. */
export interface RequestedLanguages {
  readonly parameter?: string | undefined;
  readonly segment?: string | undefined;
  /** The header `Accept-Language` (RFC 9110, 12.5.4). */
  readonly acceptLanguage?: string | undefined;
}

/** A language without texts in `folder`; `file`: the file that cannot be read, if there are others. */
export class TextsMissing extends Error {
  override readonly name = 'TextsMissing';
  readonly language: string;
  readonly folder: string;
  readonly file: string | undefined;

  constructor(language: string, file?: string) {
    const folder = LOCALES_FOLDER + language;
    super(`there are no texts in ${folder}${file === undefined ? '' : `/${file}.json`}`);
    this.language = language;
    this.folder = folder;
    this.file = file;
  }
}

/**
 * Loads the texts of these languages, default first, once per process. Throws TextsMissing if a language has no folder
 * or a file cannot be read.
 */
export async function loadTexts(languages: readonly string[]): Promise<Texts> {
  const name = languages.join();
  const texts = textsByLanguages.get(name) ?? (await readTexts(languages));
  textsByLanguages.set(name, texts);
  return texts;
}

/** Loaded texts by the list of languages. */
const textsByLanguages = new Map<string, Texts>();

async function readTexts(languages: readonly string[]): Promise<Texts> {
  const [defaultLanguage = FALLBACK_LANGUAGE] = languages;
  for (const language of languages) {
    if (!existsSync(`${LOCALES_FOLDER}${language}`)) throw new TextsMissing(language);
  }
  const i18n = createInstance();
  await i18n.use(Backend).init({
    preload: [...new Set([...languages, FALLBACK_LANGUAGE])],
    lng: defaultLanguage,
    fallbackLng: FALLBACK_LANGUAGE,
    ns: [...TEXT_FILES],
    backend: { loadPath: `${LOCALES_FOLDER}{{lng}}/{{ns}}.json` },
    interpolation: { escapeValue: false },
    returnEmptyString: false,
  });
  for (const language of languages) {
    const absent = TEXT_FILES.find((file) => !i18n.hasResourceBundle(language, file));
    if (absent) throw new TextsMissing(language, absent);
    for (const file of TEXT_FILES) addPluralForms(i18n, language, file);
  }
  const translators = new Map<string, TFunction>(languages.map((language) => [language, i18n.getFixedT(language)]));
  const translateByDefault = i18n.getFixedT(defaultLanguage);
  const sentence = (language: string, key: string | readonly string[], values: Words) =>
    (translators.get(language) ?? translateByDefault)(typeof key === 'string' ? key : [...key], values);
  // Sentences without placeholders are cached by key.
  const fixedSentences = new Map(languages.map((language) => [language, memoize((key) => sentence(language, key, {}))]));
  // Sentences with placeholders are cached too, since they are often filled with the same values.
  const filledSentences = new LRUCache<string, string>({
    maxSize: 2_000_000,
    maxEntrySize: 20_000,
    sizeCalculation: (text, cacheKey) => text.length + cacheKey.length,
  });
  return {
    languages,
    t: (language, key, values) => {
      const translate = values === undefined && typeof key === 'string' ? fixedSentences.get(language) : undefined;
      if (translate) return translate(key as string);
      const cacheKey = keyText([language, key, values]);
      const text = filledSentences.get(cacheKey) ?? sentence(language, key, values ?? {});
      filledSentences.set(cacheKey, text);
      return text;
    },
    has: (language, key) => i18n.exists(key, { lng: language, fallbackLng: [] }),
    chooseLanguage: ({ parameter, segment, acceptLanguage }) =>
      [parameter, segment, ...preferredRanges(acceptLanguage ?? '')].flatMap((tag) => languagesMeantBy(tag, languages))[0] ??
      defaultLanguage,
  };
}

/**
 * Adds the plural forms that a file of a language lacks, with the sentence of `_other`. Italian, Spanish, French and
 * Portuguese have one of their own for whole millions (`many`); without it the sentence would be in another language.
 */
function addPluralForms(i18n: I18nInstance, language: string, file: string): void {
  const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
  const complete = (texts: object): object =>
    Object.fromEntries(
      Object.entries(texts).flatMap(([name, text]: [string, unknown]) => {
        if (isRecord(text)) return [[name, complete(text)]];
        const base = /^(.+_)other$/.exec(name)?.[1];
        const forms = base === undefined ? [] : pluralCategories.map((category) => base + category).filter((form) => !(form in texts));
        return [[name, text], ...forms.map((form) => [form, text])];
      }),
    );
  i18n.addResourceBundle(language, file, complete(i18n.getResourceBundle(language, file) as object));
}

/** `locales/` is beside `src/`. The build has its own, which stays as long as it does. */
const LOCALES_FOLDER =
  ['../locales/', '../../locales/'].map((path) => fileURLToPath(new URL(path, import.meta.url))).find((path) => existsSync(path)) ??
  'locales/';

/** Maximum length of the header. Browsers send less than a tenth of it. */
const MAX_HEADER_LENGTH = 1000;

/** Parses language ranges in order of preference; excluded ones (`q=0`) are left out. */
const preferredRanges = memoize((header): readonly string[] => {
  if (header.length > MAX_HEADER_LENGTH) return [];
  const ranges = header.split(',').map((range) => {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim());
    const quality = parameters.find((parameter) => /^q=/i.test(parameter));
    return { tag, quality: quality === undefined ? 1 : Number(quality.slice(2)) || 0 };
  });
  return ranges
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag);
});

/** Returns the language for a tag: the language itself, or the one that it is a variety of (`it-CH`: `it`). */
function languagesMeantBy(tag: string | undefined, languages: readonly string[]): string[] {
  const lowerTag = tag?.toLowerCase();
  const match =
    languages.find((language) => language.toLowerCase() === lowerTag) ??
    languages.find((language) => language.toLowerCase() === lowerTag?.split('-')[0]);
  return match === undefined ? [] : [match];
}

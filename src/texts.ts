import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createInstance, type TFunction } from 'i18next';
import Backend from 'i18next-fs-backend';
import { LRUCache } from 'lru-cache';
import { memoize } from './memo.ts';

/**
 * The files of each folder in `locales/`. A key names its file and the sentence in it: `problems:venue-is-in-trash`.
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

/** Languages lacking a sentence show the English one. */
const LAST_RESORT = 'en';

/** Values for the places in a sentence. */
export type Words = Readonly<Record<string, string | number | readonly string[]>>;

export interface Texts {
  /** The languages of the site, its default first. */
  readonly languages: readonly string[];
  /**
   * A sentence in a language; an unknown language means the default one. Of several keys the first that has a sentence
   * counts.
   */
  readonly t: (language: string, key: string | readonly string[], values?: Words) => string;
  /** Whether a language itself has a sentence of this name. */
  readonly has: (language: string, key: string) => boolean;
  /**
   * The language of an answer: what a parameter says, else the URL's segment, else the reader's preference, else the
   * default.
   */
  readonly chooseLanguage: (wishes: LanguageWishes) => string;
}

export interface LanguageWishes {
  readonly parameter?: string | undefined;
  readonly segment?: string | undefined;
  /** The header of this name (RFC 9110, 12.5.4). */
  readonly acceptLanguage?: string | undefined;
}

/**
 * The texts of these languages, the default one first; they are read once for each process. Throws where a language has
 * no folder or a file cannot be read.
 */
export async function loadTexts(languages: readonly string[]): Promise<Texts> {
  const name = languages.join();
  const texts = loaded.get(name) ?? (await readTexts(languages));
  loaded.set(name, texts);
  return texts;
}

/** By the languages in their order. */
const loaded = new Map<string, Texts>();

async function readTexts(languages: readonly string[]): Promise<Texts> {
  const [standard = LAST_RESORT] = languages;
  for (const language of languages) {
    if (!existsSync(`${FOLDER}${language}`))
      throw new Error(`There are no texts in the language "${language}": the folder locales/${language} is absent.`);
  }
  const i18n = createInstance();
  await i18n.use(Backend).init({
    preload: [...new Set([...languages, LAST_RESORT])],
    lng: standard,
    fallbackLng: LAST_RESORT,
    ns: [...TEXT_FILES],
    backend: { loadPath: `${FOLDER}{{lng}}/{{ns}}.json` },
    interpolation: { escapeValue: false },
    returnEmptyString: false,
  });
  for (const language of languages) {
    const absent = TEXT_FILES.find((file) => !i18n.hasResourceBundle(language, file));
    if (absent) throw new Error(`The texts in locales/${language}/${absent}.json cannot be read.`);
  }
  const known = new Map<string, TFunction>(languages.map((language) => [language, i18n.getFixedT(language)]));
  const usual = i18n.getFixedT(standard);
  const sentence = (language: string, key: string | readonly string[], values: Words) =>
    (known.get(language) ?? usual)(typeof key === 'string' ? key : [...key], values);
  // What has no places to fill in is the same each time.
  const whole = new Map(languages.map((language) => [language, memoize((key) => sentence(language, key, {}))]));
  // What has some is often filled with the same.
  const filled = new LRUCache<string, string>({
    maxSize: 2_000_000,
    maxEntrySize: 20_000,
    sizeCalculation: (text, wanted) => text.length + wanted.length,
  });
  return {
    languages,
    t: (language, key, values) => {
      const known = values === undefined && typeof key === 'string' ? whole.get(language) : undefined;
      if (known) return known(key as string);
      const wanted = JSON.stringify([language, key, values]);
      const text = filled.get(wanted) ?? sentence(language, key, values ?? {});
      filled.set(wanted, text);
      return text;
    },
    has: (language, key) => i18n.exists(key, { lng: language, fallbackLng: [] }),
    chooseLanguage: ({ parameter, segment, acceptLanguage }) =>
      [parameter, segment, ...preferred(acceptLanguage ?? '')].flatMap((wish) => languagesMeantBy(wish, languages))[0] ?? standard,
  };
}

/** `locales/` is beside `src/` and beside what is built from it. */
const FOLDER =
  ['../locales/', '../../locales/'].map((path) => fileURLToPath(new URL(path, import.meta.url))).find((path) => existsSync(path)) ??
  'locales/';

/** Browsers send less than a tenth of it. */
const LONGEST_PREFERENCE = 1000;

/** Language ranges by preference; what is not wanted (`q=0`) is left out. */
const preferred = memoize((header): readonly string[] => {
  if (header.length > LONGEST_PREFERENCE) return [];
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

/** The language that is meant by a tag: itself, or what it is a variety of (`it-CH`: `it`). */
function languagesMeantBy(tag: string | undefined, languages: readonly string[]): string[] {
  const wanted = tag?.toLowerCase();
  const found =
    languages.find((language) => language.toLowerCase() === wanted) ??
    languages.find((language) => language.toLowerCase() === wanted?.split('-')[0]);
  return found === undefined ? [] : [found];
}

/** What is known of a language by its code. */
export interface KnownLanguage {
  /** As WordPress writes it: `pt_BR`. */
  readonly locale: string;
  /** In the language itself: `Italiano`. */
  readonly name: string;
}

/** A code that may stand in addresses, as Polylang takes them: `it`, `pt-br`, `zh_tw`. */
export const isLanguageCode = (code: string): boolean => /^[a-z]{2,3}([-_][a-z0-9]{2,8})*$/.test(code);

/** A locale of WordPress: `it_IT`, `de_DE_formal`. */
export const isLocale = (locale: string): boolean => /^[a-z]{2,3}(_[A-Z]{2})?(_[a-z0-9]+)?$/.test(locale);

/** The locale and the name of a language as people who speak it say them; undefined where the code is no language's. */
export function knownLanguage(code: string): KnownLanguage | undefined {
  const tag = code.replaceAll('_', '-');
  try {
    const { language, region } = new Intl.Locale(tag).maximize();
    const name = new Intl.DisplayNames([tag], { type: 'language', fallback: 'none' }).of(tag);
    const locale = region === undefined ? language : `${language}_${region}`;
    return name === undefined ? undefined : { locale, name: name.charAt(0).toLocaleUpperCase(tag) + name.slice(1) };
  } catch {
    // What is no language tag at all.
    return undefined;
  }
}

/** Whether a language is written from right to left. */
export function isRightToLeft(code: string): boolean {
  const { script } = new Intl.Locale(code.replaceAll('_', '-')).maximize();
  return ['Adlm', 'Arab', 'Hebr', 'Nkoo', 'Rohg', 'Syrc', 'Thaa'].includes(script ?? '');
}

/** The values in a sentence about a setting. */
export type SettingWords = Readonly<Record<string, string | number>>;

/** The key of the description of a setting's valid values (`cli:settings.allowed`), and the values in it. */
export type AllowedValues = readonly [key: string, words?: SettingWords];

/**
 * A setting, or the place that it names, that cannot be used. It has a sentence in every language (`cli:settings`) for
 * the person who wrote the setting; its message is for the log.
 */
export class SettingError extends Error {
  override readonly name: string = 'SettingError';
  readonly problem: SettingProblem;
  readonly values: SettingWords;
  /** The values that the setting may have. */
  readonly allowed: AllowedValues | undefined;

  constructor(
    problem: SettingProblem,
    values: SettingWords = {},
    { allowed, cause }: { readonly allowed?: AllowedValues; readonly cause?: unknown } = {},
  ) {
    super([problem, ...Object.values(values)].join(' '), { cause });
    this.problem = problem;
    this.values = values;
    this.allowed = allowed;
  }
}

/** Keys of the sentences in `cli:settings`. */
export type SettingProblem =
  | 'refused'
  | 'secret-refused'
  | 'replicas-of-sqlite'
  | 'keys-together'
  | 'texts-absent'
  | 'texts-unreadable'
  | 'given-twice'
  | 'file-unreadable'
  | 'named-file-empty'
  | 'named-file-unreadable'
  | 'address-form'
  | 'address-socket'
  | 'address-twice'
  | 'address-without-name'
  | 'address-parameter'
  | 'address-value'
  | 'sqlite-without-file'
  | 'sqlite-unopened';

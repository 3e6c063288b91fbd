import type { Command } from 'commander';
import { hasCustomFields, kindOnSite } from '../kinds/custom-fields.ts';
import { truthyFlag } from '../kinds/grammars/flags.ts';
import { kinds, postKinds } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { withLanguages } from '../kinds/language-fields.ts';
import type { Param } from '../kinds/param.ts';
import type { Caller } from '../records/caller.ts';
import { languageOfCode } from '../wordpress/content-languages.ts';
import { tableOf } from '../wordpress/table.ts';
import type { Verb } from './examples.ts';
import { CliError, EXIT_CODE } from './io.ts';
import { parseReadableDate } from './options.ts';
import type { Session } from './session.ts';

/* Flags of the commands about records: generated from the parameters of the kinds, and parsed. */

export type Options = Readonly<Record<string, unknown>>;
export type Params = Readonly<Record<string, Param>>;

/**
 * Expands boolean flags to `--featured=true` and `--featured=false` (`--no-featured`), so that they do not consume the
 * next word unless it is a value of theirs, as in wp-cli. Hyphens in flags are accepted: `--start-date`.
 */
export function expandBooleanFlags(args: readonly string[]): string[] {
  const [command, verb = ''] = findCommands(args);
  const params = new Map(Object.entries(paramsOf(command)));
  const names = new Set(params.keys());
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  return args.map((typedArg, index) => {
    const arg = index < end ? underscoreFlag(typedArg, names) : typedArg;
    const [, negation, name = ''] = /^--(no-)?(\w+)$/.exec(arg) ?? [];
    const param = index < end ? params.get(name) : undefined;
    if (!param || !isFlag(param)) return arg;
    const hasValue = negation === undefined && isValueOf(param, args[index + 1] ?? '', VERBS_WITH_RECORDS.has(verb));
    return hasValue ? arg : `--${name}=${negation === undefined}`;
  });
}

/** Options of commands whose number may be left out, and the number that is meant then (records, seconds). */
const OPTIONAL_NUMBERS: ReadonlyMap<string, ReadonlyMap<string, number>> = tableOf({ import: tableOf({ preview: 5, follow: 300 }) });

/**
 * Writes out the number of such an option, `--preview=5`, unless a number follows, so that it does not consume the next
 * word: `import --preview events.csv`. A number with a unit is refused as a value, rather than read as a source.
 */
export function expandOptionalNumbers(args: readonly string[]): string[] {
  const numbers = OPTIONAL_NUMBERS.get(findCommands(args)[0] ?? '');
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  return args.map((arg, index) => {
    const number = index < end && arg.startsWith('--') ? numbers?.get(arg.slice(2)) : undefined;
    return number === undefined || /^\d+[a-z]*$/i.test(args[index + 1] ?? '') ? arg : `${arg}=${number}`;
  });
}

/** Verbs that are followed by ids of records. */
const VERBS_WITH_RECORDS: ReadonlySet<string> = new Set<Verb>(['get', 'update', 'delete', 'restore']);

/** Whether a word after a boolean flag is its value. No record has the id 0, but `1` may be one. */
function isValueOf({ grammar }: Param, word: string, mayBeRecord: boolean): boolean {
  if (/^(yes|no|true|false|on|off|0)$/i.test(word)) return true;
  if (word === '1') return !mayBeRecord;
  // Some flags have a further value, which is neither yes nor no: `--strict_dates local`.
  const { value } = grammar.read(word, () => false);
  return value !== undefined && typeof value !== 'boolean';
}

/** Returns the parameters that a command has as flags: those of a kind, or the filters of all kinds for `export`. */
function paramsOf(command: string | undefined): Params {
  if (command === 'export') return Object.assign({}, ...postKinds.map(({ filters }) => filters));
  const kind = kinds.find(({ name }) => name === command);
  return { ...kind?.filters, ...kind?.fields };
}

/** Rewrites `--start-date=…` to `--start_date=…` if that flag exists. */
function underscoreFlag(arg: string, names: ReadonlySet<string>): string {
  const [, negation = '', name = ''] = /^--(no-)?([a-z][a-z-]*)/.exec(arg) ?? [];
  const paramName = name.replaceAll('-', '_');
  const start = `--${negation}${name}`;
  return names.has(paramName) && ['', '='].includes(arg.charAt(start.length)) ? `--${negation}${paramName}${arg.slice(start.length)}` : arg;
}

/** Global options that may precede the command, each with a value. */
const OPTIONS_BEFORE_COMMAND = ['--user', '--language'];

/** Returns the command and its verb in the arguments: the first words that are neither options nor values of these. */
const findCommands = (args: readonly string[]): string[] =>
  args.filter((arg, index) => !arg.startsWith('-') && !OPTIONS_BEFORE_COMMAND.includes(args[index - 1] ?? '')).slice(0, 2);

/** Whether a parameter may be given without a value, which means yes. */
export const isFlag = ({ grammar }: Param): boolean => {
  const { type } = grammar.json;
  return type === 'boolean' || (Array.isArray(type) && type.includes('boolean')) || grammar === truthyFlag;
};

/** Whether a value may be given as JSON: lists and objects, such as a new venue of an event. */
const isListOrObject = ({ grammar }: Param): boolean => {
  const { type } = grammar.json;
  return type === 'array' || type === undefined;
};

/**
 * Adds a flag for each of these parameters to a command. `texts`: keys of its sentence, of which the first existing one
 * is used.
 */
export function addParams(
  command: Command,
  session: Session,
  kind: Kind,
  params: Params,
  texts: (kind: Kind, name: string) => string[],
): Command {
  const { say } = session;
  for (const [name, param] of Object.entries(params)) {
    const flag = isFlag(param) ? `--${name} [yes|no]` : `--${name} <${placeholder(param)}>`;
    const required = param.required && params === kind.fields && command.name() === 'create' ? ` ${say('options.required')}` : '';
    command.option(flag, say(texts(kind, name)) + required);
  }
  return withCustomFields(command, session, kind);
}

/** Returns the word for the value of a flag in the help: `number`, `text`, `list`. */
export function placeholder({ grammar }: Param): string {
  const type = [grammar.json.type ?? 'value'].flat();
  return String(type.includes('integer') && type.length === 1 ? 'number' : type[0])
    .replace('string', 'text')
    .replace('array', 'list');
}

/** Returns the keys of the sentence about a filter. */
export const filterTexts = (kind: Kind, name: string): string[] => [`params:${kind.name}.${name}`, `params:common.${name}`];
/** Returns the keys of the sentence about a field that is written. */
export const fieldTexts = (kind: Kind, name: string): string[] => [
  `fields:${kind.name}.written.${name}`,
  `fields:common.written.${name}`,
  `fields:${kind.name}.${name}`,
  `fields:common.${name}`,
];

/**
 * Returns the given values of these parameters. Throws CliError `json-invalid`, `no-custom-fields`,
 * `custom-field-form`.
 */
export function givenValues(caller: Caller, kind: Kind, params: Params, options: Options): Record<string, unknown> {
  const presentParams = Object.entries(params).filter(([name]) => options[name] !== undefined);
  const { custom_fields: customFields } = options;
  if (customFields !== undefined && kindForCaller(caller, kind) === kind) throw new CliError('no-custom-fields', {}, EXIT_CODE.usage);
  return {
    ...Object.fromEntries(
      presentParams.map(([name, param]) => [name, parseReadableDate(caller, param, parseValue(name, param, options[name]))]),
    ),
    ...(Array.isArray(customFields) ? { custom_fields: Object.fromEntries(customFields.map(splitCustomField)) } : {}),
    ...languageValues(caller, kind, options),
  };
}

/**
 * Returns the given language and translations of a record. They have flags of their own, since `--language` is the
 * language of the command's messages.
 */
function languageValues({ settings }: Caller, kind: Kind, { contentLanguage, translations, translationOf }: Options): Options {
  const entries = Object.entries({ language: contentLanguage, translations, translation_of: translationOf }).filter(
    ([, value]) => value !== undefined,
  );
  if (entries.length > 0 && withLanguages(kind, settings.contentLanguages) === kind)
    throw new CliError('no-languages', {}, EXIT_CODE.usage);
  return Object.fromEntries(entries.map(([name, value]) => [name, name === 'translations' ? parseJsonFlag(name, String(value)) : value]));
}

/** Returns a caller who lists the records of one language only. Throws CliError `no-languages`, `language-unknown`. */
export function inContentLanguage(caller: Caller, { contentLanguage: code }: Options): Caller {
  if (typeof code !== 'string') return caller;
  const { contentLanguages: languages } = caller.settings;
  if (!languages) throw new CliError('no-languages', {}, EXIT_CODE.usage);
  if (!languageOfCode(languages, code)) throw new CliError('language-unknown', { code }, EXIT_CODE.usage);
  return { ...caller, content: { code, isChosen: true } };
}

/** Adds the flags for the language of a record and its translations. */
export const withLanguageFlags = (command: Command, { say }: Session): Command =>
  command
    .option('--content-language <code>', say('content.content-language'))
    .option('--translations <json>', say('content.translations'))
    .option('--translation-of <id>', say('content.translation-of'));

/** Fields whose flags have other names. */
const OTHER_FLAGS: ReadonlyMap<string, string> = tableOf({ language: '--content-language', translation_of: '--translation-of' });

/** Returns the flag for a parameter of a record, for messages. */
export const flagFor = (param: string): string => OTHER_FLAGS.get(param) ?? `--${param}`;

/** Returns a kind with the fields that it has on the caller's site. */
export const kindForCaller = <K extends Kind>({ settings }: Caller, kind: K): K => kindOnSite(kind, settings);

/** Splits `accessibility=yes` into name and value. Throws CliError `custom-field-form`. */
function splitCustomField(text: unknown): [string, string] {
  const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(String(text)) ?? [];
  if (name === '') throw new CliError('custom-field-form', { text: String(text) }, EXIT_CODE.usage);
  return [name, value];
}

/** Adds the flag for the site's own fields, which may be repeated. */
const withCustomFields = (command: Command, { say }: Session, kind: Kind): Command =>
  hasCustomFields(kind)
    ? command.option('--custom_fields <name=value>', say('content.custom_fields'), (pair: string, previous: string[] = []) => [
        ...previous,
        pair,
      ])
    : command;

function parseValue(name: string, param: Param, value: unknown): unknown {
  return typeof value === 'string' && isListOrObject(param) && /^\s*[[{]/.test(value) ? parseJsonFlag(name, value) : value;
}

/** Parses JSON. Throws CliError `json-invalid`. */
function parseJsonFlag(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError('json-invalid', { name }, EXIT_CODE.usage);
  }
}

import { Command } from 'commander';
import { settings } from '../config/settings.ts';
import type { SettingError } from '../host/setting-error.ts';
import { version } from '../host/version.ts';
import { settingSentence } from '../refusals.ts';
import { loadTexts, type Say, type Texts } from '../texts.ts';
import { tableOf } from '../wordpress/table.ts';
import { addBackupCommands } from './backup.ts';
import { addCompletionCommand } from './completion.ts';
import { addConfigCommand } from './config.ts';
import { addContentCommands } from './content.ts';
import { expandBooleanFlags, expandOptionalNumbers } from './content-flags.ts';
import { addDatabaseCommands } from './database.ts';
import { addDoctorCommand } from './doctor.ts';
import { reportError } from './error-report.ts';
import { addExportCommand } from './export.ts';
import { addFieldCommands } from './fields.ts';
import { addImportCommand } from './import.ts';
import { warnOfIneffectiveOptions } from './ineffective-options.ts';
import { CliError, EXIT_CODE, type Io } from './io.ts';
import { addLanguageCommands } from './languages.ts';
import { addMediaCommands } from './media.ts';
import { languageOf as languageOption, refuseUnusedUser } from './options.ts';
import type { Session } from './session.ts';
import { addOptionCommands } from './site-options.ts';
import { addStatusCommand } from './status.ts';
import { addUserCommands } from './users.ts';
import { addVerifyCommand } from './verify.ts';
import { addWebhookCommands } from './webhooks.ts';

/**
 * Runs the command `fasti` with these arguments.
 *
 * @returns the exit code: 0 done, 1 refused or not found, 2 wrong usage, 3 incomplete import, 69 database unavailable
 */
export async function runCli(args: readonly string[], io: Io): Promise<number> {
  // A language without texts is reported when the site is opened and by `config`, so that help works anyway.
  const texts = await loadTexts(languagesOf(io)).catch(() => loadTexts(languagesOf({ env: {} })));
  const language = languageOf(args, io, texts);
  const say = sayForCommand(texts, language);
  io.onUnwritable?.(
    (code) => `${say('error', { message: say('exchange:faults.unwritable', { file: say('standard-output'), what: code }) })}\n`,
  );
  const session = { io, language, say };
  const program = createProgram(session, args).hook('preAction', (_program, command) => {
    checkLanguage(texts, languageOption(command));
    refuseUnusedUser(command);
    warnOfIneffectiveOptions(session, command);
  });
  try {
    await program.parseAsync(expandOptionalNumbers(expandBooleanFlags(args)), { from: 'user' });
    return 0;
  } catch (error) {
    return reportError(error, io, say, optionNames(program, args));
  }
}

/** Returns the line about variables that cannot be read, which ends the command before it begins. */
export async function startErrorLine(error: SettingError, args: readonly string[], { env }: Pick<Io, 'env'>): Promise<string> {
  const texts = await loadTexts(languagesOf({ env })).catch(() => loadTexts(languagesOf({ env: {} })));
  const say = sayForCommand(texts, languageOf(args, { env }, texts));
  return `${say('error', { message: settingSentence(say, error) })}\n`;
}

/** Throws CliError `wrong-choice` if there are no texts in the requested language. */
function checkLanguage({ languages }: Texts, language: string | undefined): void {
  if (
    language === undefined ||
    languages.some((one) => [language, language.split(/[-_]/)[0]].some((tag) => tag?.toLowerCase() === one.toLowerCase()))
  )
    return;
  throw new CliError('wrong-choice', { name: 'language', value: language, choices: languages.join(', ') }, EXIT_CODE.usage);
}

/** Returns the options of the command in the arguments, and the global ones. */
function optionNames(program: Command, args: readonly string[]): string[] {
  let command = program;
  for (const arg of args) command = command.commands.find((one) => one.name() === arg) ?? command;
  return [...new Set([...command.options, ...program.options])].flatMap(({ long }) => long ?? []);
}

/**
 * Creates the program with all its commands, with help in the language of the session. With `args`, subcommands of
 * kinds that do not occur in them are left out, since they have hundreds of flags, which would slow down every start.
 */
export function createProgram(session: Session, args?: readonly string[]): Command {
  const { io, say } = session;
  const program = new Command('fasti')
    .description(say('program'))
    .exitOverride()
    .configureOutput({
      writeOut: io.out,
      writeErr: io.err,
      outputError: () => undefined,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .configureHelp({
      showGlobalOptions: true,
      optionDescription: ({ description, defaultValue: value }) =>
        typeof value === 'string' ? say('options.default', { description, value }) : description,
      styleTitle: (title) => (TITLES.has(title) ? say(`titles.${TITLES.get(title)}`) : title),
    })
    .helpOption('-h, --help', say('options.help'))
    .version(version(), '-V, --version', say('options.version'))
    .helpCommand(false)
    .option('--user <user>', say('options.user'))
    .option('--language <code>', say('options.language'));
  addDatabaseCommands(program, session);
  addConfigCommand(program, session);
  addOptionCommands(program, session);
  addUserCommands(program, session);
  addContentCommands(program, session, (name) => !args || args.includes(name) || args.includes('completion'));
  addMediaCommands(program, session);
  addFieldCommands(program, session);
  addWebhookCommands(program, session);
  addLanguageCommands(program, session);
  addImportCommand(program, session);
  addExportCommand(program, session);
  addVerifyCommand(program, session);
  addStatusCommand(program, session);
  addDoctorCommand(program, session);
  addBackupCommands(program, session);
  addCompletionCommand(program, session);
  return program;
}

/** Returns a function that translates sentences of the command. */
export const sayForCommand =
  (texts: Texts, language: string): Say =>
  (key, values = {}) =>
    texts.t(
      language,
      [key].flat().map((name) => (name.includes(':') ? name : `cli:${name}`)),
      values,
    );

/**
 * Returns the languages in the setting, or its default if they are wrong. Other settings do not matter here: whatever
 * is wrong with them is reported when the command reads them, in the language that was asked for.
 */
function languagesOf({ env }: Pick<Io, 'env'>): readonly string[] {
  const { env: name, fallback, schema } = settings.languages;
  const result = schema.safeParse(env[name]?.trim() || fallback);
  return result.success ? result.data : schema.parse(fallback);
}

/**
 * Returns the language in `--language`; otherwise that of the terminal according to POSIX; otherwise the site's
 * default.
 */
function languageOf(args: readonly string[], { env }: Pick<Io, 'env'>, texts: Texts): string {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const place = args.slice(0, end).findLastIndex((arg) => /^--language(=|$)/.test(arg));
  const option = place < 0 ? undefined : (/=(.*)/.exec(args[place]!)?.[1] ?? args[place + 1]);
  const locale = (env.LC_ALL || env.LC_MESSAGES || env.LANG || '').replace(/[.@].*/, '').replace('_', '-');
  return texts.chooseLanguage({ parameter: option?.replace('_', '-'), segment: locale });
}

/** Titles of commander in help texts -> the keys of their sentences. */
const TITLES: ReadonlyMap<string, string> = tableOf({
  'Usage:': 'usage',
  'Arguments:': 'arguments',
  'Options:': 'options',
  'Global Options:': 'global-options',
  'Commands:': 'commands',
});

import { Command } from 'commander';
import { ConfigError, readConfig } from '../config/config.ts';
import { version } from '../host/version.ts';
import type { Say } from '../refusals.ts';
import { loadTexts, type Texts } from '../texts.ts';
import { tableOf } from '../wordpress/table.ts';
import { addBackupCommands } from './backup.ts';
import { addCompletionCommand } from './completion.ts';
import { addConfigCommand } from './config.ts';
import { addContentCommands } from './content.ts';
import { spellOutFlags } from './content-flags.ts';
import { addDatabaseCommands } from './database.ts';
import { addDoctorCommand } from './doctor.ts';
import { addExportCommand } from './export.ts';
import { addFieldCommands } from './fields.ts';
import { warnOfIdle } from './idle-options.ts';
import { addImportCommand } from './import.ts';
import { CliError, EXIT, type Io } from './io.ts';
import { addLanguageCommands } from './languages.ts';
import { addMediaCommands } from './media.ts';
import { languageOf as languageOption } from './options.ts';
import { report } from './report.ts';
import type { Session } from './session.ts';
import { addOptionCommands } from './site-options.ts';
import { addStatusCommand } from './status.ts';
import { addUserCommands } from './users.ts';
import { addVerifyCommand } from './verify.ts';
import { addWebhookCommands } from './webhooks.ts';

/**
 * Runs the command `fasti` with these arguments.
 *
 * @returns the code to end with: 0 done, 1 refused or not found, 2 wrong usage, 3 an import is incomplete, 69 no
 * database
 */
export async function runCli(args: readonly string[], io: Io): Promise<number> {
  // A language without texts is reported when the site is opened, so that help works nevertheless.
  const texts = await loadTexts(languagesOf(io)).catch(() => loadTexts(['en']));
  const language = languageOf(args, io, texts);
  const say = sayIn(texts, language);
  io.onUnwritable?.((what) => `${say('error', { message: say('exchange:faults.unwritable', { file: say('standard-output'), what }) })}\n`);
  const session = { io, language, say };
  const program = createProgram(session, args).hook('preAction', (_program, command) => {
    checkLanguage(texts, languageOption(command));
    warnOfIdle(session, command);
  });
  try {
    await program.parseAsync(spellOutFlags(args), { from: 'user' });
    return 0;
  } catch (error) {
    return report(error, io, say, optionsOf(program, args));
  }
}

/** Throws CliError `wrong-choice` where a language is asked for in which there are no texts. */
function checkLanguage({ languages }: Texts, asked: string | undefined): void {
  if (
    asked === undefined ||
    languages.some((one) => [asked, asked.split(/[-_]/)[0]].some((tag) => tag?.toLowerCase() === one.toLowerCase()))
  )
    return;
  throw new CliError('wrong-choice', { name: 'language', value: asked, choices: languages.join(', ') }, EXIT.usage);
}

/** The options of the command that the arguments name, with those of the whole program. */
function optionsOf(program: Command, args: readonly string[]): string[] {
  let command = program;
  for (const arg of args) command = command.commands.find((one) => one.name() === arg) ?? command;
  return [...new Set([...command.options, ...program.options])].flatMap(({ long }) => long ?? []);
}

/**
 * The command with all its commands, whose help speaks the language of the session. With `args` those below the records
 * that the arguments don't name are left out, which every start would otherwise pay for: they have hundreds of flags.
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

/** Says sentences of the command in a language. */
export const sayIn =
  (texts: Texts, language: string): Say =>
  (key, values = {}) =>
    texts.t(
      language,
      [key].flat().map((name) => (name.includes(':') ? name : `cli:${name}`)),
      values,
    );

/** A wrong setting is reported when the command comes to it, so that help works nevertheless. */
function languagesOf({ env }: Io): readonly string[] {
  try {
    return readConfig(env).languages;
  } catch (error) {
    if (error instanceof ConfigError) return ['en'];
    throw error;
  }
}

/** `--language`, else the language of the terminal as POSIX says it, else the default of the site. */
function languageOf(args: readonly string[], { env }: Io, texts: Texts): string {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const place = args.slice(0, end).findLastIndex((arg) => /^--language(=|$)/.test(arg));
  const option = place < 0 ? undefined : (/=(.*)/.exec(args[place]!)?.[1] ?? args[place + 1]);
  const locale = (env.LC_ALL || env.LC_MESSAGES || env.LANG || '').replace(/[.@].*/, '').replace('_', '-');
  return texts.chooseLanguage({ parameter: option?.replace('_', '-'), segment: locale });
}

/** What commander puts above the parts of a help text, and the sentence for it. */
const TITLES: ReadonlyMap<string, string> = tableOf({
  'Usage:': 'usage',
  'Arguments:': 'arguments',
  'Options:': 'options',
  'Global Options:': 'global-options',
  'Commands:': 'commands',
});

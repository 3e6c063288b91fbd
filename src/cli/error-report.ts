import { CommanderError } from 'commander';
import { AccountError } from '../accounts/account-error.ts';
import { ConfigError } from '../config/config.ts';
import { ApiError } from '../errors.ts';
import { SourceFault } from '../exchange/items/items.ts';
import { SettingError } from '../host/setting-error.ts';
import { nearestName } from '../kinds/nearest-name.ts';
import { LibraryUnavailable } from '../media/library.ts';
import { codeOf } from '../objects.ts';
import { CustomFieldError } from '../records/custom-fields.ts';
import { LanguageError } from '../records/site-languages.ts';
import { faultSentence, refusalSentence, settingSentence } from '../refusals.ts';
import { DatabaseUnavailable } from '../storage/engine/database.ts';
import { OtherSites } from '../storage/schema/installation.ts';
import type { Say } from '../texts.ts';
import { HookError } from '../webhooks/hooks.ts';
import { flagFor } from './content-flags.ts';
import { OneOfSeveral } from './each-record.ts';
import { CliError, EXIT_CODE, type Io } from './io.ts';
import { oneLine } from './print.ts';

/**
 * Prints on standard error why the command stopped. `options`: options of the command, such as `--title`. Returns the
 * exit code.
 */
export function reportError(error: unknown, { err, env }: Io, say: Say, options: readonly string[]): number {
  const { lines, exit } = explain(error, say, options);
  for (const line of lines) err(`${oneLine(line)}\n`);
  const cause = error instanceof OneOfSeveral ? error.cause : error;
  if (env.LOG_LEVEL === 'debug' && cause instanceof Error) err(`${cause.stack}\n`);
  return exit;
}

interface Explanation {
  readonly lines: readonly string[];
  readonly exit: number;
}

function explain(error: unknown, say: Say, options: readonly string[]): Explanation {
  const toExplanation = (message: string, exit: number, furtherLines: readonly string[] = []): Explanation => ({
    lines: [say('error', { message }), ...furtherLines],
    exit,
  });
  if (error instanceof OneOfSeveral) return explainOne(error, say, options);
  if (error instanceof CommanderError) return explainUsage(error, say, options);
  if (error instanceof CliError) return toExplanation(say(`problems.${error.problem}`, error.values), error.exit, nearField(error, say));
  if (error instanceof CustomFieldError || error instanceof LanguageError || error instanceof HookError)
    return toExplanation(say(`problems.${error.problem}`, error.values), EXIT_CODE.refused);
  if (error instanceof OtherSites)
    return toExplanation(say('problems.other-sites', { prefix: error.prefix, others: error.others.join(', ') }), EXIT_CODE.refused);
  if (error instanceof SourceFault) return toExplanation(say(`exchange:faults.${error.fault}`, error.values), EXIT_CODE.refused);
  if (error instanceof AccountError) return toExplanation(say(`accounts.${error.problem}`, error.values), EXIT_CODE.refused);
  if (error instanceof SettingError)
    return toExplanation(settingSentence(say, error), error instanceof ConfigError ? EXIT_CODE.usage : EXIT_CODE.refused);
  if (error instanceof DatabaseUnavailable) return toExplanation(unavailableSentence(say, error), EXIT_CODE.unavailable);
  if (error instanceof LibraryUnavailable) return toExplanation(say('problems.uploads', { message: error.message }), EXIT_CODE.refused);
  if (error instanceof ApiError) return toExplanation(refusalSentence(say, error), EXIT_CODE.refused, faultLines(error, say));
  return toExplanation(error instanceof Error ? error.message : String(error), EXIT_CODE.refused);
}

// ------------------------------------------------------------------------------------------------- errors
/** Returns the sentence about a database that does not work, with the message of the driver or the system. */
export const unavailableSentence = (say: Say, { reason, cause }: DatabaseUnavailable): string =>
  say([`problems.database-${reason}`, 'problems.database'], { message: cause instanceof Error ? cause.message || codeOf(cause) : reason });

/**
 * Explains the error of one of several records: adds the record if the sentence does not name it, and lists records
 * that were not processed.
 */
function explainOne({ reference, unprocessed, cause }: OneOfSeveral, say: Say, options: readonly string[]): Explanation {
  const { lines, exit } = explain(cause, say, options);
  const linesWithRecord =
    cause instanceof ApiError ? [say('error', { message: `${reference}: ${refusalSentence(say, cause)}` }), ...lines.slice(1)] : lines;
  return { lines: [...linesWithRecord, ...(unprocessed.length > 0 ? [say('not-done', { references: unprocessed.join(' ') })] : [])], exit };
}

/** Returns the line that suggests a field of the records instead of an unknown one. */
function nearField({ problem, values }: CliError, say: Say): string[] {
  if (problem !== 'unknown-field') return [];
  const suggestion = nearestName(String(values.field), String(values.fields).split(', '));
  return suggestion === undefined ? [] : [say('usage.near', { near: suggestion })];
}

/** Returns a line for each invalid parameter. */
function faultLines({ details: { faults = new Map(), sentValues } }: ApiError, say: Say): string[] {
  return [...faults].map(([param, fault]) => `${flagFor(param)}: ${faultSentence(say, param, fault, sentValues?.get(param))}`);
}

// ------------------------------------------------------------------------------------------------- usage
/** Translates errors of commander, which are in English only. A request for help is not an error. */
function explainUsage({ code, message, exitCode }: CommanderError, say: Say, options: readonly string[]): Explanation {
  if (exitCode === 0) return { lines: [], exit: EXIT_CODE.done };
  if (code === 'commander.help') return { lines: [], exit: EXIT_CODE.usage };
  const key = code.replace('commander.', '');
  const quotedText = /'([^']*)'/.exec(message)?.[1] ?? '';
  // These messages contain the option together with its value.
  const name =
    key === 'unknownOption'
      ? quotedText.split('=', 1)[0]!
      : key === 'missingMandatoryOptionValue'
        ? quotedText.split(' ', 1)[0]!
        : quotedText;
  const suggestion = key === 'unknownOption' ? nearestName(name, options) : parseSuggestion(message);
  const sentence = TRANSLATED.has(key) ? say(`usage.${key}`, { name }) : message.replace(/^error: /, '');
  return {
    lines: [
      say('error', { message: sentence }),
      ...(suggestion === undefined ? [] : [say('usage.near', { near: suggestion })]),
      say('usage.help'),
    ],
    exit: EXIT_CODE.usage,
  };
}

/** Returns commander's own suggestion. */
const parseSuggestion = (message: string): string | undefined =>
  message
    .split('Did you mean ')[1]
    ?.replace(/^one of /, '')
    .split('?', 1)[0];

/** The most common errors of commander; the others are programming errors. */
const TRANSLATED = new Set([
  'unknownOption',
  'unknownCommand',
  'missingArgument',
  'missingMandatoryOptionValue',
  'optionMissingArgument',
  'excessArguments',
]);

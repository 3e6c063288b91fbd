import type { Command } from 'commander';
import { convertDayFirst } from '../calendar/day-first.ts';
import { MOMENT_HINT } from '../kinds/grammars/times.ts';
import type { Param } from '../kinds/param.ts';
import type { Caller } from '../records/caller.ts';
import type { Say } from '../texts.ts';
import { CliError, EXIT_CODE } from './io.ts';
import { FORMATS, type OutputShape } from './print.ts';

/** Returns the language of messages in `--language`, which every command accepts. */
export const languageOf = (command: Command): string | undefined => command.optsWithGlobals<{ language?: string }>().language;

/** Commands that act with the rights of a user, and groups of such commands. */
const actingCommands = new WeakSet<Command>();

/** Declares that a command, or all commands of a group, act as the user in `--user`. All others refuse that option. */
export function actingAsUser(command: Command): Command {
  actingCommands.add(command);
  return command;
}

const actsAsUser = (command: Command): boolean => actingCommands.has(command) || (command.parent !== null && actsAsUser(command.parent));

/** Returns the user in `--user`. Throws Error if the command is not declared as acting as a user. */
export function userOf(command: Command): string | undefined {
  if (!actsAsUser(command)) throw new Error(`${command.name()} does not act as a user`);
  return givenUser(command);
}

/** Throws CliError `user-not-used` for `--user` with a command that would ignore it and have all rights. */
export function refuseUnusedUser(command: Command): void {
  if (givenUser(command) !== undefined && !actsAsUser(command)) throw new CliError('user-not-used', {}, EXIT_CODE.usage);
}

const givenUser = (command: Command): string | undefined => command.optsWithGlobals<{ user?: string }>().user;

/** Adds `--format`, `--fields` and `--field`. */
export function withOutputOptions(command: Command, say: Say): Command {
  return command
    .option('--format <format>', say('options.format', { formats: FORMATS.join(', ') }))
    .option('--fields <names>', say('options.fields'))
    .option('--field <name>', say('options.field'));
}

/** Returns the output format of those options. Throws CliError `wrong-choice`. */
export function outputShape(
  { format = 'table', fields, field }: Readonly<Record<string, unknown>>,
  columns: readonly string[],
): OutputShape {
  const names =
    typeof fields === 'string'
      ? fields
          .split(',')
          .map((name) => name.trim())
          .filter(Boolean)
      : undefined;
  return {
    format: choiceOf('format', String(format), FORMATS),
    columns,
    // An empty list means the default columns.
    fields: names?.length === 0 ? undefined : names,
    field: typeof field === 'string' ? field : undefined,
  };
}

/** Formats of a report: for people, or for programs. */
export const REPORT_FORMATS = ['text', 'json'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** Adds `--format` to a command whose output is not records; `choiceOf` reads it. */
export const withReportFormat = (command: Command, say: Say): Command =>
  command.option('--format <format>', say('options.format', { formats: REPORT_FORMATS.join(', ') }), 'text');

/** Adds examples below the help of a command, one line each. */
export function withExamples(command: Command, say: Say, examples: readonly string[]): Command {
  return command.addHelpText('after', () => `\n${say('titles.examples')}\n${examples.map((line) => `  $ ${line}`).join('\n')}`);
}

/** Splits login and application password of another site at the first colon. Throws CliError `no-credentials`. */
export function parseCredentials(value: unknown): { readonly login: string; readonly password: string } | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  const colonIndex = value.indexOf(':');
  if (colonIndex < 1) throw new CliError('no-credentials', {}, EXIT_CODE.usage);
  return { login: value.slice(0, colonIndex), password: value.slice(colonIndex + 1) };
}

/** Returns the choice that an option has; undefined if the option is absent. Throws CliError `wrong-choice`. */
export function choiceOf<Choice extends string>(name: string, value: string, choices: readonly Choice[]): Choice;
export function choiceOf<Choice extends string>(name: string, value: unknown, choices: readonly Choice[]): Choice | undefined;
export function choiceOf<Choice extends string>(name: string, value: unknown, choices: readonly Choice[]): Choice | undefined {
  const choice = choices.find((one) => one === value);
  if (choice !== undefined || value === undefined) return choice;
  throw new CliError('wrong-choice', { name, value: String(value), choices: choices.join(', ') }, EXIT_CODE.usage);
}

/** Reads dates with the day first if the language of the site writes them so and they are unambiguous. */
export const parseReadableDate = ({ settings }: Caller, { grammar }: Param, value: unknown): unknown =>
  grammar.hint === MOMENT_HINT && typeof value === 'string' ? convertDayFirst(value, settings.contentLanguage) : value;

/**
 * Returns the positive integer that an option has; undefined if the option is absent. Throws CliError `not-a-number`.
 */
export function parseNumber(name: string, value: string): number;
export function parseNumber(name: string, value: unknown): number | undefined;
export function parseNumber(name: string, value: unknown): number | undefined {
  return parseWholeNumber(value, 7, () => new CliError('not-a-number', { name, value: String(value) }, EXIT_CODE.usage));
}

/**
 * Returns the id in an option (`--post`) or an argument (`id`); undefined if it is absent. Throws CliError `not-an-id`.
 */
export function parseId(name: string, value: string): number;
export function parseId(name: string, value: unknown): number | undefined;
export function parseId(name: string, value: unknown): number | undefined {
  return parseWholeNumber(value, 15, () => new CliError('not-an-id', { name, value: String(value) }, EXIT_CODE.usage));
}

function parseWholeNumber(value: unknown, digits: number, fault: () => CliError): number | undefined {
  if (value === undefined) return undefined;
  if (!/^[1-9]\d*$/.test(String(value)) || String(value).length > digits) throw fault();
  return Number(value);
}

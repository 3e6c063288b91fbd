import type { Command } from 'commander';
import { dayFirst } from '../calendar/day-first.ts';
import { MOMENT_HINT } from '../kinds/grammars/times.ts';
import type { Param } from '../kinds/param.ts';
import type { Caller } from '../records/caller.ts';
import type { Say } from '../refusals.ts';
import { CliError, EXIT } from './io.ts';
import { FORMATS, type Shape } from './print.ts';

/** The language of messages that is named by `--language`, which every command takes. */
export const languageOf = (command: Command): string | undefined => command.optsWithGlobals<{ language?: string }>().language;

/** Who is named by `--user`, which every command takes. */
export const userOf = (command: Command): string | undefined => command.optsWithGlobals<{ user?: string }>().user;

/** Adds `--format`, `--fields` and `--field`. */
export function withShape(command: Command, say: Say): Command {
  return command
    .option('--format <format>', say('options.format', { formats: FORMATS.join(', ') }))
    .option('--fields <names>', say('options.fields'))
    .option('--field <name>', say('options.field'));
}

/** How to print, from those options. Throws CliError `wrong-choice`. */
export function shapeOf({ format = 'table', fields, field }: Readonly<Record<string, unknown>>, columns: readonly string[]): Shape {
  const names =
    typeof fields === 'string'
      ? fields
          .split(',')
          .map((name) => name.trim())
          .filter(Boolean)
      : undefined;
  return {
    format: chosen('format', String(format), FORMATS),
    columns,
    // None named: those that are shown anyway.
    fields: names?.length === 0 ? undefined : names,
    field: typeof field === 'string' ? field : undefined,
  };
}

/** The forms of a report: for a person, or for a program. */
export const REPORT_FORMATS = ['text', 'json'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** Adds `--format` to a command that reports something else than records; `chosen` reads it. */
export const withReportFormat = (command: Command, say: Say): Command =>
  command.option('--format <format>', say('options.format', { formats: REPORT_FORMATS.join(', ') }), 'text');

/** Examples below the help of a command, one line each. */
export function withExamples(command: Command, say: Say, examples: readonly string[]): Command {
  return command.addHelpText('after', () => `\n${say('titles.examples')}\n${examples.map((line) => `  $ ${line}`).join('\n')}`);
}

/** Login and application password on another site, separated by the first colon. Throws CliError `no-credentials`. */
export function credentialsIn(given: unknown): { readonly login: string; readonly password: string } | undefined {
  if (typeof given !== 'string' || given === '') return undefined;
  const cut = given.indexOf(':');
  if (cut < 1) throw new CliError('no-credentials', {}, EXIT.usage);
  return { login: given.slice(0, cut), password: given.slice(cut + 1) };
}

/** One of the choices that an option has; undefined where it is not given. Throws CliError `wrong-choice`. */
export function chosen<Choice extends string>(name: string, value: string, choices: readonly Choice[]): Choice;
export function chosen<Choice extends string>(name: string, value: unknown, choices: readonly Choice[]): Choice | undefined;
export function chosen<Choice extends string>(name: string, value: unknown, choices: readonly Choice[]): Choice | undefined {
  const choice = choices.find((one) => one === value);
  if (choice !== undefined || value === undefined) return choice;
  throw new CliError('wrong-choice', { name, value: String(value), choices: choices.join(', ') }, EXIT.usage);
}

/** Dates that can only mean that the day comes first are read so, where the site's language writes them so. */
export const readableDate = ({ settings }: Caller, { grammar }: Param, value: unknown): unknown =>
  grammar.hint === MOMENT_HINT && typeof value === 'string' ? dayFirst(value, settings.contentLanguage) : value;

/** The whole number above 0 that an option has; undefined where it is not given. Throws CliError `not-a-number`. */
export function numberOf(name: string, value: string): number;
export function numberOf(name: string, value: unknown): number | undefined;
export function numberOf(name: string, value: unknown): number | undefined {
  return wholeNumber(value, 7, () => new CliError('not-a-number', { name, value: String(value) }, EXIT.usage));
}

/**
 * The id that an option (`--post`) or an argument (`id`) names; undefined where it is not given. Throws CliError
 * `not-an-id`.
 */
export function idOf(name: string, value: string): number;
export function idOf(name: string, value: unknown): number | undefined;
export function idOf(name: string, value: unknown): number | undefined {
  return wholeNumber(value, 15, () => new CliError('not-an-id', { name, value: String(value) }, EXIT.usage));
}

function wholeNumber(value: unknown, digits: number, fault: () => CliError): number | undefined {
  if (value === undefined) return undefined;
  if (!/^[1-9]\d*$/.test(String(value)) || String(value).length > digits) throw fault();
  return Number(value);
}

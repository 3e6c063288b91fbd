import type { Command } from 'commander';
import type { Say } from '../refusals.ts';
import { CliError, EXIT } from './io.ts';
import { FORMATS, type Format, type Shape } from './print.ts';

/** What the options that every command takes came to. */
export interface Globals {
  readonly user?: string;
}

/** Adds `--format`, `--fields` and `--field`. */
export function withShape(command: Command, say: Say): Command {
  return command
    .option('--format <format>', say('options.format', { formats: FORMATS.join(', ') }))
    .option('--fields <names>', say('options.fields'))
    .option('--field <name>', say('options.field'));
}

/** How to print, from those options. Throws CliError `unknown-format`. */
export function shapeOf({ format = 'table', fields, field }: Readonly<Record<string, unknown>>, columns: readonly string[]): Shape {
  if (!isFormat(format)) throw new CliError('unknown-format', { format: String(format), formats: FORMATS.join(', ') }, EXIT.usage);
  const names =
    typeof fields === 'string'
      ? fields
          .split(',')
          .map((name) => name.trim())
          .filter(Boolean)
      : undefined;
  return { format, columns, fields: names, field: typeof field === 'string' ? field : undefined };
}

const isFormat = (value: unknown): value is Format => FORMATS.some((format) => format === value);

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

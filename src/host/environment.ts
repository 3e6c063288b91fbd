import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { codeOf } from '../objects.ts';
import { SettingError } from './setting-error.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

/** The effective variables, and the origin of those that are not the process's own. */
export interface Environment {
  readonly variables: Variables;
  /** Variable -> path of the file that its value was read from. */
  readonly files: ReadonlyMap<string, string>;
}

/** A file with variables that cannot be read, or a variable that is given twice. */
export class EnvironmentError extends SettingError {
  override readonly name = 'EnvironmentError';
}

const DOTENV = '.env';
/** Suffix of a variable that names a file with the value instead of containing it, as used for container secrets. */
const FILE_SUFFIX = '_FILE';
/**
 * Variable that says that the others are the effective ones already. The first process may still be of an earlier
 * version, which does not pass them, when it starts a worker after an upgrade.
 */
const ARE_EFFECTIVE = 'FASTI_VARIABLES_READ';

/**
 * Returns the variables of a process, combined with those of the file `.env` in its folder, if there is one, and with
 * files named by variables: `DATABASE_URL_FILE=/run/secrets/url` sets `DATABASE_URL` to the content of that file,
 * without line breaks at its end. The process's own variables take precedence over `.env`, in whichever of these forms;
 * empty ones count as absent. Variables of `variablesToPass` are returned as they are.
 *
 * @param names the variables that may be given by a file
 * @throws EnvironmentError if a file cannot be read or is empty, or if both forms are given in one place
 */
export function readEnvironment(processVariables: Variables, folder: string, names: readonly string[]): Environment {
  if (processVariables[ARE_EFFECTIVE]) return { variables: processVariables, files: new Map() };
  const path = join(folder, DOTENV);
  const dotenv = readDotenv(path);
  for (const name of names) {
    const forms = [name, name + FILE_SUFFIX];
    if (forms.some((form) => processVariables[form])) for (const form of forms) delete dotenv[form];
  }
  const variables: Record<string, string | undefined> = { ...dotenv };
  const files = new Map(Object.keys(dotenv).map((name) => [name, path]));
  for (const [name, value] of Object.entries(processVariables)) {
    if (value === undefined || (value === '' && dotenv[name] !== undefined)) continue;
    variables[name] = value;
    files.delete(name);
  }
  for (const name of names) {
    const fileName = variables[name + FILE_SUFFIX];
    if (!fileName) continue;
    if (variables[name]) throw new EnvironmentError('given-twice', { name, other: name + FILE_SUFFIX });
    const file = resolve(folder, fileName);
    variables[name] = valueIn(file, name + FILE_SUFFIX);
    files.set(name, file);
  }
  return { variables, files };
}

/**
 * Returns the variables for another process of the same service, in which `readEnvironment` returns the values that
 * these settings have here: `.env` and the files that variables name may have changed since. `variables`: the effective
 * ones of this process; `names`: the settings.
 */
export function variablesToPass(processVariables: Variables, variables: Variables, names: readonly string[]): Variables {
  const passed = names.flatMap((name) => [
    [name, variables[name]],
    [name + FILE_SUFFIX, undefined],
  ]);
  return { ...processVariables, ...Object.fromEntries(passed), [ARE_EFFECTIVE]: '1' };
}

/** Removes the line break that editors and `echo` put at the end of a file; blanks may be part of the secret. */
function withoutTrailingNewline(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n' || text[end - 1] === '\r') end -= 1;
  return text.slice(0, end);
}

function readDotenv(path: string): Record<string, string | undefined> {
  try {
    return parseEnv(withoutByteOrderMark(readFileSync(path, 'utf8'))) as Record<string, string | undefined>;
  } catch (error) {
    if (isMissing(error)) return {};
    throw new EnvironmentError('file-unreadable', { file: path, reason: messageOf(error) });
  }
}

/** Removes the byte order mark that some editors write, which would become part of the first name. */
const withoutByteOrderMark = (text: string): string => text.replace(/^\uFEFF/, '');

/** Returns the value in a file. An empty one must not count as absent: the default could be another database. */
function valueIn(file: string, variable: string): string {
  const value = withoutTrailingNewline(readVariableFile(file, variable));
  if (value.trim() === '') throw new EnvironmentError('named-file-empty', { name: variable, file });
  return value;
}

function readVariableFile(file: string, variable: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new EnvironmentError('named-file-unreadable', { name: variable, file, reason: messageOf(error) });
  }
}

const isMissing = (error: unknown) => codeOf(error) === 'ENOENT';
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

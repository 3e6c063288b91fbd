import type { Command } from 'commander';
import { type Setting, settings } from '../config/settings.ts';
import { loadConfiguredTexts } from '../site.ts';
import { outputShape, withExamples, withOutputOptions } from './options.ts';
import { formatList, print } from './print.ts';
import { configOf, type Session } from './session.ts';

/** Adds `config`, which prints the settings in force and where they come from. */
export function addConfigCommand(program: Command, session: Session): void {
  const { io, say } = session;
  withExamples(withOutputOptions(program.command('config').description(say('config.about')), say), say, [
    'fasti config',
    'fasti config --format=json',
  ]).action(async (options: Record<string, unknown>) => {
    const shape = outputShape(options, ['setting', 'value', 'from']);
    print(
      io,
      formatList(
        Object.values<Setting>(settings).map((setting) => rowOf(setting, session)),
        shape,
        io.isTerminal,
      ),
    );
    // Reports unusable values after everything has been printed.
    await loadConfiguredTexts(configOf(session));
  });
}

function rowOf(setting: Setting, { io, say }: Session) {
  const { env, fallback = '' } = setting;
  const value = io.env[env]?.trim() || undefined;
  const from = value === undefined ? say('config.default') : (io.files?.get(env) ?? say('config.environment'));
  return { setting: env, value: value === undefined ? fallback : toPrintable(setting, value, say('config.hidden')), from };
}

/** Returns a printable value: a URL without its password, nothing of other secrets. */
function toPrintable({ secret, type }: Setting, value: string, mask: string): string {
  if (!secret) return value;
  if (type !== 'URL' || !value.startsWith(MYSQL)) return type === 'URL' && value.startsWith('sqlite:') ? value : mask;
  const { user = '', password, rest } = COMPLETE_ADDRESS.exec(value)?.groups ?? {};
  if (rest === undefined || (!value.includes('@') && NAME_AND_NUMBER.test(rest))) return `${MYSQL}${mask}`;
  return password === undefined ? value : `${MYSQL}${user}:${mask}@${rest}`;
}

const MYSQL = 'mysql://';

/** A host and its port, or else a user and a password of digits, if the host has been forgotten. */
const NAME_AND_NUMBER = /^[\w.-]*:\d/;

/**
 * An address of MySQL in which only the password can be secret: everything around it has the right form. Otherwise a
 * part of the password could be elsewhere, such as in an address that is cut off at a `#`, which begins a comment.
 */
const COMPLETE_ADDRESS =
  /^mysql:\/\/(?:(?<user>[^/:@]*)(?::(?<password>.*))?@)?(?<rest>(?:\[[\w:.%]*\]|[\w.-]*)(?::\d+)?(?:,(?:\[[\w:.%]*\]|[\w.-]+)(?::\d+)?)*\/[^/?#@:]+(?:\?(?:(?:socketPath|ssl)=[^&=#@]*&?)*)?)$/s;

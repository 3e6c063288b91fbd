import { isAbsolute, join } from 'node:path';
import type { z } from 'zod';
import { SettingError } from '../host/setting-error.ts';
import { typedKeys } from '../typed-keys.ts';
import { type Setting, settings } from './settings.ts';
import { PLUGIN_NAMESPACE } from './values.ts';

type Parsed = { readonly [Name in keyof typeof settings]: z.output<(typeof settings)[Name]['schema']> };

type KeyName = 'loggedInKey' | 'loggedInSalt' | 'nonceKey' | 'nonceSalt';

type OptionalSetting =
  | 'siteUrl'
  | 'metricsPort'
  | 'metricsToken'
  | 'databaseReadUrl'
  | 'folder'
  | 'themeDir'
  | 'mapTiles'
  | 'geocoderUrl'
  | 'mapAttribution'
  | KeyName;

/** Keys and salts of WordPress's `wp-config.php`, which verify cookies and nonces. */
export type Keys = Readonly<Record<KeyName, string>>;

/**
 * All settings, parsed and validated. Sizes are in bytes; `trustProxy` is a value for Express; relative paths are
 * resolved against `FASTI_FOLDER`.
 */
export type Config = Omit<Parsed, OptionalSetting> & {
  readonly siteUrl: string | undefined;
  readonly metricsPort: number | undefined;
  readonly metricsToken: string | undefined;
  readonly databaseReadUrl: string | undefined;
  readonly themeDir: string | undefined;
  readonly mapTiles: string | undefined;
  readonly geocoderUrl: string | undefined;
  readonly mapAttribution: string | undefined;
  readonly keys: Keys | undefined;
};

/** Returns the namespaces under which the API is served, our own first. */
export function servedNamespaces({ restNamespace }: Pick<Config, 'restNamespace'>): readonly string[] {
  return [...new Set([restNamespace, PLUGIN_NAMESPACE])];
}

/** An invalid setting. */
export class ConfigError extends SettingError {
  override readonly name = 'ConfigError';
}

/**
 * Reads all settings from the environment; an empty variable counts as absent. Throws ConfigError naming the setting,
 * the given value and the allowed ones.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const values = Object.fromEntries(Object.entries<Setting>(settings).map(([name, setting]) => [name, readSetting(setting, env)]));
  const {
    folder = '',
    loggedInKey,
    loggedInSalt,
    nonceKey,
    nonceSalt,
    ...rest
  } = values as unknown as Omit<Parsed, OptionalSetting> & Partial<Pick<Parsed, OptionalSetting>>;
  requireReplicable(rest);
  const uploadsDir = isAbsolute(rest.uploadsDir) ? rest.uploadsDir : join(folder, rest.uploadsDir);
  const backupsDir = isAbsolute(rest.backupsDir) ? rest.backupsDir : join(folder, rest.backupsDir);
  return Object.freeze({
    ...rest,
    databaseUrl: rest.databaseUrl.replace(RELATIVE_SQLITE_URL, (_, file: string) => `sqlite:${join(folder, file)}`),
    uploadsDir,
    backupsDir,
    siteUrl: rest.siteUrl,
    metricsPort: rest.metricsPort,
    metricsToken: rest.metricsToken,
    databaseReadUrl: rest.databaseReadUrl,
    themeDir: rest.themeDir === undefined || isAbsolute(rest.themeDir) ? rest.themeDir : join(folder, rest.themeDir),
    mapTiles: rest.mapTiles,
    geocoderUrl: rest.geocoderUrl,
    mapAttribution: rest.mapAttribution,
    keys: requireAllKeys({ loggedInKey, loggedInSalt, nonceKey, nonceSalt }),
  });
}

/** Matches the address of an SQLite file with a relative path, but not `:memory:`. */
const RELATIVE_SQLITE_URL = /^sqlite:(?![/:])(.+)$/s;

function readSetting(
  { env: name, fallback, allowed, schema, secret, exact }: Setting,
  env: Readonly<Record<string, string | undefined>>,
): unknown {
  const text = (exact ? env[name] : env[name]?.trim()) || undefined;
  const value = text ?? fallback;
  if (value === undefined) return undefined;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  if (secret) throw new ConfigError('secret-refused', { name }, { allowed });
  throw new ConfigError('refused', { name, value: JSON.stringify(value) }, { allowed });
}

/**
 * Replicas are compared with their primary only by positions, so those of another database would be read as if they
 * were its replicas. SQLite has none.
 */
function requireReplicable({ databaseUrl, databaseReadUrl }: Pick<Parsed, 'databaseUrl'> & { readonly databaseReadUrl?: string }): void {
  if (databaseReadUrl === undefined || !databaseUrl.startsWith('sqlite:')) return;
  throw new ConfigError('replicas-of-sqlite');
}

/**
 * Returns the keys, of which all four must be given or none: with only some, no cookie could be verified, without any
 * error.
 */
function requireAllKeys(keys: Record<KeyName, string | undefined>): Keys | undefined {
  const names = typedKeys(keys);
  const missingNames = names.filter((name) => keys[name] === undefined);
  if (missingNames.length === names.length) return undefined;
  if (missingNames.length > 0) {
    const variablesOf = (keyNames: KeyName[]) => keyNames.map((name) => settings[name].env).join(', ');
    throw new ConfigError('keys-together', { missing: variablesOf(missingNames), names: variablesOf(names), count: missingNames.length });
  }
  return Object.freeze(keys) as Keys;
}

/** Whether deleted records go to the trash first, from which they can be restored. */
export const hasTrash = ({ emptyTrashDays }: Pick<Config, 'emptyTrashDays'>): boolean => emptyTrashDays > 0;

/** Returns the address of the service on its own machine. */
export const localAddress = ({ port }: Pick<Config, 'port'>): string =>
  port === 80 || port === 0 ? 'http://localhost' : `http://localhost:${port}`;

import { existsSync, readFileSync } from 'node:fs';

/** Returns the version of this program. `package.json` is in the parent folder of `src/`, and above the build. */
export function version(): string {
  const file = ['../../package.json', '../../../package.json'].map((path) => new URL(path, import.meta.url)).find((url) => existsSync(url));
  return file ? String((JSON.parse(readFileSync(file, 'utf8')) as { version?: unknown }).version) : '';
}

import { existsSync, readFileSync } from 'node:fs';

/** The version of this program; the file stands above `src/`, and above what is built from it. */
export function version(): string {
  const file = ['../../package.json', '../../../package.json'].map((path) => new URL(path, import.meta.url)).find((url) => existsSync(url));
  return file ? String((JSON.parse(readFileSync(file, 'utf8')) as { version?: unknown }).version) : '';
}

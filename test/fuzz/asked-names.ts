import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCES = fileURLToPath(new URL('../../src', import.meta.url));

/**
 * Names of members by which the sources tell objects apart (`'undo' in value`). A request can send an object with such
 * a member, which must not be taken for one of ours.
 */
export const ASKED_NAMES: readonly string[] = [
  ...new Set(
    readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .flatMap((name) => [...readFileSync(join(SOURCES, name), 'utf8').matchAll(/'(\w+)' in \w/g)].map(([, asked = '']) => asked)),
  ),
].sort();

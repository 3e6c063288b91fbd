import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { afterAll, describe, expect, it } from '@jest/globals';
import { build, stop } from 'esbuild';
import { APART } from '../bin/apart.mjs';
import { ABSENT, OPTIONS } from '../bin/build.mjs';
import { type Manifest, packed } from '../bin/manifest.mjs';

/* The contents of the published package; `npm run test:package` installs and runs it. */

const manifest: Manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

afterAll(() => stop());

describe('the package', () => {
  const published = packed(manifest);

  it('depends on the packages that are not bundled, and no others', async () => {
    const { metafile } = await build({ ...OPTIONS, write: false, metafile: true });
    const outside = Object.values(metafile.outputs).flatMap(({ imports }) =>
      imports.filter(({ external }) => external).map(({ path }) => path),
    );
    const packages = [...new Set(outside)].filter((name) => !isBuiltin(name) && !ABSENT.includes(name));
    // The others are loaded by `require`, which the bundler does not see.
    expect(packages.length).toBeGreaterThan(1);
    expect(packages.filter((name) => !APART.includes(name))).toEqual([]);
    expect(Object.keys({ ...published.dependencies, ...published.optionalDependencies }).sort()).toEqual([...APART].sort());
  });

  it('contains the command, and no development files', () => {
    expect(published).toMatchObject({ name: 'fasti', bin: { fasti: 'dist/src/cli.js' }, engines: manifest.engines });
    expect(Object.keys(published).filter((name) => ['private', 'scripts', 'devDependencies'].includes(name))).toEqual([]);
  });

  it('has the man page', () => {
    expect(published.man).toBe('man/fasti.1');
    expect(manifest.files).toContain('man');
  });

  it('contains no source maps', () => expect(manifest.files).toContain('!dist/**/*.map'));
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
const { dependencies, devDependencies, allowScripts } = JSON.parse(read('package.json')) as {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  allowScripts: Record<string, boolean>;
};
interface Locked {
  readonly hasInstallScript?: boolean;
  readonly license?: string;
  readonly dev?: boolean;
}
const locked = (JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> }).packages;
const rows = [...read('docs/dependencies.md').matchAll(/^\| `([^`]+)` \| (.+) \| (.+) \| (\d+) \| (.+) \|$/gm)].map(
  ([, name = '', , licence = '', , script = '']) => ({ name, licence, runs: !script.startsWith('nothing') }),
);
/** Packages with an install script, and those that may run theirs. */
const scripted = Object.entries(locked).flatMap(([path, { hasInstallScript }]) =>
  hasInstallScript ? [path.replace(/^.*node_modules\//, '')] : [],
);
const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name]);

describe('docs/dependencies.md', () => {
  it('lists every package that is needed to run, and no other', () =>
    expect(rows.map(({ name }) => name)).toEqual(Object.keys(dependencies)));

  it('names their licences', () => {
    const known = rows.filter(({ name }) => locked[`node_modules/${name}`]?.license !== undefined);
    expect(known.length).toBeGreaterThan(20);
    expect(known.map(({ name, licence }) => [name, licence])).toEqual(
      known.map(({ name }) => [name, locked[`node_modules/${name}`]!.license]),
    );
  });

  it('says which of them have an install script', () => expect(rows.filter(({ runs }) => runs).map(({ name }) => name)).toEqual(allowed));
});

describe('the packages installed to run Fasti', () => {
  it('do not include development dependencies', () => {
    const developing = Object.keys(devDependencies).filter((name) => !(name in dependencies));
    expect(developing).toContain('typescript');
    expect(developing.filter((name) => locked[`node_modules/${name}`]?.dev !== true)).toEqual([]);
  });
});

describe('install scripts', () => {
  it('are all allowed or denied explicitly, and only those of needed packages run', () => {
    expect(Object.keys(allowScripts).sort()).toEqual(scripted.toSorted());
    expect(allowed).toEqual(['better-sqlite3']);
    expect(read('.npmrc')).toMatch(/^strict-allow-scripts=true$/m);
    expect(/const WITH_SCRIPTS = \[(.*)\];/.exec(read('bin/native.mjs'))?.[1]).toBe(allowed.map((name) => `'${name}'`).join(', '));
  });

  it('are disabled in every command that installs packages', () => {
    for (const name of ['Dockerfile', '.ci/run', 'bin/start.mjs', 'test/run.mjs']) {
      expect([name, /npm (ci|install)\b|'(ci|install)'/.exec(read(name))?.[0]]).toEqual([name, undefined]);
      expect(read(name)).toContain('install.mjs');
    }
    for (const name of ['bin/install.mjs', 'bin/native.mjs']) expect(read(name)).toContain("npm(folder, ['ci', '--ignore-scripts'");
  });
});

import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OPTIONS } from '../bin/build.mjs';

/** Whether Node can run the precompiled SQLite package. */
const RUNS_COMPILED = Number(process.versions.napi) >= 10;
/** Beginning of the lines for what npm is asked in the folder where native code is compiled meanwhile. */
const APART = 'node_modules.sqlite:';
/** The scripts that install packages. */
const BY_NODE_ALONE = ['folders.mjs', 'install.mjs', 'native.mjs', 'npm.mjs', 'sqlite.mjs'];
const OPENS = 'module.exports = class { close() {} };';
const PACKAGES = ['better-sqlite3', 'better-sqlite3-compiled'];
const FAILS = "module.exports = class { constructor() { throw new Error('was compiled against a different Node.js version'); } };";

describe('bin/install.mjs', () => {
  let root: string;

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'fasti-install-'));
    for (const name of BY_NODE_ALONE) cpSync(fileURLToPath(new URL(`../bin/${name}`, import.meta.url)), join(root, 'bin', name));
    writeFileSync(join(root, 'package.json'), '{}');
  });
  afterAll(() => rmSync(root, { recursive: true }));

  /** Runs a script in the folder. Returns its output. */
  const run = (script: string) =>
    execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '' },
    });

  /** The result of the check with these packages in node_modules, by their contents. */
  const found = (packages: Readonly<Record<string, string>>) => {
    rmSync(join(root, 'node_modules'), { recursive: true, force: true });
    for (const [name, code] of Object.entries(packages)) {
      mkdirSync(join(root, 'node_modules', name), { recursive: true });
      writeFileSync(join(root, 'node_modules', name, 'index.js'), code);
    }
    const rows = (names: readonly string[], more = {}) =>
      JSON.stringify({ packages: Object.fromEntries(names.map((name) => [`node_modules/${name}`, { version: '1.0.0', ...more }])) });
    writeFileSync(
      join(root, 'package-lock.json'),
      rows(PACKAGES).replace('"node_modules/better-sqlite3-compiled":{', '$&"optional":true,'),
    );
    writeFileSync(join(root, 'node_modules/.package-lock.json'), rows(Object.keys(packages)));
    const script = `import { isInstalled } from './bin/install.mjs';
      import { isCompiled } from './bin/native.mjs';
      const running = { everything: false };
      console.log(JSON.stringify([isInstalled(running), isCompiled()]));`;
    const [installed, compiled] = JSON.parse(run(script)) as boolean[];
    return { installed, compiled };
  };

  it.each([
    ['18.20.8', true],
    ['20.18.3', true],
    ['20.19.0', false],
    ['21.7.3', true],
    ['22.11.0', true],
    ['22.12.0', false],
    ['23.11.1', true],
    ['24.0.0', false],
    ['26.1.0', false],
  ])('refuses an unsuitable Node with one sentence: %s is unsuitable: %s', (version, isRefused) => {
    const script = `import { nodeFault } from './bin/install.mjs'; console.log(nodeFault('${version}') ?? '');`;
    expect(run(script).trim()).toBe(
      isRefused ? `Node 20.19, 22.12 or 24, or a later release of one of these, is needed; this is ${version}.` : '',
    );
  });

  it('needs the versions of Node that package.json names', () => {
    const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { engines: { node: string } };
    expect(engines.node).toBe('^20.19.0 || ^22.12.0 || ^24.0.0');
  });

  it('detects native code that is missing or built for another Node', () => {
    expect(found({ 'better-sqlite3': FAILS })).toMatchObject({ compiled: false });
    expect(found({ 'better-sqlite3': OPENS })).toMatchObject({ compiled: true });
  });

  it('needs the precompiled package only if this Node can run it, and then no other native code', () => {
    expect(found({ 'better-sqlite3': OPENS }).installed).toBe(!RUNS_COMPILED);
    expect(found({ 'better-sqlite3': FAILS, 'better-sqlite3-compiled': OPENS })).toEqual({
      installed: true,
      compiled: RUNS_COMPILED,
    });
  });

  /** Runs a command with an npm that does `work`. Returns what it was asked. `before`: the packages that are there. */
  const askedBy = (command: string, before: Readonly<Record<string, string>>, work: string, arrange = () => {}): string => {
    found(before);
    arrange();
    const asked = join(root, 'asked.txt');
    const script = `const fs = require('node:fs');
      const folder = require('node:path').basename(process.cwd());
      fs.appendFileSync(${JSON.stringify(asked)}, folder + ': ' + process.argv.slice(2).join(' ') + require('node:os').EOL);
      ${work}`;
    writeFileSync(asked, '');
    writeFileSync(join(root, 'npm.js'), script);
    const [program = '', ...args] = command.split(' ');
    spawnSync(process.execPath, [join('bin', program), ...args], {
      cwd: root,
      env: { ...process.env, NODE_OPTIONS: '', npm_execpath: join(root, 'npm.js') },
    });
    return readFileSync(asked, 'utf8');
  };
  const packages = (): string[] => readdirSync(join(root, 'node_modules')).filter((name) => !name.startsWith('.'));
  const leftovers = (): string[] => readdirSync(root).filter((name) => name.startsWith('node_modules.'));

  it.each(['install.mjs', 'install.mjs --running'])('runs npm to install what is missing, as `node bin/%s`', (command) => {
    const kinds = command.endsWith('--running') ? '--omit=dev' : '--include=dev';
    const asked = askedBy(command, { 'better-sqlite3': FAILS }, "fs.mkdirSync('node_modules/added', { recursive: true });");
    expect(asked.split('\n').filter((line) => !line.startsWith(APART))).toEqual([
      `node_modules.new: ci --ignore-scripts ${kinds} --no-audit --no-fund`,
      'node_modules.new: rebuild better-sqlite3',
      '',
    ]);
    expect([packages(), leftovers()]).toEqual([['added'], []]);
  });

  const itOnOldNode = RUNS_COMPILED ? it.skip : it;
  itOnOldNode('compiles SQLite in a folder of its own while the packages are being installed', () => {
    const compiled = "const to = 'node_modules/better-sqlite3/build/Release'; fs.mkdirSync(to, { recursive: true });";
    const work = `if (process.argv[2] === 'rebuild') { ${compiled} fs.writeFileSync(to + '/better_sqlite3.node', process.cwd()); }
      else { fs.mkdirSync('node_modules/better-sqlite3', { recursive: true });
        fs.writeFileSync('node_modules/better-sqlite3/index.js', "module.exports = class { constructor() { require('fs').readFileSync(__dirname + '/build/Release/better_sqlite3.node'); } close() {} };");
      }`;
    const asked = askedBy('install.mjs', { 'better-sqlite3': FAILS }, work);
    expect(asked.split('\n').filter((line) => line.includes('rebuild'))).toEqual([`${APART} rebuild better-sqlite3`]);
    expect(asked).toContain(`${APART} ci --ignore-scripts`);
    expect(readFileSync(join(root, 'node_modules/better-sqlite3/build/Release/better_sqlite3.node'), 'utf8')).toContain(
      'node_modules.sqlite',
    );
    expect(leftovers()).toEqual([]);
  });

  it.each(['ci', 'rebuild'])('keeps the packages of a running service until all new ones are there, and if npm %s fails', (fails) => {
    const work = `if (!fs.existsSync(${JSON.stringify(join(root, 'node_modules/better-sqlite3'))})) throw new Error('removed');
      fs.mkdirSync('node_modules/added', { recursive: true });
      process.exitCode = Number(process.argv[2] === '${fails}');`;
    const asked = askedBy('install.mjs', { 'better-sqlite3': FAILS }, work);
    expect(asked.split('\n').map((line) => line.split(' ')[1])).toContain(fails);
    expect([packages(), leftovers()]).toEqual([['better-sqlite3'], []]);
  });

  it('puts the former packages back if the new ones cannot take their place', () => {
    askedBy('install.mjs', { 'better-sqlite3': FAILS }, '');
    expect([packages(), leftovers()]).toEqual([['better-sqlite3'], []]);
  });

  it('puts the former packages back if the process was killed before the new ones took their place', () => {
    const kill = () => renameSync(join(root, 'node_modules'), join(root, 'node_modules.old'));
    askedBy('install.mjs', { 'better-sqlite3': FAILS }, 'process.exitCode = 1;', kill);
    expect([packages(), leftovers()]).toEqual([['better-sqlite3'], []]);
  });
});

describe('bin/start.mjs', () => {
  it('starts the built program from a folder with any characters in its name', () => {
    const root = mkdtempSync(join(tmpdir(), 'fasti C# 100%? '));
    for (const name of ['start.mjs', ...BY_NODE_ALONE])
      cpSync(fileURLToPath(new URL(`../bin/${name}`, import.meta.url)), join(root, 'bin', name));
    for (const folder of ['src', 'migrations', 'locales', 'dist/src', ...PACKAGES.map((name) => `node_modules/${name}`)])
      mkdirSync(join(root, folder), { recursive: true });
    for (const name of PACKAGES) writeFileSync(join(root, 'node_modules', name, 'index.js'), OPENS);
    const lock = JSON.stringify({ packages: Object.fromEntries(PACKAGES.map((name) => [`node_modules/${name}`, { version: '1.0.0' }])) });
    for (const name of ['package-lock.json', 'node_modules/.package-lock.json']) writeFileSync(join(root, name), lock);
    for (const name of ['package.json', 'tsconfig.json', 'bin/build.mjs']) writeFileSync(join(root, name), '{}');
    writeFileSync(join(root, 'dist/src/cli.js'), 'console.log(JSON.stringify(process.argv.slice(2)))');
    const env = { ...process.env, NODE_OPTIONS: '' };
    expect(JSON.parse(execFileSync(process.execPath, [join(root, 'bin/start.mjs'), '--sample'], { encoding: 'utf8', env }))).toEqual([
      'start',
      '--sample',
    ]);
    rmSync(root, { recursive: true });
  });
});

describe('bin/build.mjs', () => {
  let root: string;
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const build = () =>
    spawnSync(process.execPath, [join(root, 'bin/build.mjs')], { stdio: 'ignore', env: { ...process.env, NODE_OPTIONS: '' } });

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'fasti-build-'));
    for (const name of ['apart.mjs', 'build.mjs', 'folders.mjs'])
      cpSync(fileURLToPath(new URL(`../bin/${name}`, import.meta.url)), join(root, 'bin', name));
    symlinkSync(fileURLToPath(new URL('../node_modules', import.meta.url)), join(root, 'node_modules'));
    write('package.json', '{"type":"module"}');
    for (const path of OPTIONS.entryPoints as string[]) write(path, 'console.log(1);');
    write('src/html/assets/base.css', 'a{}');
    write('locales/en/site.json', '{"name":"first"}');
    expect(build().status).toBe(0);
  });
  afterAll(() => rmSync(root, { recursive: true }));

  it('gives each build its own texts', () => {
    write('locales/en/site.json', '{"name":"second"}');
    expect(readFileSync(join(root, 'dist/locales/en/site.json'), 'utf8')).toContain('first');
    expect(build().status).toBe(0);
    expect(readFileSync(join(root, 'dist/locales/en/site.json'), 'utf8')).toContain('second');
    expect(readdirSync(root).filter((name) => name.startsWith('dist'))).toEqual(['dist']);
  });

  it('puts the former build back if it was killed before the new one was in its place', () => {
    renameSync(join(root, 'dist'), join(root, 'dist.old'));
    write('src/cli.ts', 'no program');
    expect(build().status).toBe(1);
    expect(readFileSync(join(root, 'dist/src/cli.js'), 'utf8')).toContain('console.log(1)');
  });
});

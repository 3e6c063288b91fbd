import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { open, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from '@jest/globals';
import { wouldReplace, writeAtomically } from '../../src/exchange/items/atomic-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-whole-'));
const file = join(folder, 'calendar.xml');
/** For folders of single tests. */
const folders = mkdtempSync(join(tmpdir(), 'fasti-whole-'));
afterAll(() => {
  for (const one of [folder, folders]) rmSync(one, { recursive: true });
});

it('writeWhole replaces a file by one that only the owner can read', async () => {
  await writeFile(file, 'old');
  expect(await writeAtomically(file, (part) => writeFile(part, 'new').then(() => 3))).toBe(3);
  expect(readFileSync(file, 'utf8')).toBe('new');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('writeWhole replaces the file that a symbolic link leads to, and keeps the link', async () => {
  const [target, link] = [join(folder, 'target'), join(folder, 'link')];
  await writeFile(target, 'old');
  symlinkSync('target', link);
  await writeAtomically(link, (part) => writeFile(part, 'new'));
  expect(readlinkSync(link)).toBe('target');
  expect(readFileSync(target, 'utf8')).toBe('new');
  for (const path of [target, link]) rmSync(path);
});

it('writeWhole keeps the previous file and leaves no partial file if writing fails', async () => {
  const failing = writeAtomically(file, async (part) => {
    await writeFile(part, 'half');
    throw new RangeError('no');
  });
  await expect(failing).rejects.toThrow(RangeError);
  expect(readFileSync(file, 'utf8')).toBe('new');
  expect(readdirSync(folder)).toEqual(['calendar.xml']);
});

it('writeWhole uses separate partial files for concurrent writes', async () => {
  const slow = writeAtomically(file, async (part) => {
    await writeFile(part, 'slow');
    await sleep(100);
    await writeFile(part, ' and whole', { flag: 'a' });
  });
  await sleep(20);
  const failing = writeAtomically(file, async (part) => {
    await writeFile(part, 'half of it');
    await sleep(200);
    throw new RangeError('no');
  });
  await Promise.all([slow, expect(failing).rejects.toThrow(RangeError)]);
  expect([readFileSync(file, 'utf8'), readdirSync(folder)]).toEqual(['slow and whole', ['calendar.xml']]);
});

it('writeWhole removes partial files of all earlier backups in the folder', async () => {
  const backups = mkdtempSync(join(folders, 'backups-'));
  const left = ['2026-01-01-010000-admin.backup.00000000.part', 'calendar-2026-01-01.backup.0000000a.part-journal'];
  const others = ['2026-01-02.backup.11111111.part', 'download.zip.00000000.part', 'kept.backup'];
  for (const name of [...left, ...others]) await writeFile(join(backups, name), 'x');
  for (const name of [...left, ...others.slice(1)]) await utimes(join(backups, name), 0, 0);
  await writeAtomically(join(backups, 'new.csv'), (part) => writeFile(part, 'new'));
  expect(readdirSync(backups).sort()).toEqual([...left, ...others, 'new.csv'].sort());
  await writeAtomically(join(backups, 'new.backup'), (part) => writeFile(part, 'new'));
  expect(readdirSync(backups).sort()).toEqual([...others, 'new.backup', 'new.csv'].sort());
});

it.each([
  ['removes the partial file if a signal ends the process', '', [null, 'SIGTERM'], []],
  ['completes the file if the program handles the signal', "process.on('SIGTERM', () => finish());", [0, null], ['written']],
  ['removes the partial file if the program ends on the signal', "process.on('SIGTERM', () => process.exit(3));", [3, null], []],
])('writeWhole %s', async (_, handler, end, files) => {
  const place = mkdtempSync(join(folders, 'ended-'));
  const script = `
    const { writeAtomically } = await import('./src/exchange/items/atomic-file.ts');
    let finish;
    ${handler}
    const timer = setInterval(() => undefined, 1000);
    await writeAtomically(${JSON.stringify(join(place, 'written'))}, () => new Promise((resolve) => {
      finish = resolve;
      console.log('writing');
    }));
    clearInterval(timer);`;
  const child = spawn(
    process.execPath,
    ['--no-warnings', '--import', './test/support/run-typescript.mjs', '--input-type=module', '-e', script],
    {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: { ...process.env, NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  expect(readdirSync(place)).toHaveLength(1);
  child.kill('SIGTERM');
  expect(await ended).toEqual(end);
  expect(readdirSync(place)).toEqual(files);
});

it('writeWhole removes partial files of killed processes', async () => {
  const left = ['', '-journal', '-wal', '-shm'].map((ending) => join(folder, `calendar.xml.00000000.part${ending}`));
  const [fresh, other] = [join(folder, 'calendar.xml.11111111.part'), join(folder, 'calendar.xml.old.part')];
  for (const name of [...left, fresh, other]) await writeFile(name, 'x');
  for (const name of [...left, other]) await utimes(name, 0, 0);
  await writeAtomically(file, (part) => writeFile(part, 'new'));
  expect(readdirSync(folder).sort()).toEqual(['calendar.xml', 'calendar.xml.11111111.part', 'calendar.xml.old.part']);
});

it('writeWhole writes to a device instead of replacing it', async () => {
  expect(await writeAtomically('/dev/null', async (part) => part)).toBe('/dev/null');
  expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
});

it('wouldReplace returns true for files, but not for devices or open descriptors', async () => {
  await writeFile(file, 'x');
  const handle = await open(file, 'r+');
  const places = [file, folder, join(folder, 'new.xml'), '/dev/null', `/proc/self/fd/${handle.fd}`];
  expect(await Promise.all(places.map(wouldReplace))).toEqual([true, true, false, false, false]);
  await handle.close();
});

it('writeWhole writes to the file of a descriptor, as for /dev/stdout', async () => {
  const handle = await open(file, 'w');
  await writeAtomically(`/proc/self/fd/${handle.fd}`, (part) => writeFile(part, 'by its descriptor'));
  await handle.close();
  expect(readFileSync(file, 'utf8')).toBe('by its descriptor');
});

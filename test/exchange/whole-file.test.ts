import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { open, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from '@jest/globals';
import { wouldReplace, writeAtomically } from '../../src/exchange/items/atomic-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-whole-'));
const file = join(folder, 'calendar.xml');
afterAll(() => rmSync(folder, { recursive: true }));

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

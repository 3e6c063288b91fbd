import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { writeWhole } from '../../src/exchange/items/whole-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-whole-'));
const file = join(folder, 'calendar.xml');
afterAll(() => rmSync(folder, { recursive: true }));

it('puts a file in the place of the one before, readable by whom it is for', async () => {
  await writeFile(file, 'old');
  expect(await writeWhole(file, (part) => writeFile(part, 'new').then(() => 3))).toBe(3);
  expect(readFileSync(file, 'utf8')).toBe('new');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('leaves the one before, and nothing beside it, when writing fails', async () => {
  const failing = writeWhole(file, async (part) => {
    await writeFile(part, 'half');
    throw new RangeError('no');
  });
  await expect(failing).rejects.toThrow(RangeError);
  expect(readFileSync(file, 'utf8')).toBe('new');
  expect(readdirSync(folder)).toEqual(['calendar.xml']);
});

it('writes into a device instead of taking its place', async () => {
  expect(await writeWhole('/dev/null', async (part) => part)).toBe('/dev/null');
  expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
});

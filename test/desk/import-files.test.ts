import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { expect, it } from '@jest/globals';
import { importFileOf, removeImportFile, storeImportFile } from '../../src/desk/import-files.ts';
import type { Visit } from '../../src/desk/visit.ts';

const VISIT = { caller: { viewer: { id: 7 } } } as Pick<Visit, 'caller'>;
const bytes = Buffer.from('Event Name\n');

it.each([
  ['fair 2027.csv', 'fair 2027.csv'],
  ['C:\\Users\\anna\\fair.csv', 'fair.csv'],
  ['<fair>?.csv', '_fair__.csv'],
  ['..', 'file'],
  ['', 'file'],
  [`${'音'.repeat(120)}.csv`, `${'音'.repeat(65)}.csv`],
])('an import file named %p is stored as %p and found again', async (sent, stored) => {
  const kept = await storeImportFile(VISIT, { name: sent, bytes });
  try {
    expect([kept.name, basename(kept.path)]).toEqual([stored, stored]);
    expect(await readFile(kept.path)).toEqual(bytes);
    expect(importFileOf(VISIT, kept.token, kept.name)).toEqual(kept);
  } finally {
    await removeImportFile(VISIT, kept);
  }
});

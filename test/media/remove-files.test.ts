import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { removeFiles } from '../../src/media/remove-files.ts';

describe('removeFiles', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fasti-removed-'));
  const uploadsDir = join(folder, 'uploads');
  const config = { databaseUrl: `sqlite:${join(uploadsDir, 'calendar.txt')}`, uploadsDir };
  const OWN = ['2026/11/a.jpg', '2026/11/A-300x200.JPG', 'plan.pdf', 'house.dwg', '2026/11/photo.jfif', 'my.backup.png'];
  const OTHERS = [
    'calendar.txt', 'calendar.txt-wal', 'nightly.backup', '2026/11/nightly.backup', 'administrator-password-2.txt', '.htaccess', '2026/11/.htaccess',
    'cache/index.php', 'updraft/backup_db.gz', 'woocommerce_uploads/invoice.pdf', '2026/11/more/a.jpg', 'no-extension', '2026/a.jpg',
    'sites/2/2026/11/x.jpg', '../outside.jpg', '2026/../../outside.jpg', '2026/../nightly.backup', '2026/../sites/2/2026/11/x.jpg',
  ]; // biome-ignore format: paths
  const places = [...OWN, ...OTHERS].map((path) => join(uploadsDir, path));
  beforeAll(() => {
    mkdirSync(join(uploadsDir, '2026'), { recursive: true });
    for (const place of places) {
      mkdirSync(dirname(place), { recursive: true });
      writeFileSync(place, '');
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('deletes files of the library of any type, and returns others, which stay: private ones and those in other folders', async () => {
    const missing = ['missing.jpg', 'updraft/missing.gz', '../missing.jpg'];
    expect(await removeFiles(config, [...OTHERS, ...OWN, ...missing])).toEqual(OTHERS.map((path) => resolve(uploadsDir, path)));
    expect(OTHERS.filter((path) => !existsSync(join(uploadsDir, path)))).toEqual([]);
    expect(OWN.filter((path) => existsSync(join(uploadsDir, path)))).toEqual([]);
  });

  it('returns files that cannot be deleted', async () => {
    mkdirSync(join(uploadsDir, 'folder.png'));
    expect(await removeFiles(config, ['folder.png'])).toEqual([join(uploadsDir, 'folder.png')]);
  });
});

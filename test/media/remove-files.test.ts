import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { removeFiles } from '../../src/media/remove-files.ts';

describe('removeFiles', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fasti-removed-'));
  const uploadsDir = join(folder, 'uploads');
  const config = { databaseUrl: `sqlite:${join(uploadsDir, 'calendar.txt')}`, uploadsDir, networkSite: 1 };
  const OWN = ['2026/11/a.jpg', '2026/11/A-300x200.JPG', 'plan.pdf', 'sites/map.svg', 'my.backup.png', 'websites/2/a.jpg'];
  const OTHERS = [
    'calendar.txt', 'calendar.txt-wal', 'nightly.backup', 'administrator-password-2.txt', '.htaccess', 'cache/index.php', 'no-extension',
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

  it('deletes files of the library, but neither the database nor other files of the folder nor those of other sites', async () => {
    expect(await removeFiles(config, [...OTHERS, ...OWN, 'missing.jpg'])).toEqual([]);
    expect(OTHERS.filter((path) => !existsSync(join(uploadsDir, path)))).toEqual([]);
    expect(OWN.filter((path) => existsSync(join(uploadsDir, path)))).toEqual([]);
  });

  it('deletes files of a folder with that name in the folder of another site of the network', async () => {
    const path = 'sites/2/2026/11/x.jpg';
    await removeFiles({ ...config, networkSite: 2 }, [path]);
    expect(existsSync(join(uploadsDir, path))).toBe(false);
  });

  it('returns files that cannot be deleted', async () => {
    mkdirSync(join(uploadsDir, 'folder.png'));
    expect(await removeFiles(config, ['folder.png'])).toEqual([join(uploadsDir, 'folder.png')]);
  });
});

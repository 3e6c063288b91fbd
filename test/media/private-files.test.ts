import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isPrivateFile, privateFilesInUploads } from '../../src/media/private-files.ts';

const PASSWORD = 'administrator-password-2.txt';

describe('private files in an uploads folder that also holds the database', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fasti-private-'));
  const data = join(folder, 'data');
  const places = { databaseUrl: `sqlite:${join(data, 'fasti.sqlite')}`, uploadsDir: data };
  beforeAll(() => {
    for (const name of ['2026', 'old']) mkdirSync(join(data, name), { recursive: true });
    for (const file of ['fasti.sqlite', 'fasti.sqlite-wal', 'my.backup', 'my.backup.png', '2026/a.jpg', 'old/Site.backup', PASSWORD])
      writeFileSync(join(data, file), '');
    writeFileSync(join(folder, 'outside.backup'), '');
    symlinkSync('fasti.sqlite', join(data, 'other.png'));
    symlinkSync('data', join(folder, 'link'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(['fasti.sqlite', 'fasti.sqlite-wal', '2026/../fasti.sqlite', 'other.png', 'my.backup'])('include %s', async (path) => {
    expect(await isPrivateFile(places, path)).toBe(true);
    expect(await isPrivateFile({ ...places, uploadsDir: join(folder, 'link') }, path)).toBe(true);
  });
  it.each(['2026/a.jpg', 'my.backup.png', 'none.png', '2026', ''])('do not include %s', async (path) =>
    expect(await isPrivateFile(places, path)).toBe(false),
  );
  it('include no database file if the database is on a server', async () =>
    expect(await isPrivateFile({ ...places, databaseUrl: 'mysql://u:p@h/n' }, 'fasti.sqlite')).toBe(false));
  it('are distinguished from files outside the uploads folder', async () => {
    const files = [join(data, 'fasti.sqlite'), join(folder, 'outside.backup')];
    const named = (uploads: string) => [PASSWORD, 'my.backup', 'old/Site.backup'].map((name) => join(uploads, name));
    const found = async (uploadsDir: string) => (await privateFilesInUploads({ ...places, uploadsDir }, files)).sort();
    expect(await found(data)).toEqual([...named(data), files[0]].sort());
    expect(await found(join(folder, 'link'))).toEqual([...named(join(folder, 'link')), files[0]].sort());
    // A file that is known is not reported twice, by whatever path.
    expect(await privateFilesInUploads({ ...places, uploadsDir: join(folder, 'link') }, [join(data, 'my.backup')])).toHaveLength(3);
    expect(await privateFilesInUploads({ ...places, uploadsDir: join(folder, 'none') }, files)).toEqual([]);
  });
});

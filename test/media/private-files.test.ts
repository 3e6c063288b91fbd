import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { filesInUploads, isPrivateFile } from '../../src/media/private-files.ts';

describe('private files in an uploads folder that also holds the database', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fasti-private-'));
  const data = join(folder, 'data');
  const places = { databaseUrl: `sqlite:${join(data, 'fasti.sqlite')}`, uploadsDir: data };
  beforeAll(() => {
    mkdirSync(join(data, '2026'), { recursive: true });
    for (const file of ['fasti.sqlite', 'fasti.sqlite-wal', 'my.backup', 'my.backup.png', '2026/a.jpg'])
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
    expect(await filesInUploads(places, files)).toEqual([files[0]]);
    expect(await filesInUploads({ ...places, uploadsDir: join(folder, 'link') }, files)).toEqual([files[0]]);
    expect(await filesInUploads({ ...places, uploadsDir: join(folder, 'none') }, files)).toEqual([]);
  });
});

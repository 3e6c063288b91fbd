import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensurePrivateFolder } from '../../src/exchange/items/private-folder.ts';
import { openSpool } from '../../src/exchange/live/spool.ts';
import { imageType } from '../../src/media/image-type.ts';
import { storeImage } from '../../src/media/library.ts';
import { sizeRules } from '../../src/media/sizes.ts';
import { commandIn, embedded, temporaryFolder } from './command.ts';

const folder = temporaryFolder();
/** Returns the permissions of a folder and everything below it, by path. */
const modesIn = (path: string) =>
  Object.fromEntries(
    ['', ...readdirSync(path, { recursive: true, encoding: 'utf8' })].map((name) => [name, statSync(join(path, name)).mode & 0o7777]),
  );
const isFolder = (mode: number) => (mode & 0o100) !== 0;

// Removes the restrictions of the umask, since users may have done so.
let before: number;
beforeAll(() => {
  before = process.umask(0);
});
afterAll(() => {
  process.umask(before);
});

describe('permissions of created files', () => {
  it('allow only the owner to access databases, backups, exports and temporary files', async () => {
    const data = join(folder, 'data');
    const files = join(folder, 'files');
    mkdirSync(files, 0o700);
    mkdirSync(join(folder, 'uploads'), 0o700);
    const fasti = commandIn({ ...embedded(data), UPLOADS_DIR: join(folder, 'uploads') });
    const run = async (...args: string[]) => expect(await fasti(...args)).toMatchObject({ code: 0 });
    await run('init', '--sample');
    await run('backup', join(files, 'site.backup'));
    for (const name of ['all.xml', 'all.jsonl', 'events.csv', 'events.ics']) await run('export', join(files, name));
    await run('import', join(files, 'all.jsonl'));
    const spool = await openSpool({ source: 'https://example.org', identity: [] }, join(files, 'below', 'spool'));
    await spool.add([], { stage: 'events', page: 1, last: true, done: true });

    const open = Object.entries({ ...modesIn(data), ...modesIn(files) }).filter(([, mode]) => (mode & 0o077) !== 0);
    expect(open).toEqual([]);
    expect(Object.keys(modesIn(files)).length).toBeGreaterThan(7);
  });

  it('must exclude others from an existing folder, which must not be a symbolic link', async () => {
    const [own, open, link] = ['own', 'open', 'link'].map((name) => join(folder, name)) as [string, string, string];
    await ensurePrivateFolder(own);
    await ensurePrivateFolder(own);
    mkdirSync(open);
    chmodSync(open, 0o770);
    symlinkSync(own, link);
    for (const place of [open, link]) {
      const fault = 'folder-not-private';
      await expect(ensurePrivateFolder(place)).rejects.toMatchObject({ fault });
      await expect(openSpool({ source: 'https://example.org', identity: [] }, place)).rejects.toMatchObject({ fault });
    }
  });

  // Only root can change to another user.
  (process.geteuid?.() === 0 ? it : it.skip)('are accepted for a folder of a user whose name the system does not know', async () => {
    const place = mkdtempSync('/tmp/fasti-nameless-');
    chmodSync(place, 0o777);
    process.seteuid?.(54_321);
    try {
      await ensurePrivateFolder(join(place, 'own'));
    } finally {
      process.seteuid?.(0);
    }
    expect(statSync(join(place, 'own')).uid).toBe(54_321);
    rmSync(place, { recursive: true });
  });

  it('of a file at the place of a folder for uploads stay', async () => {
    const file = join(folder, 'no-folder');
    writeFileSync(file, '', { mode: 0o600 });
    const bytes = readFileSync(new URL('../fixtures/uploads/2026/11/tiny.png', import.meta.url));
    const library = { folder: join(file, 'uploads'), address: 'http://x', byMonth: true, sizes: sizeRules(new Map()) };
    await expect(storeImage({ bytes, type: imageType(bytes)!, name: 'tiny.png' }, library, '2026/11')).rejects.toThrow();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['public', 0o755, 0o755, 0o644],
    ["a group's", 0o2775, 0o2775, 0o664],
    ["one's own", 0o700, 0o700, 0o600],
    ['writable for everybody, which they are not', 0o1777, 0o775, 0o664],
  ])('of uploads are those of the folder that contains them: %s', async (_, rights, folders, files) => {
    const above = join(folder, rights.toString(8));
    mkdirSync(above);
    chmodSync(above, rights);
    const bytes = readFileSync(new URL('../fixtures/uploads/2026/11/wide-1024x683.png', import.meta.url));
    const library = { folder: join(above, 'wp-content', 'uploads'), address: 'http://x', byMonth: true, sizes: sizeRules(new Map()) };
    await storeImage({ bytes, type: imageType(bytes)!, name: 'wide.png' }, library, '2026/11');
    const made = Object.values(modesIn(join(above, 'wp-content')));
    expect(new Set(made.filter(isFolder))).toEqual(new Set([folders]));
    expect(made.filter((mode) => !isFolder(mode)).length).toBeGreaterThan(1);
    expect(new Set(made.filter((mode) => !isFolder(mode)))).toEqual(new Set([files]));
  });
});

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { smallDisk } from '../support/small-disk.ts';
import { commandIn, embedded, temporaryFolder } from './command.ts';

const folder = temporaryFolder();
const fasti = commandIn(embedded(folder));
/** A PNG with a single black pixel. */
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64');
const image = join(folder, 'black point.png');

beforeAll(async () => {
  expect((await fasti('init', '--url=http://calendar.example')).code).toBe(0);
  writeFileSync(image, PNG);
});

it('uploads, lists and deletes images', async () => {
  const uploaded = await fasti('media', 'upload', image, '--alt=A point', '--porcelain');
  expect(uploaded).toMatchObject({ code: 0, err: '' });
  const id = uploaded.out.trim();
  const [listed] = JSON.parse(
    (await fasti('media', 'list', '--search=point', '--format=json', '--fields=id,title,alt_text,source_url')).out,
  );
  expect(listed).toMatchObject({ id: Number(id), title: 'black-point', alt_text: 'A point' });
  const file = join(folder, 'uploads', listed.source_url.split('/uploads/')[1]);
  expect(existsSync(file)).toBe(true);

  expect(await fasti('media', 'delete', id)).toMatchObject({ code: 0, out: `Done: ${id} deleted.\n` });
  expect(existsSync(file)).toBe(false);
  expect((await fasti('media', 'delete', id)).code).toBe(1);
});

it('reports what is wrong with a file and leaves nothing behind', async () => {
  expect(await fasti('media', 'upload', join(folder, 'absent.png'))).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^Error: the file .*absent\.png cannot be read: ENOENT\.$/m),
  });
  writeFileSync(join(folder, 'text.png'), 'no image');
  expect((await fasti('media', 'upload', join(folder, 'text.png'))).code).toBe(1);
  expect(await fasti('media', 'delete', 'poster')).toMatchObject({ code: 2 });
  // IDs can have many digits on old sites.
  expect(await fasti('media', 'delete', '10000000')).toMatchObject({ code: 1 });
  expect(JSON.parse((await fasti('media', 'list', '--format=json')).out)).toEqual([]);
});

const disk = smallDisk(64);
afterAll(() => disk?.remove());
(disk ? it : it.skip)('reports a full disk in the language of the command', async () => {
  disk?.fill();
  const uploads = commandIn({ ...embedded(folder), UPLOADS_DIR: disk!.folder });
  expect(await uploads('media', 'upload', image, '--language=it')).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringMatching(/^Errore: non è possibile salvare file nella cartella dei caricamenti \(uploads full: ENOSPC.*\)\.\n$/),
  });
});

it('deletes nothing if one of the IDs is invalid, and names the file that failed among several', async () => {
  const point = image;
  const id = (await fasti('media', 'upload', point, '--porcelain')).out.trim();
  expect(await fasti('media', 'delete', id, '12abc')).toMatchObject({ code: 2, out: '', err: expect.stringContaining('"12abc"') });
  expect((await fasti('media', 'list', '--format=ids')).out.trim()).toBe(id);
  const text = join(folder, 'text.png');
  writeFileSync(text, 'no image');
  const { code, out, err } = await fasti('media', 'upload', point, text, point, '--porcelain');
  expect([code, out.trim().split('\n').length]).toEqual([1, 1]);
  expect(err).toMatch(/^Error: .*text\.png: .*\nNothing was done with: .*black point\.png\n$/);
  await fasti('media', 'delete', id, out.trim());
});

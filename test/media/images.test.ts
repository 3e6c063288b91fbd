import { type FileHandle, mkdtemp, open as openFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readSettings, settingNames } from '../../src/calendar/settings.ts';
import {
  fetchForLibrary,
  imageIdAt,
  insertPrepared,
  mayUpload,
  type PreparedImage,
  parseImageId,
  prepareUpload,
} from '../../src/media/images.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { noteChange } from '../../src/storage/journal/reported-changes.ts';
import { loadMetas, loadPosts } from '../../src/storage/rows/bundle.ts';
import { readOptions } from '../../src/storage/rows/options.ts';
import { lockPost, removePost } from '../../src/storage/rows/posts.ts';
import { parseSerialized } from '../../src/wordpress/php/serialized.ts';
import { ANONYMOUS } from '../../src/wordpress/viewer.ts';
import { describeDatabases } from '../support/databases.ts';
import { sharp } from '../support/image-library.ts';
import { loadSite } from '../support/site.ts';
import { until } from '../support/until.mjs';

const home = 'http://127.0.0.1:8081';
const own = { home, uploads: `${home}/wp-content/uploads` };
const now = new Date('2026-11-30T23:30:00Z');

let picture: Buffer;
let server: Server;
let elsewhere: string;
let requests = 0;
let folder: string;

beforeAll(async () => {
  picture = await sharp({ create: { width: 400, height: 200, channels: 3, background: '#c06040' } })
    .png()
    .toBuffer();
  server = createServer((request, response) => {
    requests += 1;
    if (request.url?.startsWith('/page')) response.end('<html></html>');
    else if (request.url?.startsWith('/torn')) response.end(picture.subarray(0, 60));
    else response.end(picture);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  elsewhere = `http://pictures.example:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(async () => {
  requests = 0;
  folder = await mkdtemp(join(tmpdir(), 'fasti-library-'));
});
afterEach(() => rm(folder, { recursive: true }));

describeDatabases('image library', (open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });
  beforeEach(() => loadSite(db));

  const site = () => ({ config: { uploadsDir: folder } });
  const callerNow = async () => ({ ...own, settings: readSettings(await readOptions(db, settingNames(db.prefix)), db.prefix), now });
  const options = { allowAddress: (ip: string) => ip === '127.0.0.1', resolve: async () => [{ address: '127.0.0.1', family: 4 }] };
  const fetched = async (url: string) => fetchForLibrary(url, site(), await callerNow(), options);
  const inserted = async (prepared: PreparedImage | undefined) => {
    const { settings } = await callerNow();
    return db.transaction((trx) => {
      noteChange(trx, { now });
      return insertPrepared(trx, prepared!, { viewer: { id: 2 }, now, settings });
    });
  };
  const files = async () =>
    (await readdir(folder, { recursive: true, withFileTypes: true }))
      .filter((file) => file.isFile())
      .map(({ name }) => name)
      .sort();

  it.each([
    [10, 10],
    ['10', 10],
    [' 10 ', 10],
    [0, 0],
    ['99999999999999999999', 0],
    ['abc', undefined],
    ['1.5', undefined],
    ['', undefined],
  ])('reads %j as the image ID %j', (value, id) => expect(parseImageId(value)).toBe(id));

  describe('imageIdAt', () => {
    it.each([
      ['the address of its file', `${own.uploads}/2026/11/tiny.png`, 10],
      ['the same with another scheme', `${own.uploads.replace('http', 'https')}/2026/11/tiny.png`, 10],
      ['the path of its file', '/wp-content/uploads/2026/11/tiny.png', 10],
      ['the address of one of its sizes', `${own.uploads}/2026/11/wide-300x200.png`, 11],
    ])('finds an image by %s', async (_, value, id) => expect(await imageIdAt(db, value, own)).toBe(id));

    it.each([
      ['a word', 'abc'],
      ['nothing', ''],
      ['the home page', `${home}/`],
      ['a size it does not have', `${own.uploads}/2026/11/wide-301x200.png`],
      ['another spelling of its file', `${own.uploads}/2026/11/TINY.png`],
      ['a file outside the folder', `${own.uploads}/../uploads-of-others/2026/11/tiny.png`],
      ['another host', 'https://external.example.test/wp-content/uploads/2026/11/tiny.png'],
      ['another scheme', 'ftp://127.0.0.1:8081/wp-content/uploads/2026/11/tiny.png'],
      ['a broken escape', `${own.uploads}/%E0%A4%A.png`],
    ])('finds no image by %s', async (_, value) => expect(await imageIdAt(db, value, own)).toBeUndefined());

    it('takes four queries for an image of the site and two for other addresses', async () => {
      const count = async (url: string) => {
        const before = db.queries();
        await imageIdAt(db, url, own);
        return db.queries() - before;
      };
      expect(await count(`${own.uploads}/2026/11/tiny.png`)).toBe(4);
      expect(await count('https://nowhere.example/a.png')).toBe(2);
    });
  });

  it('stores an image from another host as WordPress does', async () => {
    const prepared = await fetched(`${elsewhere}/gallery/Our%20stage.png?v=2`);
    expect(await files()).toEqual(['Our-stage-150x150.png', 'Our-stage-300x150.png', 'Our-stage.png']);
    const id = await inserted(prepared);
    const row = (await loadPosts(db, [id])).get(id);
    // It is half past midnight in Rome, so the folder is that of the next month.
    expect(row).toMatchObject({
      post_author: 2, post_status: 'inherit', post_type: 'attachment', post_mime_type: 'image/png', post_title: 'Our-stage', post_name: 'our-stage', post_parent: 0,
      comment_status: 'open', ping_status: 'closed', post_date: '2026-12-01 00:30:00', post_date_gmt: '2026-11-30 23:30:00', post_modified: '2026-12-01 00:30:00',
      guid: `${own.uploads}/2026/12/Our-stage.png`,
    }); // biome-ignore format: a table
    const metas = (await loadMetas(db, [id])).get(id)!;
    expect([...metas.keys()]).toEqual(['_wp_attached_file', '_wp_attachment_metadata', '_tribe_importer_original_url']);
    expect(metas.get('_wp_attached_file')).toEqual(['2026/12/Our-stage.png']);
    expect(metas.get('_tribe_importer_original_url')).toEqual([`${elsewhere}/gallery/Our%20stage.png?v=2`]);
    expect(parseSerialized(metas.get('_wp_attachment_metadata')![0]!)).toMatchObject({
      width: 400,
      height: 200,
      file: '2026/12/Our-stage.png',
      filesize: picture.length,
    });
    expect(await readFile(join(folder, '2026/12/Our-stage.png'))).toEqual(picture);
  });

  it('finds a stored image by its source and by its own addresses, without a request', async () => {
    const id = await inserted(await fetched(`${elsewhere}/a.png`));
    requests = 0;
    for (const address of [
      `${elsewhere}/a.png`,
      `${elsewhere}/a.png#top`,
      `${own.uploads}/2026/12/a.png`,
      `${own.uploads}/2026/12/a-300x150.png`,
    ]) {
      expect(await imageIdAt(db, address, own)).toBe(id);
    }
    expect(requests).toBe(0);
  });

  describe('image fetched by several writes at once', () => {
    const twice = async () => [(await fetched(`${elsewhere}/a.png`))!, (await fetched(`${elsewhere}/a.png`))!] as const;
    const originals = async () => (await files()).filter((name) => !/\d+x\d+/.test(name));
    const rows = async () => (await db.from('posts').where({ post_type: 'attachment', post_author: 2 }).select('ID')).map(({ ID }) => ID);

    it('is in the library once', async () => {
      const [first, second] = await twice();
      expect(await originals()).toEqual(['a-1.png', 'a.png']);
      const id = await inserted(first);
      expect(await inserted(second)).toBe(id);
      expect(await rows()).toEqual([id]);
      await until('the files that nothing names to go', async () => (await files()).length === 3);
      expect(await originals()).toEqual(['a.png']);
    });
    it('is in the library once for all writes of a transaction, and not at all if it is rolled back', async () => {
      const [first, second] = await twice();
      const { settings } = await callerNow();
      const uploader = { viewer: { id: 2 }, now, settings };
      const failed = db.transaction(async (trx) => {
        expect(await insertPrepared(trx, second, uploader)).toBe(await insertPrepared(trx, first, uploader));
        throw new Error('no');
      });
      await expect(failed).rejects.toThrow('no');
      expect([await rows(), await originals()]).toEqual([[], ['a-1.png', 'a.png']]);
      const ids = await db.transaction(async (trx) => {
        await trx.part((part) => insertPrepared(part, first, uploader).then(() => Promise.reject(new Error('no')))).catch(() => undefined);
        return [await insertPrepared(trx, second, uploader), await insertPrepared(trx, first, uploader)];
      });
      expect(await rows()).toEqual([ids[0]]);
      await until('the files that nothing names to go', async () => (await files()).length === 3);
      expect(await originals()).toEqual(['a-1.png']);
    });
    it('is in the library once after concurrent writes', async () => {
      const prepared = await Promise.all(Array.from({ length: 6 }, () => fetched(`${elsewhere}/b.png`)));
      expect(new Set(await Promise.all(prepared.map(inserted))).size).toBe(1);
    });
  });

  it('is not used if it is deleted by another write at the same moment', async () => {
    const [first, second] = [await fetched(`${elsewhere}/late.png`), await fetched(`${elsewhere}/late.png`)];
    const id = await inserted(first);
    let deletion: Promise<void> | undefined;
    await new Promise<void>((locked) => {
      deletion = db.transaction(async (trx) => {
        await lockPost(trx, id);
        await removePost(trx, id);
        locked();
        // Long enough for the other write to find the image and wait for its lock.
        await sleep(300);
        noteChange(trx, { now });
      });
    });
    const [usedId] = await Promise.all([inserted(second), deletion]);
    expect([usedId === id, (await loadPosts(db, [usedId])).has(usedId)]).toEqual([false, true]);
  });

  it('finds a large image by its scaled file and by its original', async () => {
    const large = await sharp({ create: { width: 2600, height: 100, channels: 3, background: '#c06040' } })
      .jpeg()
      .toBuffer();
    const id = await inserted(await prepareUpload(site(), await callerNow(), { bytes: large, name: 'large.jpg' }));
    expect((await loadMetas(db, [id])).get(id)?.get('_wp_attached_file')).toEqual(['2026/12/large-scaled.jpg']);
    for (const name of ['large-scaled.jpg', 'large.jpg', 'large-300x12.jpg'])
      expect(await imageIdAt(db, `${own.uploads}/2026/12/${name}`, own)).toBe(id);
  });

  it('gives the second image of a name a different name, and avoids slugs of other posts', async () => {
    const first = await inserted(await fetched(`${elsewhere}/summer-concert.png`));
    const second = await inserted(await fetched(`${elsewhere}/b/summer-concert.png`));
    const rows = await loadPosts(db, [first, second]);
    // An event of the sample site is called summer-concert.
    expect(rows.get(first)?.post_name).toBe('summer-concert-2');
    expect(rows.get(second)).toMatchObject({ post_title: 'summer-concert-1', guid: `${own.uploads}/2026/12/summer-concert-1.png` });
  });

  it('keeps the files of concurrent fetches with the same name apart', async () => {
    await Promise.all(['x', 'y', 'z'].map((place) => fetched(`${elsewhere}/${place}/same.png`)));
    expect((await files()).filter((name) => !/\d+x\d+/.test(name))).toHaveLength(3);
  });

  it('gives an image whose name has no letters a slug', async () => {
    const id = await inserted(await fetched(`${elsewhere}/${encodeURIComponent('＿＿')}.png`));
    expect((await loadPosts(db, [id])).get(id)?.post_name).not.toBe('');
  });

  it('stores files only below the uploads folder, whatever their name', async () => {
    for (const name of ['..%2f..%2fevil.png', '%2e%2e/evil.png', '..%5cevil.png', '/etc/cron.d/evil']) {
      const prepared = await prepareUpload(site(), await callerNow(), { bytes: picture, name: decodeURIComponent(name) });
      expect(prepared!.files.length).toBeGreaterThan(1);
      for (const file of prepared!.files) expect(file.startsWith(`${join(folder, '2026', '12')}/`)).toBe(true);
    }
  });

  it('stores files in one folder if the site has no monthly folders', async () => {
    const caller = await callerNow();
    const raw = new Map([...caller.settings.raw, ['uploads_use_yearmonth_folders', '']]);
    const prepared = await prepareUpload(
      site(),
      { ...caller, settings: { ...caller.settings, raw } },
      { bytes: picture, name: 'flat.png' },
    );
    expect(prepared?.attachment).toMatchObject({ guid: `${own.uploads}/flat.png`, metas: { _wp_attached_file: ['flat.png'] } });
    expect(await readdir(folder)).toContain('flat.png');
  });

  it('has flushed all files and new folders to the disk', async () => {
    const flushed = new Set<number>();
    const probe = await openFile(folder, 'r');
    const handles: Pick<FileHandle, 'sync'> = Object.getPrototypeOf(probe);
    const { sync } = handles;
    await probe.close();
    handles.sync = async function (this: FileHandle) {
      flushed.add((await this.stat()).ino);
      return sync.call(this);
    };
    const prepared = await fetched(`${elsewhere}/concert.png`).finally(() => {
      handles.sync = sync;
    });
    const paths = [...prepared!.files, ...['2026/12', '2026', ''].map((path) => join(folder, path))];
    const inodes = await Promise.all(paths.map(async (path) => (await stat(path)).ino));
    expect([prepared!.files.length > 1, paths.filter((_, place) => !flushed.has(inodes[place]!))]).toEqual([true, []]);
  });

  it('leaves no file behind after undo', async () => {
    const prepared = await fetched(`${elsewhere}/a.png`);
    await prepared?.undo();
    expect(await files()).toEqual([]);
  });

  it('leaves no file behind if the content is not an image', async () => {
    for (const path of ['/page.png', '/torn.png']) expect(await fetched(elsewhere + path)).toBeUndefined();
    expect(await prepareUpload(site(), await callerNow(), { bytes: Buffer.from('<?php'), name: 'a.png' })).toBeUndefined();
    expect(await files()).toEqual([]);
  });

  it('never fetches from the site itself', async () => {
    const address = server.address() as AddressInfo;
    const here = `http://127.0.0.1:${address.port}`;
    expect(
      await fetchForLibrary(`${here}/a.png`, site(), { ...(await callerNow()), home: `${here}/it`, uploads: `${here}/files` }, options),
    ).toBeUndefined();
    expect(requests).toBe(0);
  });

  it('fetches from an internationalized address and stores the address in ASCII', async () => {
    const prepared = await fetched(`${elsewhere.replace('pictures', 'bücher')}/straße.png`);
    expect(prepared?.attachment.metas._tribe_importer_original_url?.[0]).toMatch(/^http:\/\/xn--bcher-kva\.example:\d+\/stra%C3%9Fe\.png$/);
    expect(prepared?.attachment.title).toBe('strase');
  });

  it('throws LibraryUnavailable if files cannot be written', async () => {
    await writeFile(join(folder, '2026'), 'in the way');
    await expect(fetched(`${elsewhere}/a.png`)).rejects.toMatchObject({ name: 'LibraryUnavailable', reason: 'read-only' });
  });
});

describe('mayUpload', () => {
  it('is true only for users with upload_files', () => {
    expect(mayUpload(ANONYMOUS)).toBe(false);
    expect(mayUpload({ id: 3, login: 'auth', can: (capability) => capability === 'upload_files' })).toBe(true);
  });
});

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { importItems } from '../../src/exchange/import/importer.ts';
import { fetchFile } from '../../src/exchange/import/media.ts';
import type { PostItem } from '../../src/exchange/items/items.ts';
import { LibraryUnavailable } from '../../src/media/library.ts';
import type { Caller } from '../../src/records/caller.ts';
import type { Site } from '../../src/site.ts';
import { type Database, DatabaseUnavailable } from '../../src/storage/engine/database.ts';
import { toSerialized } from '../../src/wordpress/php/serialized.ts';
import { describeDatabases } from '../support/databases.ts';
import { FIXTURES } from '../support/site-data.mjs';
import { callerOf, emptySite, metaRows, siteOf, streamOf } from './sites.ts';

const IMAGE = readFileSync(new URL('uploads/2026/11/wide.png', FIXTURES));

describeDatabases('files of the media library during an import', (open) => {
  let db: Database;
  let site: Site;
  let caller: Caller;
  let server: http.Server;
  let address: string;
  let asked = 0;
  beforeAll(async () => {
    db = await open();
    server = http.createServer((request, response) => {
      asked += 1;
      if (request.url?.endsWith('.png')) response.end(IMAGE);
      else response.writeHead(404).end();
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(async () => {
    await emptySite(db);
    await site?.close();
    site = await siteOf(db);
    caller = await callerOf(site);
    asked = 0;
  });
  afterAll(async () => {
    await site.close();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });

  const image = (file: string, more: Partial<PostItem> = {}): PostItem => ({
    kind: 'attachment', sourceId: '40', id: 40, columns: { post_title: 'wide', post_name: 'wide', post_status: 'inherit', guid: `${address}/wide.png` },
    metas: metaRows([['_wp_attached_file', file]]), links: [], complete: true, url: `${address}/wide.png`, ...more,
  }); // biome-ignore format: short
  const organizer: PostItem = {
    kind: 'organizer', sourceId: '41', id: 41, columns: { post_title: 'Anna', post_status: 'publish' }, metas: [], links: [{ key: '_thumbnail_id', kind: 'attachment', sourceId: '40' }], complete: true,
  }; // biome-ignore format: short
  const imported = (items: readonly PostItem[], local = true) =>
    importItems(site, caller, streamOf(items), {
      source: 'x',
      fetchFile: (item, stored) => fetchFile(site, caller, item, { stored, ...(local ? { allowAddress: () => true } : {}) }),
    });
  const metaOf = async (id: number, key: string) => (await db.from('postmeta').where({ post_id: id, meta_key: key }).first())?.meta_value;
  const uploads = () =>
    existsSync(site.config.uploadsDir)
      ? (readdirSync(site.config.uploadsDir, { recursive: true }) as string[]).filter((name) => name.endsWith('.png')).sort()
      : [];

  it('are kept if it is uncertain whether their rows were written', async () => {
    const db: Database = {
      ...site.db,
      transaction: async (work) => {
        const result = await site.db.transaction(work);
        if ((await metaOf(40, '_wp_attached_file')) !== undefined) throw new DatabaseUnavailable('uncertain');
        return result;
      },
    };
    const fetching = importItems({ ...site, db }, caller, streamOf([image('2021/05/wide.png')]), {
      source: 'x',
      fetchFile: (item) => fetchFile(site, caller, item, { allowAddress: () => true }),
    });
    await expect(fetching).rejects.toThrow(DatabaseUnavailable);
    expect(await metaOf(40, '_wp_attached_file')).toBe('2021/05/wide.png');
    expect(uploads()).toContain('2021/05/wide.png');
  });

  it('are fetched to their original place with their sizes, only once', async () => {
    const report = await imported([image('2021/05/wide.png'), organizer]);
    expect(report).toMatchObject({ created: { attachment: 1, organizer: 1 }, losses: [] });
    expect(uploads()).toContain('2021/05/wide.png');
    expect(uploads()).toContain('2021/05/wide-300x200.png');
    expect(await metaOf(40, '_wp_attached_file')).toBe('2021/05/wide.png');
    expect(await metaOf(40, '_wp_attachment_metadata')).toContain('wide-300x200.png');
    expect(await metaOf(41, '_thumbnail_id')).toBe('40');
    expect(await imported([image('2021/05/wide.png'), organizer])).toMatchObject({
      created: {},
      updated: {},
      unchanged: { attachment: 1, organizer: 1 },
    });
    expect(asked).toBe(1);
  });

  it('are used as they are if they were already copied', async () => {
    mkdirSync(join(site.config.uploadsDir, '2021/05'), { recursive: true });
    writeFileSync(join(site.config.uploadsDir, '2021/05/wide.png'), IMAGE);
    await imported([image('2021/05/wide.png')]);
    expect(uploads()).toEqual(['2021/05/wide.png']);
    expect(await metaOf(40, '_wp_attached_file')).toBe('2021/05/wide.png');
  });

  it('are fetched by a later import if they are missing', async () => {
    await importItems(site, caller, streamOf([image('2021/05/wide.png'), organizer]), { source: 'x' });
    expect(uploads()).toEqual([]);
    const report = await imported([image('2021/05/wide.png'), organizer]);
    expect(report).toMatchObject({ created: {}, updated: { attachment: 1 }, unchanged: { organizer: 1 }, losses: [] });
    expect(uploads()).toContain('2021/05/wide-300x200.png');
    expect(await metaOf(40, '_wp_attached_file')).toBe('2021/05/wide.png');
    expect(await metaOf(40, '_wp_attachment_metadata')).toContain('wide-300x200.png');
    rmSync(join(site.config.uploadsDir, '2021/05/wide.png'));
    await imported([image('2021/05/wide.png'), organizer]);
    const file = await metaOf(40, '_wp_attached_file');
    expect(readFileSync(join(site.config.uploadsDir, String(file)))).toEqual(IMAGE);
    expect(asked).toBe(2);
  });

  it('are fetched again if the picture was edited in the source', async () => {
    await imported([image('2021/05/wide.png')]);
    const edited = image('2021/05/wide-e17.png', { url: `${address}/wide-e17.png` });
    const report = await imported([edited]);
    expect([report.updated, report.losses]).toEqual([{ attachment: 1 }, []]);
    expect(await metaOf(40, '_wp_attached_file')).toBe('2021/05/wide-e17.png');
    expect(await metaOf(40, '_wp_attachment_metadata')).toContain('wide-e17-300x200.png');
    expect(uploads()).toEqual(expect.arrayContaining(['2021/05/wide-e17.png', '2021/05/wide-e17-300x200.png']));
    expect((await imported([edited])).updated).toEqual({});
    // Another host has the same picture.
    const moved = image('2021/05/wide-e17.png', { url: `${address.replace('127.0.0.1', 'localhost')}/wide-e17.png` });
    await imported([moved]);
    expect(asked).toBe(2);
  });

  it('are fetched again if the picture was edited and the files of the former one had been copied', async () => {
    mkdirSync(join(site.config.uploadsDir, '2021/05'), { recursive: true });
    writeFileSync(join(site.config.uploadsDir, '2021/05/wide.png'), IMAGE);
    await imported([image('2021/05/wide.png')]);
    await imported([image('2021/05/wide-e17.png', { url: `${address}/wide-e17.png` })]);
    expect(await metaOf(40, '_wp_attached_file')).toBe('2021/05/wide-e17.png');
    expect(uploads()).toContain('2021/05/wide-e17-300x200.png');
  });

  it('get the sizes that are missing, after an interruption as well', async () => {
    const sizes = toSerialized({ width: 600, sizes: { medium: { file: 'wide-300x200.png', width: 300, height: 200 } } });
    const sized = image('2021/05/wide.png', {
      metas: metaRows([['_wp_attached_file', '2021/05/wide.png'], ['_wp_attachment_metadata', sizes]]),
    }); // biome-ignore format: short
    mkdirSync(join(site.config.uploadsDir, '2021/05'), { recursive: true });
    writeFileSync(join(site.config.uploadsDir, '2021/05/wide.png'), IMAGE);
    await imported([sized]);
    const complete = uploads();
    expect(complete).toEqual(expect.arrayContaining(['2021/05/wide-150x150.png', '2021/05/wide-300x200.png', '2021/05/wide.png']));
    expect(await metaOf(40, '_wp_attachment_metadata')).toContain('wide-150x150.png');
    rmSync(join(site.config.uploadsDir, '2021/05/wide-300x200.png'));
    await imported([sized]);
    await imported([sized]);
    expect([uploads(), asked]).toEqual([complete, 2]);
    expect(await metaOf(40, '_wp_attached_file')).toBe('2021/05/wide.png');
  });

  it.each(['2021/05/wide.png', 'elsewhere/wide.png'])(
    'get the sizes that are missing beside a file that was stored elsewhere: %s',
    async (path) => {
      mkdirSync(join(site.config.uploadsDir, '2021/05'), { recursive: true });
      writeFileSync(join(site.config.uploadsDir, '2021/05/wide.png'), 'another file');
      await imported([image(path)]);
      const file = String(await metaOf(40, '_wp_attached_file'));
      expect(file).not.toBe(path);
      const complete = uploads();
      rmSync(join(site.config.uploadsDir, file.replace('.png', '-300x200.png')));
      await imported([image(path)]);
      await imported([image(path)]);
      expect([await metaOf(40, '_wp_attached_file'), uploads(), asked]).toEqual([file, complete, 2]);
    },
  );

  it('are removed if a later one cannot be stored', async () => {
    const items = [image('2021/05/wide.png'), image('2021/05/other.png', { sourceId: '41', id: 41 })];
    const failing = importItems(site, caller, streamOf(items), {
      source: 'x',
      fetchFile: (item) =>
        item.id === 41
          ? Promise.reject(new LibraryUnavailable('full', undefined))
          : fetchFile(site, caller, item, { allowAddress: () => true }),
    });
    await expect(failing).rejects.toThrow(LibraryUnavailable);
    expect([asked, uploads()]).toEqual([1, []]);
  });

  it('are requested again if they could not be fetched', async () => {
    for (let round = 1; round <= 2; round += 1) {
      const report = await imported([image('2021/05/wide.png', { url: `${address}/gone` })]);
      expect(report.losses).toMatchObject([{ reason: 'file-not-fetched', count: 1 }]);
      expect(asked).toBe(round);
    }
  });

  it('are never requested from addresses that are not public', async () => {
    const report = await imported([image('2021/05/wide.png'), organizer], false);
    expect(report.losses).toMatchObject([{ reason: 'file-not-fetched', examples: [{ detail: 'address' }] }]);
    expect([asked, uploads()]).toEqual([0, []]);
    expect(await metaOf(41, '_thumbnail_id')).toBe('40');
  });

  it('are never stored outside the uploads folder', async () => {
    const report = await imported([image('../../../outside.png')]);
    expect(uploads()).toEqual(expect.arrayContaining(['wide.png']));
    expect(existsSync(join(site.config.uploadsDir, '../../../outside.png'))).toBe(false);
    expect(await metaOf(40, '_wp_attached_file')).toBe('wide.png');
    expect(report.losses).toEqual([]);
    const unfetched = await imported([image('../../../outside.png', { sourceId: '50', id: 50, url: `${address}/gone` })]);
    expect(unfetched.losses.map(({ reason }) => reason).sort()).toEqual(['file-not-fetched', 'path-refused', 'slug-taken']);
    expect(await metaOf(50, '_wp_attached_file')).toBeUndefined();
  });

  it('are removed if their rows cannot be written', async () => {
    const broken = { ...organizer, metas: null as never };
    await expect(imported([image('2021/05/wide.png'), broken])).rejects.toThrow();
    expect(uploads()).toEqual([]);
    expect(await db.from('posts')).toEqual([]);
  });

  it('are found in the library if only their URL is known, or reported as lost', async () => {
    await imported([image('2021/05/wide.png')]);
    const named = (sourceId: string): PostItem => ({
      kind: 'attachment',
      sourceId,
      url: sourceId,
      columns: {},
      metas: [],
      links: [],
      complete: false,
    });
    const entries = streamOf([named(`${address}/wide.png`), named('https://elsewhere.example.org/x.png')]);
    const report = await importItems(site, caller, entries, { source: 'y' });
    expect(report).toMatchObject({ unchanged: { attachment: 1 }, lost: { attachment: 1 }, losses: [{ reason: 'file-missing', count: 1 }] });
  });
});

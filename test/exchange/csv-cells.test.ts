import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { openCsv } from '../../src/exchange/csv/read.ts';
import { importItems } from '../../src/exchange/import/importer.ts';
import { isItem, isPostItem } from '../../src/exchange/items/items.ts';
import type { Caller } from '../../src/records/caller.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadSite } from '../support/site.ts';
import { allOf, bareFixture, callerOf, emptySite, siteOf } from './sites.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-cells-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describeDatabases('cells of CSV files', (open) => {
  let db: Database;
  let site: Site;
  let caller: Caller;
  beforeAll(async () => {
    db = await open();
    await loadSite(db, bareFixture());
    site = await siteOf(db);
  });
  beforeEach(async () => {
    await emptySite(db);
    caller = await callerOf(site);
  });
  afterAll(() => site.close());

  const read = (content: string) => {
    const path = join(folder, 'cells.csv');
    writeFileSync(path, content);
    return openCsv([path], { caller });
  };
  const imported = (content: string) => {
    const source = read(content);
    return importItems(site, caller, source.entries(), { source: source.name() });
  };

  describe('are divided into rows', () => {
    it.each([
      ['by LF after a heading line that ends with CRLF', '\r\n', '\n'],
      ['by CRLF after a heading line that ends with LF', '\n', '\r\n'],
      ['by LF after a heading line that ends with CR', '\r', '\n'],
      ['by CR alone', '\r', '\r'],
      ['by CR CRLF', '\r\r\n', '\r\r\n'],
      ['by CR CRLF after a heading line that ends with CRLF', '\r\n', '\r\r\n'],
      ['by CR CRLF after a heading line that ends with LF', '\n', '\r\r\n'],
    ])('%s', async (_what, first, other) => {
      const rows = ['A,2031-01-01,"one\ntwo"', 'B,2031-01-02,"one\rtwo"', 'C,2031-01-03,"one\r\ntwo"', 'D,2031-01-04,last'];
      const content = `Event Name,Event Start Date,Event Description${first}${rows.map((row) => row + other).join('')}`;
      const entries = await allOf(read(content).entries());
      const posts = entries.filter(isItem).filter(isPostItem);
      expect(posts.map(({ columns }) => [columns.post_title, columns.post_content?.replace(/\r\n?/g, '\n')])).toEqual([
        ['A', 'one\ntwo'],
        ['B', 'one\ntwo'],
        ['C', 'one\ntwo'],
        ['D', 'last'],
      ]);
    });
  });

  it.each(['\n', '\r\n'])('may contain CR without quotation marks, unless it ends the heading line', async (end) => {
    const content = ['Event Name,Event Start Date,Event Description', 'A,2031-01-01,one\rtwo', 'B,2031-01-02,last', ''].join(end);
    const posts = (await allOf(read(content).entries())).filter(isItem).filter(isPostItem);
    expect(posts.map(({ columns }) => [columns.post_title, columns.post_content?.replace(/\r\n?/g, '\n')])).toEqual([
      ['A', 'one\ntwo'],
      ['B', 'last'],
    ]);
  });

  const HEAD =
    'Event Name,Event Start Date,Event Website,Event Cost,Event Currency Symbol,Event Time Zone,Event Category,Event Description';

  it('may have blanks around their values', async () => {
    const report = await imported(`${HEAD}\n Fair , 2031-01-01 , https://x.example/a , 5 , € , Europe/Paris , Music , text \n`);
    expect([report.created, report.losses]).toEqual([{ event: 1, category: 1 }, []]);
    const [post] = await db.from('posts').where('post_title', 'Fair');
    const metas = await db.from('postmeta').where('post_id', post!.ID);
    expect(Object.fromEntries(metas.map((row) => [row.meta_key, row.meta_value]))).toMatchObject({
      _EventURL: 'https://x.example/a',
      _EventTimezone: 'Europe/Paris',
      _EventCost: '5',
      _EventCurrencySymbol: '€',
    });
  });

  it('clear the value of an existing record if they contain only blanks', async () => {
    await imported(`${HEAD}\nFair,2031-01-01,https://x.example/,5,,,Music,text\n`);
    const report = await imported(`${HEAD}\nFair,2031-01-01, ,\t, , , ," \n"\n`);
    expect([report.updated, report.losses]).toEqual([{ event: 1 }, []]);
    const [post] = await db.from('posts').where('post_title', 'Fair');
    expect(post!.post_content).toBe('');
    const metas = await db.from('postmeta').where('post_id', post!.ID);
    expect(metas.filter((row) => ['_EventURL', '_EventCost'].includes(row.meta_key ?? '') && row.meta_value !== '')).toEqual([]);
  });
});

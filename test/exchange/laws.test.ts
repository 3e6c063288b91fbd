import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { exportEntries, itemsOf } from '../../src/exchange/exporter.ts';
import { importItems } from '../../src/exchange/import/importer.ts';
import { type Item, isItem, isPostItem } from '../../src/exchange/items/items.ts';
import { openJsonLines, writeJsonLines } from '../../src/exchange/items/json-lines.ts';
import { openWxr } from '../../src/exchange/wxr/read.ts';
import { writeWxr } from '../../src/exchange/wxr/write.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadSite } from '../support/site.ts';
import { calendar, settled, text } from './arbitrary.ts';
import { allOf, bareFixture, bareSite, callerOf, NOW, placeless, streamOf, textOfAll } from './sites.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-laws-'));
const SITE = { home: 'https://source.example.org', title: 'Source', description: '', language: 'en', now: NOW };

const FORMATS = {
  WXR: { write: (items: readonly Item[]) => writeWxr(SITE, streamOf(items)), open: openWxr, file: join(folder, 'law.xml') },
  'JSON lines': {
    write: (items: readonly Item[]) => writeJsonLines(SITE.home, streamOf(items)),
    open: openJsonLines,
    file: join(folder, 'law.jsonl'),
  },
} as const;

const through = async (format: keyof typeof FORMATS, items: readonly Item[]): Promise<Item[]> => {
  const { write, open, file } = FORMATS[format];
  writeFileSync(file, await textOfAll(write(items)));
  return placeless((await allOf(open([file]).entries())).filter(isItem));
};

describe('round trip of random calendars', () => {
  it('preserves every item in JSON lines', async () => {
    await fc.assert(
      fc.asyncProperty(calendar, async (items) => {
        expect(await through('JSON lines', items)).toEqual(items);
      }),
      { numRuns: 100 },
    );
  });

  it('preserves everything that WXR can express', async () => {
    await fc.assert(
      fc.asyncProperty(calendar, async (items) => {
        expect(await through('WXR', items)).toEqual(items.map(asInWxr));
      }),
      { numRuns: 100 },
    );
  });

  it('preserves control characters in JSON lines; WXR omits those that XML forbids', async () => {
    await fc.assert(
      fc.asyncProperty(calendar, text(true), async (items, content) => {
        const item = items.filter(isPostItem).at(-1)!;
        const changed = { ...item, columns: { ...item.columns, post_content: content } };
        expect(await through('JSON lines', [changed])).toEqual([changed]);
        const [read] = await through('WXR', [changed]);
        expect(read).toEqual(
          asInWxr({
            ...changed,
            columns: { ...changed.columns, post_content: content.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '') },
          }),
        );
      }),
      { numRuns: 50 },
    );
  });
});

/**
 * Removes what WordPress's own format does not contain: IDs of taxonomy rows, ping lists, the filtered content, and the
 * MIME type of posts that are not files.
 */
function asInWxr(item: Item): Item {
  if ('taxonomyId' in item) {
    const { taxonomyId: _number, ...rest } = item;
    return rest;
  }
  if (!('links' in item)) return item;
  const { to_ping: _to, pinged: _pinged, post_content_filtered: _filtered, post_mime_type: _mime, ...columns } = item.columns;
  return { ...item, columns };
}

describeDatabases('import and export of a random calendar', (open) => {
  it('gives the same calendar, in any order of its items', async () => {
    const db = await open();
    await fc.assert(
      fc.asyncProperty(
        calendar.chain((items) =>
          fc.tuple(
            fc.constant(items),
            fc.shuffledSubarray(items, { minLength: items.length, maxLength: items.length }),
            fc.integer({ min: 1, max: 4 }),
          ),
        ),
        async ([items, shuffled, itemsAtOnce]) => {
          await loadSite(db, bareFixture());
          await db.from('fasti_import_ids').del();
          const site = await bareSite(db);
          try {
            const caller = await callerOf(site);
            const report = await importItems(site, caller, streamOf(shuffled), { source: 'law', itemsPerBatch: itemsAtOnce });
            expect(report.lost).toEqual({});
            expect(report.losses.filter(({ reason }) => reason !== 'author-without-role')).toEqual([]);
            const out = await allOf(itemsOf(exportEntries(site, caller), () => undefined));
            const wrote = new Set(items.flatMap((item) => ('links' in item ? [item.author] : [])));
            const expected = items.filter((item) => item.kind !== 'author' || wrote.has(item.sourceId));
            const order = (list: readonly Item[]) =>
              settled(list.filter(({ kind }) => kind !== 'settings')).sort((one, other) => (key(one) < key(other) ? -1 : 1));
            expect(order(out)).toEqual(order(expected));
          } finally {
            await site.close();
          }
        },
      ),
      { numRuns: 25, endOnFailure: true },
    );
  });
});

const key = (item: Item): string => `${item.kind} ${item.sourceId}`;

import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { MAX_TEXT_LENGTH } from '../../src/exchange/items/file-text.ts';
import type { Entry, PostItem } from '../../src/exchange/items/items.ts';
import { readRecords } from '../../src/exchange/live/record-pages.ts';
import type { RemoteSite, SiteAnswer } from '../../src/exchange/live/site-client.ts';
import { type Mark, openSpool } from '../../src/exchange/live/spool.ts';
import { readTerms } from '../../src/exchange/live/term-pages.ts';
import { newWalk, noteEntry } from '../../src/exchange/live/walk.ts';
import { allOf } from './sites.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-walk-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a list of a site that does not end', () => {
  /** Reads a whole list; returns the number of requests and the reasons of losses. */
  const walked = async (stage: 'venues' | 'tags', bodyOf: (page: number) => object) => {
    let requests = 0;
    const get = async (path: string, query?: Readonly<Record<string, unknown>>): Promise<SiteAnswer> => {
      if (path !== stage) return { status: 404, body: {}, receivedAt: 0 };
      requests += 1;
      if (requests > 500) throw new Error('endless');
      return { status: 200, body: bodyOf(Number(query?.page)), receivedAt: 0 };
    };
    const site = {
      home: 'https://o.example',
      namespace: 'n',
      credentials: undefined,
      request: get,
      get,
    } as RemoteSite;
    const walk = newWalk(site, { settings: { calendar: { customFields: [] } }, freeWords: [], now: new Date() } as never);
    const reasons: string[] = [];
    for (let page = 1, isLast = false; !isLast; page += 1) {
      const read = await (stage === 'tags' ? readTerms(walk, stage, page) : readRecords(walk, stage, page));
      for (const entry of read.entries) noteEntry(walk, entry);
      reasons.push(...read.entries.flatMap((entry) => (entry.kind === 'loss' ? [entry.loss.reason] : [])));
      isLast = read.isLast;
    }
    return { requests, reasons };
  };
  const venues = (first: number) => Array.from({ length: 5 }, (_, at) => ({ id: first + at }));

  it.each(['venues', 'tags'] as const)('ends after some empty pages: %s', async (stage) => {
    expect(await walked(stage, () => ({ [stage]: [], total_pages: 1e15 }))).toEqual({ requests: 10, reasons: ['site-list-endless'] });
  });
  it('ends if it has more pages than records', async () => {
    const { requests, reasons } = await walked('venues', () => ({ venues: venues(1), total_pages: 1e15 }));
    expect([requests, reasons.at(-1)]).toEqual([15, 'site-list-endless']);
    const tag = { id: 1, name: 'a', slug: 'a', description: '', parent: 0 };
    expect(await walked('tags', () => ({ tags: [tag], total_pages: 1e15 }))).toEqual({ requests: 11, reasons: ['site-list-endless'] });
  });
  it.each(['venues', 'tags'] as const)('ends if the number of its pages is none: %s', async (stage) => {
    expect(await walked(stage, () => ({ [stage]: [], total_pages: 'x', total: 'y' }))).toEqual({ requests: 1, reasons: [] });
  });
  it('is read to its end if it has one', async () => {
    const { requests, reasons } = await walked('venues', (page) => ({ venues: venues(page * 5), total_pages: 40 }));
    expect([requests, reasons.includes('site-list-endless')]).toEqual([40, false]);
  });
});

describe('the file of a walk', () => {
  const mark: Mark = { stage: 'events', page: 1, last: false, done: false };
  const event = (name: string, content: string): PostItem => ({
    kind: 'event',
    sourceId: name,
    place: `events/${name}`,
    columns: { post_title: name, post_content: content },
    metas: [],
    links: [],
    complete: false,
  });
  const open = (name: string) => openSpool({ source: name, identity: [] }, folder);

  it('has a loss in place of a record that is too long to be read', async () => {
    const spool = await open('long');
    const long = event('long', 'x'.repeat(MAX_TEXT_LENGTH));
    const added = await spool.add([event('a', 'text'), long, event('b', 'text')], mark);
    const loss = { reason: 'record-too-long', kind: 'event', of: 'long', place: 'events/long' };
    const stored: Entry[] = await allOf(spool.entries());
    expect(stored).toEqual([event('a', 'text'), { kind: 'loss', isWhole: true, sourceId: 'long', loss }, event('b', 'text')]);
    expect([added, (await spool.state()).mark]).toEqual([stored, mark]);
    spool.close();
  });

  it('is removed if it cannot be read', async () => {
    const spool = await open('damaged');
    await spool.add([event('a', 'text')], mark);
    spool.close();
    const path = readdirSync(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => join(folder, name))
      .sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)[0]!;
    writeFileSync(path, `{"kind":"event","sourceId":"${'x'.repeat(MAX_TEXT_LENGTH + 100_000)}"}\n`);
    const again = await open('damaged');
    expect((await again.state()).mark).toBeUndefined();
    expect(await allOf(again.entries())).toEqual([]);
    await again.add([event('b', 'text')], mark);
    expect(await allOf(again.entries())).toEqual([event('b', 'text')]);
    again.close();
  });
});

/**
 * A newer file of the same source changes what came before, what is no longer so included.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { exportEntries, itemsOf } from '../../src/exchange/exporter.ts';
import { eventRecords } from '../../src/exchange/ical/records.ts';
import { openSource } from '../../src/exchange/sources.ts';
import type { Site } from '../../src/site.ts';
import { describeDatabases } from '../support/databases.ts';
import { allOf, bareSite, callerOf, importSource } from './sites.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-newer-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const calendar = (...lines: string[]) =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', 'X-WR-CALNAME:Newer', 'BEGIN:VEVENT', ...lines, 'END:VEVENT', 'END:VCALENDAR', ''].join('\r\n');
const page = (event: object) => `<script type="application/ld+json">${JSON.stringify({ '@type': 'Event', ...event })}</script>`;
const table = (...cells: string[]) =>
  ['Event Name,Event Start Date,Event Start Time,All Day Event,Hide Event From Event Listings,Feature Event,Sticky', cells.join(',')].join(
    '\n',
  );

describeDatabases('a newer file', (open) => {
  let site: Site;
  beforeAll(async () => {
    site = await bareSite(await open());
  });
  afterAll(() => site.close());

  const imported = async (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    const source = await openSource([join(folder, name)], { caller: await callerOf(site), prefix: 'wp_', target: '' });
    return importSource(site, source);
  };
  /** What the calendar stores of flags and states of an event. */
  const flagsOf = async (title: string) => {
    const [post] = await site.db.from('posts').where({ post_title: title, post_type: 'tribe_events' });
    const names = ['_EventAllDay', '_EventHideFromUpcoming', '_tribe_featured', '_tribe_events_status'];
    const metas = await site.db.from('postmeta').where('post_id', post!.ID).whereIn('meta_key', names);
    const filled = metas.filter(({ meta_value: value }) => value !== '').map(({ meta_key: key, meta_value: value }) => `${key}=${value}`);
    return [...filled, ...(post!.menu_order === 0 ? [] : [`menu_order=${post!.menu_order}`])].sort();
  };

  it('of a calendar gives an event times, and lets it take place again', async () => {
    const event = ['UID:1', 'SUMMARY:Fair'];
    await imported('a.ics', calendar(...event, 'DTSTART;VALUE=DATE:20261201', 'STATUS:CANCELLED'));
    expect(await flagsOf('Fair')).toEqual(['_EventAllDay=1', '_tribe_events_status=canceled']);
    // A calendar that does not say the state leaves the one that is noted here.
    const { updated } = await imported('a.ics', calendar(...event, 'DTSTART:20261202T190000Z'));
    expect([updated.event, await flagsOf('Fair')]).toEqual([1, ['_tribe_events_status=canceled']]);
    await imported('a.ics', calendar(...event, 'DTSTART:20261202T190000Z', 'STATUS:CONFIRMED'));
    expect(await flagsOf('Fair')).toEqual([]);
    const again = await imported('a.ics', calendar(...event, 'DTSTART:20261202T190000Z', 'STATUS:CONFIRMED'));
    expect(again.unchanged.event).toBe(1);
  });

  it('of a table takes back what it says no to', async () => {
    await imported('a.csv', table('Gala', '2026-12-05', '', 'yes', 'yes', 'yes', 'yes'));
    expect(await flagsOf('Gala')).toEqual(['_EventAllDay=1', '_EventHideFromUpcoming=yes', '_tribe_featured=1', 'menu_order=-1']);
    await imported('a.csv', table('Gala', '2026-12-05', '00:00', '', '', '', ''));
    expect(await flagsOf('Gala')).toEqual(['_EventHideFromUpcoming=yes', '_tribe_featured=1', 'menu_order=-1']);
    await imported('a.csv', table('Gala', '2026-12-05', '00:00', 'no', 'no', 'no', 'no'));
    expect(await flagsOf('Gala')).toEqual([]);
  });

  it('of a page gives an event times, and lets it take place again', async () => {
    const event = { '@id': 'https://x.example/1', name: 'Ball' };
    await imported('a.html', page({ ...event, startDate: '2026-12-06', eventStatus: 'https://schema.org/EventCancelled' }));
    expect(await flagsOf('Ball')).toEqual(['_EventAllDay=1', '_tribe_events_status=canceled']);
    await imported('a.html', page({ ...event, startDate: '2026-12-06T20:00', eventStatus: 'https://schema.org/EventScheduled' }));
    expect(await flagsOf('Ball')).toEqual([]);
  });

  it('that is exported says what does not take place, and titles as they were written', async () => {
    await imported('b.ics', calendar('UID:2', 'SUMMARY:The "Trio"', 'DTSTART:20261209T190000Z', 'STATUS:CANCELLED'));
    const caller = await callerOf(site);
    const items = itemsOf(exportEntries(site, caller, { kinds: ['event'], statuses: ['publish'] }), () => undefined);
    const records = await allOf(eventRecords(site, caller, items));
    expect(records.map(({ title, state }) => [title, state])).toContainEqual(['The "Trio"', 'canceled']);
  });
});

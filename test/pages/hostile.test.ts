import { expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { findDangers, readPage } from '../support/html-page.ts';
import { describeRequests } from '../support/site-client.ts';
import { isTextMeta, TEXT_COLUMNS } from '../support/stored-texts.ts';

const HOME = 'http://127.0.0.1:8081';

/** Texts that would run a script if inserted into a page as HTML. */
const ATTACKS: readonly string[] = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "'-alert(1)-'",
  '</title></script><svg onload=alert(1)>',
  '<a href="java&#115;cript:alert(1)">x</a><iframe srcdoc="<script>alert(1)</script>"></iframe>',
  'javascript:alert(1)',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '<form action="https://evil.invalid/"><input name=password></form><base href="https://evil.invalid/"><meta http-equiv=refresh content=0>',
  '<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>',
  '[caption]<img src=x onerror=alert(1)>[/caption] [gallery ids="1" onload="alert(1)"] <!-- wp:html --><script>alert(1)</script><!-- /wp:html -->',
];

describeRequests(
  'pages of a site with hostile texts',
  (ask) => {
    it.each(ATTACKS)('show the text without running it: %j', async (attack) => {
      const record = await ask.create('/events', {
        title: 'Fair',
        start_date: '2026-12-05 10:00:00',
        end_date: '2026-12-05 12:00:00',
        status: 'publish',
        cost: '5',
        website: 'https://example.org/',
        venue: { venue: 'Hall', address: 'a', city: 'b', country: 'c', zip: 'd', phone: 'e', website: 'https://example.org/' },
        organizer: { organizer: 'Club', phone: 'a', email: 'a@example.org', website: 'https://example.org/' },
        tags: ['tag'],
      });
      await ask.writeRows((db) => spoil(db, attack));
      const addresses = [record.url, record.venue.url, record.organizer[0].url].map((url: string) => url.replace(HOME, ''));
      const query = encodeURIComponent(attack);
      const paths = [
        ...addresses,
        '/',
        '/events/2026-12/',
        '/events/2026-12-05/',
        '/events/list/?eventDisplay=past',
        `/events/list/?tribe-bar-search=${query}`,
        `/events/list/?tribe-bar-date=${query}&tribe-bar-search=${query}`,
        `/events/category/${query}/`,
        `/event/${query}/`,
        `/${query}`,
        `/it/events/2026-12/?${query}=${query}`,
        '/events/tag/tag/',
      ];
      for (const path of paths) {
        const answer = await ask.send('GET', path, { headers: { accept: 'text/html' } });
        expect([path, [200, 301, 404].includes(answer.status)]).toEqual([path, true]);
        if (answer.status === 301) continue;
        const page = readPage(answer.text);
        const faults = page.faults.filter((fault) => !ofContent(fault));
        expect([path, findDangers(page), faults]).toEqual([path, [], []]);
      }
      const shown = readPage((await ask.send('GET', addresses[0]!, { headers: {} })).text);
      expect(shown.elements.find(({ name }) => name === 'h1')?.text).not.toBe('Fair');
    });
  },
  { PAGES: 'on' },
);

/**
 * Whether a fault comes from unclosed or misplaced tags in a stored text: browsers repair these, and they run nothing.
 */
const ofContent = (fault: string): boolean => /is not closed|closes|is implied|<img> without text|<a> in|<form>/.test(fault);

/** Writes an attack into every stored text of a page, without the checks of the API. */
async function spoil(db: Database, attack: string): Promise<void> {
  const types = ['tribe_events', 'tribe_venue', 'tribe_organizer', 'attachment'];
  for (const column of TEXT_COLUMNS)
    await db
      .from('posts')
      .whereIn('post_type', types)
      .update({ [column]: attack });
  const metas: { meta_id: number; meta_key: string }[] = await db.from('postmeta').select('meta_id', 'meta_key');
  const ids = metas.filter(({ meta_key: key }) => isTextMeta(key)).map(({ meta_id: id }) => id);
  for (let from = 0; from < ids.length; from += 200) {
    await db
      .from('postmeta')
      .whereIn('meta_id', ids.slice(from, from + 200))
      .update({ meta_value: attack });
  }
  await db.from('terms').update({ name: attack.slice(0, 200) });
  await db.from('term_taxonomy').update({ description: attack });
  await db.from('options').whereIn('option_name', ['blogname', 'blogdescription']).update({ option_value: attack });
}

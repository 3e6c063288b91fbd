import { expect, it } from '@jest/globals';
import { describeAsking, type Json } from '../support/asking.ts';
import { readPage } from '../support/html-page.ts';

const HOME = 'http://127.0.0.1:8081';

describeAsking(
  'pages and feeds of data as old sites have them',
  (ask) => {
    const get = async (path: string): Promise<string> => {
      const { status, text } = await ask.send('GET', path.replace(HOME, ''), { headers: {} });
      expect([path, status]).toEqual([path, 200]);
      return text;
    };
    const page = async (path: string) => readPage(await get(path));
    const made = (values: object = {}): Promise<Json> =>
      ask.made('/events', {
        title: 'Fair',
        start_date: '2026-12-05 10:00:00',
        end_date: '2026-12-05 12:00:00',
        status: 'publish',
        venue: { venue: 'Hall', city: 'Lund' },
        organizer: { organizer: 'Club', email: 'club@example.org' },
        categories: ['Fairs'],
        tags: ['Old'],
        ...values,
      });

    it('show venues, organizers and terms that have no name, in the API by an empty one', async () => {
      const event = await made();
      const [venue, [organizer]] = [event.venue, event.organizer];
      await ask.rows(async (db) => {
        await db.from('posts').whereIn('ID', [venue.id, organizer.id]).update({ post_title: '' });
        const ids = [...event.categories, ...event.tags].map(({ id }: Json) => id);
        await db.from('terms').whereIn('term_id', ids).update({ name: '' });
      });
      const shown = await ask.read(`/events/${event.id}`);
      expect([shown.venue.venue, shown.organizer[0].organizer]).toEqual(['', '']);
      expect([(await ask.read(`/venues/${venue.id}`)).venue, (await ask.read(`/organizers/${organizer.id}`)).organizer]).toEqual(['', '']);

      const calendar = await get('/events/2026-12-05/?ical=1');
      expect(calendar).toContain('LOCATION:Lund');
      expect(calendar).toContain('ORGANIZER:mailto:club@example.org');
      expect(await get('/events/feed/')).toContain('<ev:location>Lund</ev:location>');
      const paths = [
        event.url,
        venue.url,
        organizer.url,
        event.categories[0].urls.self ?? '',
        '/events/list/?filters=open',
        '/events/2026-12-05/',
      ];
      for (const path of paths) {
        const { elements } = await page(path);
        const empty = elements.filter(
          ({ name, text, attributes }) => /^(a|h1|h2|option)$/.test(name) && text.trim() + (attributes['aria-label'] ?? '') === '',
        );
        expect([path, empty.map(({ name, attributes }) => `${name} ${attributes.href ?? ''}`)]).toEqual([path, []]);
      }
    });
  },
  { PAGES: 'on' },
);

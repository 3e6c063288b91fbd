import { expect, it } from '@jest/globals';
import { decodeEntities } from '../../src/wordpress/content/entities.ts';
import { elements, textOf } from '../support/desk-visitor.ts';
import { describeRequests, SUITE_TIME } from '../support/site-client.ts';

describeRequests(
  'addresses of pages',
  (ask) => {
    const text = async (path: string): Promise<string> => (await ask.send('GET', path)).text;
    const home = async () => (await ask.running().site.settings()).home;
    const canonical = async (path: string) => {
      const [link] = elements(await text(path), ({ attribs: { rel } }) => rel === 'canonical');
      return link?.attribs.href?.slice((await home()).length);
    };

    it('stay the same as time goes by if they name no date', async () => {
      const pages = ['/events/month/', '/events/today/', '/it/events/month/', '/events/category/music/month/', '/events/2026-12/'];
      const named = ['/events/month/', '/events/today/', '/events/month/', '/events/category/music/month/', '/events/2026-12/'];
      const plain = '/?post_type=tribe_events&eventDisplay=month';
      for (const moment of [SUITE_TIME, '2027-01-20T12:00:00Z']) {
        ask.setClock(moment);
        await ask.options({ permalink_structure: '/%postname%/' });
        expect([moment, await Promise.all(pages.map(canonical))]).toEqual([moment, named]);
        expect(await canonical('/events/month/?tribe-bar-date=2027-02-01')).toBe('/events/2027-02/');
        await ask.options({ permalink_structure: '' });
        expect([moment, await canonical(plain)]).toEqual([moment, plain]);
      }
    });

    it('have no number if they show a month or a day', async () => {
      const months = [
        '/events/?paged=2',
        '/?paged=2',
        '/events/2031-12/?paged=3',
        '/events/list/page/2/?eventDisplay=month',
        '/events/today/?paged=2',
      ];
      await ask.options({ tribe_events_calendar_options: { viewOption: 'month' } });
      const named = ['/events/month/', '/events/month/', '/events/2031-12/', '/events/month/', '/events/today/'];
      expect(await Promise.all(months.map(canonical))).toEqual(named);
      expect(await text('/events/2026-12/?paged=3')).not.toContain('/page/3');
    });

    it('in the sitemap are those by which pages name themselves', async () => {
      const start = (await home()).length;
      const locations = async (path: string) =>
        [...(await text(path)).matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, url]) => decodeEntities(url!.slice(start)));
      for (const structure of ['/%postname%/', '', '/%postname%']) {
        await ask.options({ permalink_structure: structure });
        const listed = await locations('/sitemap-pages-1.xml');
        expect(listed.length).toBeGreaterThan(5);
        expect([structure, await Promise.all(listed.map(canonical))]).toEqual([structure, listed]);
      }
    });

    it('are marked in the menu by their view', async () => {
      const current = async (path: string) => {
        const menu = /<nav aria-label="Main">.*?<\/nav>/.exec(await text(path))?.[0] ?? '';
        return elements(menu, ({ attribs }) => attribs['aria-current'] === 'page').map(textOf);
      };
      for (const path of ['/events/month/', '/events/2026-12/', '/events/2031-12/'])
        expect([path, await current(path)]).toEqual([path, ['Month']]);
      for (const path of ['/events/list/', '/events/']) expect([path, await current(path)]).toEqual([path, ['Events']]);
      for (const path of ['/events/category/music/month/', '/events/today/', '/venue/teatro-rossi/'])
        expect([path, await current(path)]).toEqual([path, []]);
    });
  },
  { PAGES: 'on' },
);

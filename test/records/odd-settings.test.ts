import { expect, it } from '@jest/globals';
import { describeRequests, idsOf } from '../support/site-client.ts';

/*
 * Values that WordPress allows in its settings but that sites rarely have.
 */

const ALL = '/events?start_date=2030-01-01&end_date=2031-12-31';

describeRequests('unusual setting', (ask) => {
  it.each([{ posts_per_page: '-1' }, { tribe_events_calendar_options: { posts_per_page: '-1' } }])(
    'of -1 records per page returns as many as a page can hold: %j',
    async (setting) => {
      await ask.options(setting);
      const list = await ask.read(ALL);
      expect([idsOf(list).length, list.total, list.total_pages]).toEqual([33, 33, 1]);
      expect(await ask.read('/venues')).toMatchObject({ total_pages: 1 });
      expect(await ask.read('/tags')).toMatchObject({ total_pages: 1 });
      const newer = await ask.send('GET', '/wp-json/tec/v1/events?start_date=2030-01-01', { headers: { 'X-TEC-EEA': 'yes' } });
      expect([newer.status, newer.body.length > 10]).toEqual([200, true]);
    },
  );
  it('of an empty currency symbol shows prices without a symbol', async () => {
    await ask.options({ tribe_events_calendar_options: { defaultCurrencySymbol: '' } });
    expect((await ask.read('/events/57')).cost).toBe('10 – 20');
    expect((await ask.read('/events/44')).cost).toBe('€10');
  });
});

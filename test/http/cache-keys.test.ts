import { expect, it } from '@jest/globals';
import { describeRequests, ROOT } from '../support/site-client.ts';

/*
 * Requests whose URL is written so that it could be taken for another request, by a cache that keeps answers by URL and
 * by canonical query.
 */
describeRequests(
  'a request that imitates the cache key of another',
  ({ send }) => {
    /** Sends a request twice, so that its answer is kept under every key it has. */
    const sendTwice = async (target: string) => {
      await send('GET', target);
      return send('GET', target);
    };

    it('does not replace the answer to a query of the API', async () => {
      const { home } = (await send('GET', '/wp-json/')).body;
      const page = `${ROOT}/events?page=2&per_page=3`;
      const expected = await send('GET', page);
      expect(expected.status).toBe(200);

      const forged = await sendTwice(`${home}${ROOT}/events?[["page","2"],["per_page","3"]]`);
      expect(forged.status).toBe(200);
      expect(forged.body).not.toEqual(expected.body);
      expect((await send('GET', `${page}&unknown=1`)).body).toEqual(expected.body);
    });

    it('does not replace a calendar feed', async () => {
      const { home } = (await send('GET', '/wp-json/')).body;
      const forged = await sendTwice(`${home}/events/?[["ical","1"]]`);
      expect(forged.headers['content-type']).toMatch(/^text\/html/);
      for (const path of ['/events/?ical=1', '/events/?ical=1&unknown=1'])
        expect((await send('GET', path)).headers['content-type']).toMatch(/^text\/calendar/);
    });

    it.each(['_wpnonce', '%5Fwpnonce', '.wpnonce'])('is refused for a wrong nonce alone: %s', async (name) => {
      const list = `${ROOT}/events?search=${encodeURIComponent(name)}`;
      const answers = await Promise.all([`${list}&${name}=wrong`, list, `${list}&${name}=wrong`, list].map((path) => send('GET', path)));
      expect(answers.map(({ status }) => status)).toEqual([403, 200, 403, 200]);
    });
  },
  { PAGES: 'on' },
);

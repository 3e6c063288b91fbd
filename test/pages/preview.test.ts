import { expect, it } from '@jest/globals';
import { postKinds } from '../../src/kinds/index.ts';
import { elements, openVisitor, textOf, type Visitor } from '../support/desk-visitor.ts';
import { readPage } from '../support/html-page.ts';
import { LOGIN_KEYS } from '../support/login-cookie.ts';
import { describeRequests, type UserName } from '../support/site-client.ts';

/** A record of each kind before publication, and a text that its page shows. */
const DRAFTS = {
  event: { title: 'Not yet', description: 'Bring a chair', start_date: '2026-12-05 10:00', end_date: '2026-12-05 12:00', venue: { venue: 'The mill' } },
  venue: { venue: 'Not yet', description: 'Bring a chair' },
  organizer: { organizer: 'Not yet', description: 'Bring a chair' },
} as const; // biome-ignore format: pairs

describeRequests(
  'the preview of an unpublished record',
  (ask) => {
    const previewLink = async (who: Visitor, path: string): Promise<string> => {
      const { text } = await who.get(path);
      const [link] = elements(text, (element) => element.name === 'a' && textOf(element) === 'Preview');
      return link?.attribs.href ?? '';
    };

    it.each(postKinds)('shows the page of $name to users who may edit it, and nothing to others', async ({ name, path, postType }) => {
      const { id } = await ask.create(`/${path}`, { ...DRAFTS[name], status: 'draft' });
      const url = `/?post_type=${postType}&p=${id}&preview=true`;
      // Users without the right get the same answer as without the parameter, and it is not cached for users with the
      // right.
      const refused = await ask.send('GET', url);
      expect([refused.status, refused.text.includes('Not yet')]).toEqual([404, false]);
      for (const as of ['sub', 'contrib', 'auth'] as const) {
        const answer = await (await openVisitor(ask, as)).get(url);
        expect([as, answer.status, answer.text]).toEqual([as, 404, refused.text]);
      }
      for (const as of ['ed', 'admin'] as const) {
        const who = await openVisitor(ask, as);
        expect([as, await previewLink(who, `/admin/${path}/${id}`)]).toEqual([as, url]);
        const answer = await who.get(url);
        expect([as, answer.status]).toEqual([as, 200]);
        const { text } = readPage(answer.text);
        for (const part of ['Not yet', 'Bring a chair', 'Preview. Status: Draft.'])
          expect([as, text]).toEqual([as, expect.stringContaining(part)]);
        expect(answer.text).toContain('<meta name="robots" content="noindex, follow"');
        expect(answer.headers).toMatchObject({
          'cache-control': expect.stringMatching(/no-store.*private/),
          'x-robots-tag': 'noindex, nofollow',
        });
        expect(
          Object.keys(answer.headers).filter((header) => /etag|last-modified|surrogate|allow-(origin|credentials)/.test(header)),
        ).toEqual([]);
        // A script of another site could read the answer.
        expect([as, (await who.get(url, { Origin: 'https://other.example' })).status]).toEqual([as, 404]);
      }
      expect((await ask.send('GET', url)).status).toBe(404);
    });

    it('is available to its author, in every status but the trash, with the events of a venue as visitors see them', async () => {
      const own = await ask.create('/events', { ...DRAFTS.event, status: 'pending' }, 'contrib');
      const contributor = await openVisitor(ask, 'contrib');
      const admin = await openVisitor(ask, 'admin');
      const at = (id: number, type = 'tribe_events') => `/?post_type=${type}&p=${id}&preview=true`;
      expect((await contributor.get(at(own.id))).text).toContain('Preview. Status: Awaiting review.');
      for (const [status, said] of [['private', 'Private'], ['future', 'Scheduled'], ['draft', 'Draft']] as const) {
        const date = status === 'future' ? '2027-01-01 10:00' : '2026-01-01 10:00';
        const { id } = await ask.create('/events', { ...DRAFTS.event, status: status === 'future' ? 'publish' : status, date });
        expect([status, (await admin.get(at(id))).text.includes(`Preview. Status: ${said}.`)]).toEqual([status, true]);
        expect([status, (await contributor.get(at(id))).status]).toEqual([status, 404]);
        await ask.del(`/events/${id}`);
        expect([status, (await admin.get(at(id))).status]).toEqual([status, 404]);
      }
      const venue = await ask.create('/venues', { venue: 'The barn', status: 'draft' });
      await ask.create('/events', { ...DRAFTS.event, venue: { id: venue.id }, status: 'draft' });
      const page = await admin.get(at(venue.id, 'tribe_venue'));
      expect([page.text.includes('The barn'), page.text.includes('Not yet')]).toEqual([true, false]);
    }); // biome-ignore format: pairs

    it('shows the drafts of an event, which are published with it, but no private venue or organizer', async () => {
      const admin = await openVisitor(ask, 'admin');
      const venues = ['private', 'draft'].map((status) => ask.create('/venues', { venue: `The ${status} mill`, city: 'Asti', status }));
      const [hidden, draft] = await Promise.all(venues);
      const organizer = [{ organizer: 'Secret millers', status: 'private' }];
      for (const [venue, isShown] of [[hidden, false], [draft, true]] as const) {
        const { id } = await ask.create('/events', { ...DRAFTS.event, venue: { id: venue!.id }, organizer, status: 'draft' });
        await ask.writeRows((db) => db.from('posts').where('post_title', 'Secret millers').update({ post_status: 'private' }));
        const { text } = await admin.get(`/?p=${id}&preview=true`);
        expect([text.includes('Bring a chair'), text.includes(' mill<'), text.includes('Secret millers')]).toEqual([true, isShown, false]);
      }
    }); // biome-ignore format: pairs

    it('shows a protected record in full, and redirects for a published one', async () => {
      const admin = await openVisitor(ask, 'admin');
      const { id } = await ask.create('/events', { ...DRAFTS.event, status: 'draft' });
      await ask.writeRows((db) => db.from('posts').where('ID', id).update({ post_password: 'secret' }));
      expect((await admin.get(`/?p=${id}&preview=true`)).text).toContain('Bring a chair');
      const { id: out } = await ask.create('/events', { ...DRAFTS.event, status: 'publish' });
      const asked = async (who: UserName) => (await (await openVisitor(ask, who)).get(`/?p=${out}&preview=true`)).status;
      expect([await asked(undefined), await asked('sub'), await asked('admin')]).toEqual([301, 301, 301]);
      expect(await previewLink(admin, `/admin/events/${out}`)).toBe('');
    });
  },
  { PAGES: 'on', ...LOGIN_KEYS },
);

import { expect, it } from '@jest/globals';
import { insertAll } from '../support/insert-all.ts';
import { describeRequests, type SiteClient, type UserName } from '../support/site-client.ts';

/*
 * Galleries show no file that the library hides: `gallery_shortcode` looks only for files of the status `inherit`.
 */

const EVENT = 38;
const ATTACHED = 20_001;
const LOOSE = 20_002;
const OF_DRAFT = 20_003;
const IMAGES = [ATTACHED, LOOSE, OF_DRAFT];
const DRAFT = 20_010;

describeRequests('galleries', (ask) => {
  it.each(['private', 'trash'])('leave out images of the status %s', async (status) => {
    await addImages(ask);
    const shown = async () => {
      const attached = await shownAt(ask, '[gallery]', `/wp-json/wp/v2/tribe_events/${EVENT}`);
      const loose = await shownAt(ask, '[gallery]', `/wp-json/tribe/events/v1/events/${EVENT}`);
      const named = await shownAt(ask, `[gallery ids="${ATTACHED},${LOOSE}"]`, `/wp-json/tribe/events/v1/events/${EVENT}`);
      return { attached, loose: loose.includes(LOOSE), named };
    };
    expect(await shown()).toEqual({ attached: [ATTACHED], loose: true, named: [ATTACHED, LOOSE] });
    await ask.writeRows((db) => db.from('posts').whereIn('ID', [ATTACHED, LOOSE]).update({ post_status: status }));
    expect(await shown()).toEqual({ attached: [], loose: false, named: [] });
  });

  it('show as many images as before if some of them are hidden', async () => {
    const rows = Array.from({ length: 510 }, (_, place) => imageRow(21_000 + place, EVENT, place < 505 ? 'trash' : 'inherit'));
    await ask.writeRows((db) => insertAll(db, 'posts', rows, 100));
    const shown = await shownAt(ask, '[gallery]', `/wp-json/wp/v2/tribe_events/${EVENT}`);
    expect(shown).toEqual([21_505, 21_506, 21_507, 21_508, 21_509]);
  });

  it('of records that are not published leave out images of records that the caller may not read', async () => {
    await addImages(ask);
    const description = `[gallery ids="${IMAGES.join()}"]`;
    const dates = { start_date: '2026-12-01 10:00:00', end_date: '2026-12-01 11:00:00' };
    const { id, ...created } = await ask.create('/events', { title: 'Own', description, ...dates }, 'contrib');
    expect(created.status).toBe('draft');
    expect(imagesIn(created.description)).toEqual([ATTACHED, LOOSE]);
    const seenBy = async (as: UserName) => imagesIn((await ask.read(`/events/${id}`, as)).description);
    expect([await seenBy('contrib'), await seenBy('ed')]).toEqual([[ATTACHED, LOOSE], IMAGES]);
    await ask.update(`/events/${id}`, { status: 'publish' }, 'ed');
    expect(await seenBy(undefined)).toEqual(IMAGES);
  });
});

/** Adds an image of a published event, one without a parent, and one of the draft of another user. */
async function addImages(ask: SiteClient): Promise<void> {
  const { post_author: author } = (await ask.db().from('posts').where('ID', EVENT).first())!;
  await ask.writeRows(async (db) => {
    const draft = { ...imageRow(DRAFT, 0), post_type: 'tribe_events', post_status: 'draft', post_mime_type: '', post_author: author };
    await db.from('posts').insert(draft);
    await insertAll(db, 'posts', [imageRow(ATTACHED, EVENT), imageRow(LOOSE, 0), imageRow(OF_DRAFT, DRAFT)], 3);
  });
}

const imageRow = (ID: number, post_parent: number, post_status = 'inherit') => ({
  ID, post_parent, post_status, post_author: 1, post_type: 'attachment', post_mime_type: 'image/png', post_title: `Image ${ID}`,
  post_name: `image-${ID}`, guid: `http://127.0.0.1:8081/wp-content/uploads/${ID}.png`,
}); // biome-ignore format: one row

/** Returns the ids of the added images that the event with this text shows to everybody. */
async function shownAt(ask: SiteClient, text: string, path: string): Promise<number[]> {
  await ask.writeRows((db) => db.from('posts').where('ID', EVENT).update({ post_content: text }));
  const { body } = await ask.send('GET', path);
  return imagesIn(body.content?.rendered ?? body.description);
}

const imagesIn = (html: string): number[] => [...html.matchAll(/<img [^>]*\/(\d+)\.png"/g)].map(([, id]) => Number(id));

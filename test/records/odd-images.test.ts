import { expect, it } from '@jest/globals';
import { elementsOf, faultsOfElements } from '../support/active-html.ts';
import { describeRequests, type Json } from '../support/site-client.ts';

/*
 * The stored metadata of an image may have been written by any program, and may be broken.
 */

const IMAGE = 10;
const EVENT = 38;

describeRequests('image with broken metadata', (ask) => {
  it.each([
    ['a size of which nothing is', 'a:1:{s:5:"sizes";a:1:{s:6:"medium";N;}}', {}],
    ['sizes in one word', 'a:1:{s:5:"sizes";s:3:"all";}', {}],
    ['a size that is a word', 'a:2:{s:5:"width";i:7;s:5:"sizes";a:1:{s:6:"medium";s:3:"big";}}', { width: 7 }],
    ['a number that JSON has no room for', 'a:1:{s:5:"width";i:9007199254740993;}', { width: 9_007_199_254_740_992 }],
    ['no finite number', 'a:1:{s:5:"width";d:INF;}', {}],
  ])('is returned without the broken values: %s', async (_, meta_value, members) => {
    const posts = await ask
      .db()
      .from('postmeta')
      .where({ meta_key: '_thumbnail_id', meta_value: String(IMAGE) })
      .pluck('post_id');
    const event = await ask.db().from('posts').whereIn('ID', posts).where('post_type', 'tribe_events').first();
    await ask.writeRows((db) => db.from('postmeta').where({ post_id: IMAGE, meta_key: '_wp_attachment_metadata' }).update({ meta_value }));
    const { image } = await ask.read(`/events/${event!.ID}`, 'admin');
    const { url, extension: __, ...shown }: Json = image;
    expect(shown).toEqual({ id: IMAGE, ...members });
    const file = await ask.send('GET', `/wp-json/wp/v2/media/${IMAGE}`, { as: 'admin' });
    expect([file.status, file.body.source_url, file.body.media_details.sizes]).toEqual([200, url, {}]);
  });

  it('is shown with numbers for its sizes, whatever is stored for them', async () => {
    const size = (width: string) => `a:3:{s:4:"file";s:5:"s.png";s:5:"width";s:${width.length}:"${width}";s:6:"height";s:6:"5 evil";}`;
    const evil = size('5" onerror="alert(1)');
    const meta_value = `a:3:{s:5:"width";i:10;s:6:"height";i:10;s:5:"sizes";a:2:{s:9:"thumbnail";${evil}s:6:"medium";${evil}}}`;
    const content = `[gallery ids="${IMAGE}"]<img class="wp-image-${IMAGE}" src="https://x.test/s.png" />`;
    await ask.writeRows(async (db) => {
      await db.from('postmeta').where({ post_id: IMAGE, meta_key: '_wp_attachment_metadata' }).update({ meta_value });
      await db.from('posts').where('ID', EVENT).update({ post_content: content });
    });
    const { description } = await ask.read(`/events/${EVENT}`, 'admin');
    const file = await ask.send('GET', `/wp-json/wp/v2/media/${IMAGE}`, { as: 'admin' });
    for (const html of [description, file.body.description.rendered]) {
      expect(html).toContain('<img ');
      expect(faultsOfElements(elementsOf(html))).toEqual([]);
    }
  });

  it('is linked with an escaped URL', async () => {
    const evil = "2026/01/a' onmouseover='alert(1).png";
    await ask.writeRows((db) => db.from('postmeta').where({ post_id: IMAGE, meta_key: '_wp_attached_file' }).update({ meta_value: evil }));
    const { body } = await ask.send('GET', `/wp-json/wp/v2/media/${IMAGE}`, { as: 'admin' });
    expect(faultsOfElements(elementsOf(body.description.rendered))).toEqual([]);
  });
});

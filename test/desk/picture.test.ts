import { expect, it } from '@jest/globals';
import { DatabaseUnavailable } from '../../src/storage/engine/database.ts';
import { elements, formIn, openVisitor, textOf, type Visitor } from '../support/desk-visitor.ts';
import { sharp } from '../support/image-library.ts';
import type { Answer } from '../support/running-site.ts';
import { describeRequests, type SiteClient } from '../support/site-client.ts';

const picture = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#c40' } })
  .png()
  .toBuffer();

/** Sends a form of a page with an image, as a browser does. */
const pictureSender =
  (ask: Pick<SiteClient, 'send'>) =>
  (person: Visitor, page: Answer, path: string, changes: Record<string, string>, file = picture) => {
    const fields = [...formIn(page.text, path).filter(([name]) => !(name in changes)), ...Object.entries(changes)];
    const parts = fields.map(([name, value]) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
    const head = '--x\r\nContent-Disposition: form-data; name="image_file"; filename="barn.png"\r\nContent-Type: image/png\r\n\r\n';
    const headers = { Cookie: person.cookie(), 'Content-Type': 'multipart/form-data; boundary=x', 'Sec-Fetch-Site': 'same-origin' };
    const body = Buffer.concat([Buffer.from(parts.join('') + head), file, Buffer.from('\r\n--x--\r\n')]);
    return ask.send('POST', path, { headers, body });
  };

describeRequests(
  'the image of a form',
  (ask) => {
    const sendPicture = pictureSender(ask);
    const idOf = ({ headers }: Answer) => Number(/(\d+)\?done/.exec(headers.location ?? '')?.[1]);
    const pictures = async (): Promise<number> => (await ask.db().from('posts').where('post_type', 'attachment').select('ID')).length;
    const altOf = async (id: string | undefined) => (await ask.metaValues(Number(id), '_wp_attachment_image_alt'))[0];
    const withPicture = async (person: Visitor, kind: 'venues' | 'organizers', fields: Record<string, string>) => {
      const place = `/admin/${kind}/new`;
      const own = `/admin/${kind}/${idOf(await sendPicture(person, await person.get(place), place, fields))}`;
      const page = await person.get(own);
      return { own, page, image: new Map(formIn(page.text, own)).get('image[id]') };
    };

    it('gets a new description when the record is saved, but not from a refused form', async () => {
      const admin = await openVisitor(ask, 'admin');
      const { own, page, image } = await withPicture(admin, 'organizers', { organizer: 'Anna', 'image[alt]': 'A barn' });
      expect(await altOf(image)).toBe('A barn');
      const refused = await admin.submit(page, own, { organizer: '', 'image[alt]': 'Another barn' });
      expect([refused.status, await altOf(image)]).toEqual([422, 'A barn']);
      expect(new Map(formIn(refused.text, own)).get('image[alt]')).toBe('Another barn');
      expect((await admin.submit(page, own, { phone: '1' })).status).toBe(303);
      const late = await admin.submit(page, own, { phone: '2', 'image[alt]': 'A third barn' });
      expect([late.status, await altOf(image)]).toEqual([409, 'A barn']);
      expect(new Map(formIn(late.text, own)).get('image[alt]')).toBe('A third barn');
      expect((await admin.submit(late, own)).status).toBe(303);
      expect(await altOf(image)).toBe('A third barn');
    });

    it.each([
      ['organizers', { organizer: 'Anna' }],
      ['venues', { venue: 'Barn' }],
      [
        'events',
        {
          title: 'Jazz',
          'start_date[date]': '2027-03-04',
          'start_date[time]': '20:30',
          'end_date[date]': '2027-03-04',
          'end_date[time]': '23:00',
        },
      ],
    ])('belongs to the new record that it was uploaded with, and is public once that is: %s', async (kind, fields) => {
      const admin = await openVisitor(ask, 'admin');
      const place = `/admin/${kind}/new`;
      const saved = await sendPicture(admin, await admin.get(place), place, { ...fields, status: 'draft' });
      const id = idOf(saved);
      const [image] = await ask.metaValues(id, '_thumbnail_id');
      expect([saved.status, (await ask.db().from('posts').where('ID', Number(image)).first())?.post_parent]).toEqual([303, id]);
      const isListed = async () => {
        const { body } = await ask.send('GET', '/wp-json/wp/v2/media?per_page=100');
        return body.some((one: { id: number }) => one.id === Number(image));
      };
      expect(await isListed()).toBe(false);
      await admin.submit(await admin.get(`/admin/${kind}/${id}`), `/admin/${kind}/${id}`, { status: 'publish' });
      expect(await isListed()).toBe(true);
    });

    it('stays where it is if a duplicate of its record shows it too', async () => {
      const admin = await openVisitor(ask, 'admin');
      const place = '/admin/organizers/new';
      const id = idOf(await sendPicture(admin, await admin.get(place), place, { organizer: 'Anna', status: 'publish' }));
      const [image] = await ask.metaValues(id, '_thumbnail_id');
      const row = () => ask.db().from('posts').where('ID', Number(image));
      await row().update({ post_parent: 0 });
      const copy = idOf(await admin.submit(await admin.get(`/admin/organizers/${id}/duplicate`), place, { organizer: 'Anna again' }));
      expect([await ask.metaValues(copy, '_thumbnail_id'), (await row().first())?.post_parent]).toEqual([[image], 0]);
    });

    it('stays chosen in a form that is shown again, and can be described there', async () => {
      const admin = await openVisitor(ask, 'admin');
      const before = await pictures();
      const place = '/admin/organizers/new';
      const refused = await sendPicture(admin, await admin.get(place), place, { organizer: '' });
      expect([refused.status, await pictures()]).toEqual([422, before + 1]);
      const image = new Map(formIn(refused.text, place)).get('image[id]');
      const id = idOf(await admin.submit(refused, place, { organizer: 'Anna', 'image[alt]': 'A barn' }));
      expect(await ask.metaValues(id, '_thumbnail_id')).toEqual([image]);
      expect((await ask.db().from('posts').where('ID', Number(image)).first())?.post_parent).toBe(id);
      expect([await altOf(image), await pictures()]).toEqual(['A barn', before + 1]);
    });

    it('is stored once if its form is sent twice', async () => {
      const admin = await openVisitor(ask, 'admin');
      const before = await pictures();
      const place = '/admin/organizers/new';
      const page = await admin.get(place);
      const sent = () => sendPicture(admin, page, place, { organizer: 'Anna', 'image[alt]': 'A barn' });
      const ids = [...(await Promise.all([sent(), sent()])), await sent()].map(idOf);
      expect([new Set(ids).size, await pictures()]).toEqual([1, before + 1]);
      expect(await ask.metaValues(ids[0]!, '_thumbnail_id')).toHaveLength(1);
    });

    it('is not left in the library if the database fails before the record is written', async () => {
      const admin = await openVisitor(ask, 'admin');
      const { site } = ask.running();
      const place = '/admin/organizers/new';
      const page = await admin.get(place);
      const before = await pictures();
      const outcomes: number[] = [];
      while (outcomes.at(-1) !== 303) {
        let isInserted = false;
        let reads = 0;
        const stop = site.db.driver.listen(({ sql }) => {
          isInserted ||= /^INSERT INTO `?wp_posts/i.test(sql);
          if (sql === 'COMMIT' && isInserted) reads ||= 1;
          else if (reads > 0 && /^\s*SELECT/i.test(sql) && reads++ === outcomes.length + 1) throw new DatabaseUnavailable('unreachable');
        });
        outcomes.push((await sendPicture(admin, page, place, { organizer: 'Anna' })).status);
        stop();
        expect([outcomes, await pictures()]).toEqual([outcomes, before + (outcomes.at(-1) === 303 ? 1 : 0)]);
      }
      expect(outcomes.length).toBeGreaterThan(5);
      expect(new Set(outcomes)).toEqual(new Set([503, 303]));
    });

    it('is refused with a list of the accepted types, even if the file is empty', async () => {
      const admin = await openVisitor(ask, 'admin');
      const place = '/admin/organizers/new';
      for (const file of [Buffer.alloc(0), Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')]) {
        const refused = await sendPicture(admin, await admin.get(place), place, { organizer: 'Anna' }, file);
        const said = elements(refused.text, ({ attribs }) => attribs.id === 'image-error').map(textOf);
        expect([refused.status, said]).toEqual([422, [expect.stringContaining('JPEG and PNG of up to 100 megapixels are accepted')]]);
        expect(new Map(formIn(refused.text, place)).get('organizer')).toBe('Anna');
      }
      const [input] = elements((await admin.get(place)).text, ({ attribs }) => attribs.name === 'image_file');
      expect(input?.attribs.accept).toBe('image/jpeg,image/png,image/gif,image/webp,image/avif');
    });

    it('that is too large is refused with the maximum size and a link back to the form', async () => {
      const admin = await openVisitor(ask, 'admin');
      const { id } = await ask.create('/organizers', { organizer: 'Anna' });
      const own = `/admin/organizers/${id}`;
      const refused = await sendPicture(admin, await admin.get(own), own, {}, Buffer.alloc(210_000));
      expect([refused.status, refused.text.includes('What you sent is too large: the limit is 204.8 kB.')]).toEqual([413, true]);
      expect(refused.text).toContain(`<a href="${own}">Back to the form</a>`);
    });

    it('is neither kept nor described by a request for coordinates', async () => {
      const admin = await openVisitor(ask, 'admin');
      const { own, page, image } = await withPicture(admin, 'venues', { venue: 'Barn', 'image[alt]': 'A barn' });
      const before = await pictures();
      const located = await sendPicture(admin, page, own, { locate: '1', 'image[alt]': 'Another barn' });
      expect([located.status, located.text.includes('Choose the picture again before you save')]).toEqual([200, true]);
      expect([await pictures(), await altOf(image)]).toEqual([before, 'A barn']);
      expect(new Map(formIn(located.text, own)).get('image[alt]')).toBe('Another barn');
    });

    it('is not described by the text of the image that it replaces', async () => {
      const admin = await openVisitor(ask, 'admin');
      const { own, page, image } = await withPicture(admin, 'organizers', { organizer: 'Anna', 'image[alt]': 'A barn' });
      const refused = await sendPicture(admin, page, own, { organizer: '' });
      const shown = new Map(formIn(refused.text, own));
      expect([refused.status, shown.get('image[id]') === image, shown.get('image[alt]')]).toEqual([422, false, '']);
      expect((await sendPicture(admin, page, own, {})).status).toBe(303);
      const [replaced] = await ask.metaValues(Number(own.split('/').at(-1)), '_thumbnail_id');
      expect([replaced === image, await altOf(replaced), await altOf(image)]).toEqual([false, undefined, 'A barn']);
      expect((await sendPicture(admin, await admin.get(own), own, { 'image[alt]': 'A mill' })).status).toBe(303);
      expect(await altOf((await ask.metaValues(Number(own.split('/').at(-1)), '_thumbnail_id'))[0])).toBe('A mill');
    });

    it('keeps the description that another editor has given it', async () => {
      const admin = await openVisitor(ask, 'admin');
      const { own, page, image } = await withPicture(admin, 'organizers', { organizer: 'Anna', 'image[alt]': 'A barn' });
      const describe = (alt_text: string) => ask.send('POST', `/wp-json/wp/v2/media/${image}`, { body: { alt_text }, as: 'admin' });
      expect((await describe('A red barn')).status).toBe(200);
      expect((await admin.submit(page, own, { phone: '1' })).status).toBe(303);
      expect(await altOf(image)).toBe('A red barn');
      const late = await admin.get(own);
      await describe('A red barn in May');
      const refused = await admin.submit(late, own, { phone: '2', 'image[alt]': 'A barn at night' });
      const saved = elements(refused.text, ({ attribs }) => attribs.class === 'saved-now').map(textOf);
      expect([refused.status, saved, await altOf(image)]).toEqual([409, ['1', 'A red barn in May'], 'A red barn in May']);
      expect(new Map(formIn(refused.text, own)).get('image[alt]')).toBe('A barn at night');
      expect((await admin.submit(refused, own)).status).toBe(303);
      expect(await altOf(image)).toBe('A barn at night');
    });

    it('shows the new description of an image in a form that conflicts with another change', async () => {
      const admin = await openVisitor(ask, 'admin');
      const { own, page, image } = await withPicture(admin, 'organizers', { organizer: 'Anna', 'image[alt]': 'A barn' });
      await ask.send('POST', `/wp-json/wp/v2/media/${image}`, { body: { alt_text: 'A red barn' }, as: 'admin' });
      await ask.update(own.replace('/admin', ''), { phone: '1' });
      const refused = await admin.submit(page, own, { phone: '2' });
      expect([refused.status, new Map(formIn(refused.text, own)).get('image[alt]')]).toEqual([409, 'A red barn']);
      expect((await admin.submit(refused, own)).status).toBe(303);
      expect(await altOf(image)).toBe('A red barn');
    });

    it('shows the picture of the other editor in a form that conflicts with a change of it', async () => {
      const admin = await openVisitor(ask, 'admin');
      const { own, page } = await withPicture(admin, 'organizers', { organizer: 'Anna', 'image[alt]': 'A barn' });
      expect((await sendPicture(admin, page, own, { 'image[alt]': 'A mill' })).status).toBe(303);
      const refused = await admin.submit(page, own, { phone: '2' });
      const [shown] = elements(refused.text, ({ attribs }) => attribs.class === 'form-image');
      expect([refused.status, shown?.attribs.alt, new Map(formIn(refused.text, own)).get('image[alt]')]).toEqual([409, 'A mill', 'A mill']);
    });

    it('of somebody else cannot be described, and the form says so', async () => {
      const [admin, author] = [await openVisitor(ask, 'admin'), await openVisitor(ask, 'auth')];
      const { image } = await withPicture(admin, 'organizers', { organizer: 'Anna', 'image[alt]': 'A barn' });
      const { id } = await ask.create('/organizers', { organizer: 'Otto', image: Number(image) }, 'auth');
      const own = `/admin/organizers/${id}`;
      const page = await author.get(own);
      const labels = elements(page.text, ({ attribs }) => attribs.for === 'image-alt').map(textOf);
      expect([labels, new Map(formIn(page.text, own)).get('image[alt]')]).toEqual([['Description of a new picture'], '']);
      expect(page.text).toContain('Description of the picture: <bdi>A barn</bdi>');
      expect((await author.submit(page, own, { phone: '1' })).status).toBe(303);
      const refused = await author.submit(await author.get(own), own, { 'image[alt]': 'Mine' });
      const said = elements(refused.text, ({ attribs }) => attribs.id === 'image-error').map(textOf);
      expect([refused.status, said, await altOf(image)]).toEqual([422, [expect.stringContaining('you may not change')], 'A barn']);
      expect(new Map(formIn(refused.text, own)).get('image[alt]')).toBe('Mine');
      // A file that is refused is the first thing to know.
      const broken = await sendPicture(author, await author.get(own), own, { 'image[alt]': 'Mine' }, Buffer.from('no picture'));
      const reasons = elements(broken.text, ({ attribs }) => attribs.id === 'image-error').map(textOf);
      expect([broken.status, reasons]).toEqual([422, [expect.not.stringContaining('you may not change')]]);
    });

    it('that another editor has saved is shown with its title', async () => {
      const admin = await openVisitor(ask, 'admin');
      const { own, page } = await withPicture(admin, 'organizers', { organizer: 'Anna', 'image[alt]': 'A barn' });
      const { image: theirs = '' } = await withPicture(admin, 'organizers', { organizer: 'Otto', 'image[alt]': 'A mill' });
      await ask.send('POST', `/wp-json/wp/v2/media/${theirs}`, { body: { title: 'The <i>mill</i> & co' }, as: 'admin' });
      await ask.update(`/organizers/${own.split('/').at(-1)}`, { image: Number(theirs) });
      const late = await admin.submit(page, own, { 'image[remove]': '1' });
      const saved = elements(late.text, ({ attribs }) => attribs.class === 'saved-now').map(textOf);
      expect([late.status, saved]).toEqual([409, ['The mill & co']]);
      const shown = elements(late.text, ({ name, parent }) => name === 'img' && Object(parent).attribs?.class === 'theirs');
      expect(shown.map(({ attribs }) => attribs.alt)).toEqual(['A mill']);
      expect(late.headers['content-security-policy']).toContain(new URL(shown[0]!.attribs.src!, 'http://x.example').origin);
    });

    it('is left out of a copy if it was deleted, and can be removed if it is deleted later', async () => {
      const contrib = await openVisitor(ask, 'contrib');
      const admin = await openVisitor(ask, 'admin');
      const { own, image } = await withPicture(admin, 'organizers', { organizer: 'Anna' });
      const id = Number(own.split('/').at(-1));
      await ask.writeRows((db) => db.from('posts').where('ID', id).update({ post_author: 4, post_status: 'draft' }));
      const place = '/admin/organizers/new';
      const copy = await contrib.get(`${own}/duplicate`);
      await ask.writeRows((db) => db.from('posts').where('ID', Number(image)).delete());
      const refused = await contrib.submit(copy, place, { organizer: 'Otto' });
      expect([refused.status, refused.text.includes('it has been deleted, or you may not see it')]).toEqual([422, true]);
      expect((await contrib.submit(refused, place, { 'image[remove]': '1' })).status).toBe(303);
      const later = await contrib.get(`${own}/duplicate`);
      expect(new Map(formIn(later.text, place)).get('image[id]')).toBe('0');
      expect((await contrib.submit(later, place, { organizer: 'Otto' })).status).toBe(303);
      const page = await contrib.get(own);
      expect((await contrib.submit(page, own, { 'image[remove]': '1' })).status).toBe(303);
      expect(await ask.metaValues(id, '_thumbnail_id')).toEqual([]);
    });

    it('is shown if it belongs to a draft of somebody else, but is that of a record that the user sees', async () => {
      const admin = await openVisitor(ask, 'admin');
      const contrib = await openVisitor(ask, 'contrib');
      const { own, image } = await withPicture(admin, 'organizers', { organizer: 'Anna' });
      const id = Number(own.split('/').at(-1));
      await ask.update(`/organizers/${id}`, { status: 'draft' });
      const other = await ask.create('/organizers', { organizer: 'Otto', image: Number(image) });
      await ask.writeRows((db) => db.from('posts').where('ID', other.id).update({ post_author: 4, post_status: 'draft' }));
      const { text } = await contrib.get(`/admin/organizers/${other.id}`);
      expect([text.includes('class="form-image"'), text.includes('image[remove]')]).toEqual([true, true]);
      await ask.writeRows((db) => db.from('postmeta').where({ post_id: other.id, meta_key: '_thumbnail_id' }).delete());
      expect((await contrib.get(`/admin/organizers/${id}`)).status).toBe(403);
    });

    it('is described together with the creation of its record, or neither takes place', async () => {
      const admin = await openVisitor(ask, 'admin');
      const { own, image } = await withPicture(admin, 'organizers', { organizer: 'Anna', 'image[alt]': 'A barn' });
      const place = '/admin/organizers/new';
      const copy = await admin.get(`${own}/duplicate`);
      await ask.send('POST', `/wp-json/wp/v2/media/${image}`, { body: { alt_text: 'A red barn' }, as: 'admin' });
      const count = async () => (await ask.db().from('posts').where('post_type', 'tribe_organizer').select('ID')).length;
      const before = await count();
      const refused = await admin.submit(copy, place, { organizer: 'Otto', 'image[alt]': 'A mill' });
      expect([refused.status, await count(), await altOf(image)]).toEqual([409, before, 'A red barn']);
      expect(elements(refused.text, ({ attribs }) => attribs.class === 'saved-now').map(textOf)).toEqual(['A red barn']);
      expect((await admin.submit(refused, place)).status).toBe(303);
      expect([await count(), await altOf(image)]).toEqual([before + 1, 'A mill']);
    });
  },
  // No server listens there.
  { GEOCODER_URL: 'http://127.0.0.1:9/?q={address}', UPLOAD_LIMIT: '200kb' },
);

describeRequests(
  'an image for which there is no space',
  (ask) => {
    it('leaves the form as it was typed, to be saved without the image', async () => {
      const admin = await openVisitor(ask, 'admin');
      const place = '/admin/organizers/new';
      const refused = await pictureSender(ask)(admin, await admin.get(place), place, { organizer: 'Anna' });
      const said = elements(refused.text, ({ attribs }) => attribs.id === 'image-error').map(textOf);
      expect([refused.status, said]).toEqual([422, ['Files cannot be stored at the moment.']]);
      expect((await admin.submit(refused, place)).status).toBe(303);
    });
  },
  { UPLOADS_DIR: '/dev/null/uploads' },
);

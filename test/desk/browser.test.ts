import { expect, it } from '@jest/globals';
import { createPasswordLink, LINK_LIFETIME_SECONDS, linkQuery } from '../../src/accounts/password-links.ts';
import { deskRoutes } from '../../src/desk/routes.ts';
import { accessibilityFaults, describeInBrowser, faultsOfAnswer, VIEWS } from '../support/browser.ts';
import { openVisitor } from '../support/desk-visitor.ts';
import { sharp } from '../support/image-library.ts';
import { describeRequests } from '../support/site-client.ts';

const PASSWORD = 'a long enough password';
const EVENT = 'Concert at the barn';

describeInBrowser('the desk in a browser', (visit) => {
  describeRequests('', (ask) => {
    const at = (path: string) => ask.running().base + path;
    const linkFor = async (login: string) => {
      let query = '';
      await ask.writeRows(async () => {
        query = linkQuery(await createPasswordLink(ask.running().site, login, LINK_LIFETIME_SECONDS.first));
      });
      return at(`/admin/welcome?${query}`);
    };

    it.each([
      ['with scripts', true],
      ['without scripts', false],
    ])('takes an editor from the first link to a published concert, the month and an invitation, %s', async (_, javaScriptEnabled) => {
      const { page, complaints } = await visit({ javaScriptEnabled, locale: 'en' });
      page.removeAllListeners('dialog').on('dialog', (dialog) => void dialog.accept());
      await page.goto(await linkFor('admin'));
      await page.getByLabel('New password').fill(PASSWORD);
      await page.getByLabel('Repeat the password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Save and sign in' }).click();
      await page.getByRole('link', { name: 'New event' }).click();
      await page.getByLabel('Title').fill(EVENT);
      await page.locator('[name="start_date[date]"]').fill('2027-03-04');
      await page.locator('[name="start_date[time]"]').fill('21:00');
      await page.locator('[name="end_date[date]"]').fill('2027-03-04');
      await page.locator('[name="end_date[time]"]').fill('23:00');
      await page.locator('[name="venue[add][]"]').fill('The old barn');
      const picture = await sharp({ create: { width: 40, height: 30, channels: 3, background: '#a33' } })
        .png()
        .toBuffer();
      await page.locator('[name="image_file"]').setInputFiles({ name: 'barn.png', mimeType: 'image/png', buffer: picture });
      await page.getByLabel('Description of the picture').fill('A red barn');
      await page.locator('#website').fill('no address at all <x>');
      await page.getByRole('button', { name: 'Save' }).click();
      // Errors are shown, and nothing of the form is lost, not even the image.
      expect(await page.locator('#website-error').textContent()).toContain('is not a web address');
      await page.locator('#website').fill('https://barn.example/');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Created.').waitFor();
      const { events } = await ask.read('/events?search=barn&start_date=2027-01-01');
      expect(events).toMatchObject([
        {
          title: EVENT,
          status: 'publish',
          start_date: '2027-03-04 21:00:00',
          venue: { venue: 'The old barn' },
          website: 'https://barn.example/',
        },
      ]);
      expect(events[0].image).toMatchObject({ width: 40 });
      await page.goto(at('/admin/month?month=2027-03'));
      await page.getByRole('link', { name: EVENT }).click();
      await page.getByRole('button', { name: 'Move to trash' }).click();
      if (!javaScriptEnabled) await page.getByRole('button', { name: 'Yes, go ahead' }).click();
      await page.getByText('Moved to the trash.').waitFor();
      await page.goto(at('/admin/people'));
      await page.getByLabel('User name').fill('bruno');
      await page.getByLabel('E-mail address').fill('bruno@example.org');
      await page.getByRole('button', { name: 'Create the invitation' }).click();
      expect(await page.locator('.shown-once').textContent()).toMatch(/\/admin\/welcome\?login=bruno&token=\w{24}$/);
      // No server listens at the address of the sample site's images, and refused forms have status 422.
      expect(complaints.filter((one) => !/CONNECTION_REFUSED|status of 422/.test(one))).toEqual([]);
    });

    it('keeps the text of an unsent form when the page is left, and offers it again', async () => {
      const { page } = await visit({ locale: 'en' });
      await page.goto(await linkFor('admin'));
      await page.getByLabel('New password').fill(PASSWORD);
      await page.getByLabel('Repeat the password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Save and sign in' }).click();
      await page.goto(at('/admin/venues/new'));
      await page.getByLabel('Name', { exact: true }).fill('Half a venue');
      await page.goto(at('/admin/events'));
      await page.goto(at('/admin/venues/new'));
      await page.getByRole('button', { name: 'Bring them back' }).click();
      expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Half a venue');
    });

    it('keeps a draft of a new record while another is saved, and shows both versions if the record was saved since', async () => {
      const admin = await openVisitor(ask, 'admin');
      const [name = '', value = ''] = admin.cookie().split('=');
      const { page } = await visit({ locale: 'en' });
      await page.context().addCookies([{ name, value, url: at('/admin') }]);
      const { id } = await ask.create('/venues', { venue: 'Hall', city: 'Asti' });
      const title = page.getByLabel('Name', { exact: true });
      await page.goto(at('/admin/venues/new'));
      await title.fill('Half a venue');
      await page.goto(at(`/admin/venues/${id}`));
      await page.locator('#phone').fill('1');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved.').waitFor();
      await page.locator('#phone').fill('22');
      await ask.update(`/venues/${id}`, { city: 'Alba' });
      await page.goto(at(`/admin/venues/${id}`));
      await page.getByRole('button', { name: 'Bring them back' }).click();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Somebody else saved this record').waitFor();
      expect(await page.locator('.theirs .saved-now').allTextContents()).toContain('Alba');
      expect(await page.locator('#phone').inputValue()).toBe('22');
      // The draft is not offered in the form for a duplicate of the record.
      await page.goto(at(`/admin/venues/${id}/duplicate`));
      expect(await page.getByRole('button', { name: 'Bring them back' }).count()).toBe(0);
      await page.goto(at('/admin/venues/new'));
      await page.getByRole('button', { name: 'Bring them back' }).click();
      expect(await title.inputValue()).toBe('Half a venue');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Created.').waitFor();
      await page.goto(at('/admin/venues/new'));
      expect(await page.getByRole('button', { name: 'Bring them back' }).count()).toBe(0);
    });

    it('keeps what a form contains that is shown again, and its picture, instead of offering what was sent', async () => {
      const admin = await openVisitor(ask, 'admin');
      const [name = '', value = ''] = admin.cookie().split('=');
      const { page } = await visit({ locale: 'en' });
      await page.context().addCookies([{ name, value, url: at('/admin') }]);
      const offer = page.getByRole('button', { name: 'Bring them back' });
      const pictureId = page.locator('[name="image[id]"]');
      await page.goto(at('/admin/organizers/new'));
      await page.getByLabel('Name', { exact: true }).fill('Millers');
      const picture = await sharp({ create: { width: 4, height: 3, channels: 3, background: '#a33' } })
        .png()
        .toBuffer();
      await page.locator('[name="image_file"]').setInputFiles({ name: 'mill.png', mimeType: 'image/png', buffer: picture });
      await page.locator('#website').fill('no address <x>');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.locator('#website-error').waitFor();
      const id = await pictureId.inputValue();
      expect([Number(id) > 0, await offer.count()]).toEqual([true, 0]);
      await page.goto(at('/admin/organizers/new'));
      await offer.click();
      expect([await pictureId.inputValue(), await page.locator('#website').inputValue()]).toEqual([id, 'no address <x>']);
      await page.goto(at('/admin/tags'));
      await page.getByLabel('Name', { exact: true }).fill('x'.repeat(201));
      await page.getByRole('button', { name: 'Save' }).click();
      await page.locator('.error-summary, .error').first().waitFor();
      expect(await offer.count()).toBe(0);
    });

    it('shows both versions, too, if a restored draft is left and restored once more', async () => {
      const admin = await openVisitor(ask, 'admin');
      const [name = '', value = ''] = admin.cookie().split('=');
      const { page } = await visit({ locale: 'en' });
      await page.context().addCookies([{ name, value, url: at('/admin') }]);
      const { id } = await ask.create('/venues', { venue: 'Hall', city: 'Asti' });
      await page.goto(at(`/admin/venues/${id}`));
      await page.locator('#phone').fill('1');
      await ask.update(`/venues/${id}`, { city: 'Alba' });
      for (const phone of ['12', '123']) {
        await page.goto(at(`/admin/venues/${id}`));
        await page.getByRole('button', { name: 'Bring them back' }).click();
        await page.locator('#phone').fill(phone);
      }
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Somebody else saved this record').waitFor();
      const shown = await Promise.all(['#city', '#phone'].map((field) => page.locator(field).inputValue()));
      expect(shown).toEqual(['Alba', '123']);
    });

    it('offers the text of an unsent category form, too, until that category is saved', async () => {
      const admin = await openVisitor(ask, 'admin');
      const [name = '', value = ''] = admin.cookie().split('=');
      const { page } = await visit({ locale: 'en' });
      await page.context().addCookies([{ name, value, url: at('/admin') }]);
      const { id } = await ask.create('/categories', { name: 'Dance' });
      const description = page.locator('#description');
      const restore = page.getByRole('button', { name: 'Bring them back' });
      await page.goto(at('/admin/categories'));
      await description.fill('Of a new one');
      await page.goto(at(`/admin/categories/${id}`));
      await description.fill('Tango and more');
      await page.goto(at(`/admin/categories/${id}`));
      await restore.click();
      expect(await description.inputValue()).toBe('Tango and more');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved.', { exact: true }).waitFor();
      await restore.click();
      expect(await description.inputValue()).toBe('Of a new one');
      await ask.update(`/categories/${id}`, { description: 'Waltz' });
      await page.goto(at(`/admin/categories/${id}`));
      expect([await description.inputValue(), await restore.count()]).toEqual(['Waltz', 0]);
    });

    it('keeps text typed after saving, though the page is loaded again', async () => {
      const admin = await openVisitor(ask, 'admin');
      const [name = '', value = ''] = admin.cookie().split('=');
      const { page } = await visit({ locale: 'en' });
      await page.context().addCookies([{ name, value, url: at('/admin') }]);
      const { id } = await ask.create('/venues', { venue: 'Hall', city: 'Asti' });
      await page.goto(at(`/admin/venues/${id}`));
      await page.locator('#phone').fill('1');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved.').waitFor();
      await page.locator('#phone').fill('22');
      await page.reload();
      await page.getByRole('button', { name: 'Bring them back' }).click();
      expect(await page.locator('#phone').inputValue()).toBe('22');
    });

    it('keeps the end date that follows the start, and restores it together with every organizer typed', async () => {
      const admin = await openVisitor(ask, 'admin');
      const [name = '', value = ''] = admin.cookie().split('=');
      const { page, complaints } = await visit({ locale: 'en' });
      await page.context().addCookies([{ name, value, url: at('/admin') }]);
      const { id } = await ask.create('/events', { title: 'Fair', start_date: '2027-03-04 10:00', end_date: '2027-03-04 12:00' });
      const box = (part: string) => page.locator(`[name="${part}"]`);
      const ends = async () => [await box('end_date[date]').inputValue(), await box('end_date[time]').inputValue()];
      await page.goto(at(`/admin/events/${id}`));
      await box('organizer[add][]').fill('Anna');
      await box('website').fill('no address <x>');
      await page.getByRole('button', { name: 'Save' }).click();
      await box('organizer[add][]').nth(1).fill('Bruno');
      // The field is cleared first, as users do when they type another date.
      await box('start_date[date]').fill('');
      await box('start_date[date]').fill('2027-03-10');
      expect(await ends()).toEqual(['2027-03-10', '12:00']);
      await page.goto(at(`/admin/events/${id}`));
      await page.getByRole('button', { name: 'Bring them back' }).click();
      expect(await ends()).toEqual(['2027-03-10', '12:00']);
      const typed = (inputs: unknown[]) => inputs.map((input) => (input as { value: string }).value);
      expect(await box('organizer[add][]').evaluateAll(typed)).toEqual(['Anna', 'Bruno']);
      await box('start_date[time]').fill('11:00');
      expect(await ends()).toEqual(['2027-03-10', '13:00']);
      expect(complaints.filter((one) => !/CONNECTION_REFUSED|status of 422/.test(one))).toEqual([]);
    });

    it('offers the choices for the present input, though those for an earlier one arrive later', async () => {
      const admin = await openVisitor(ask, 'admin');
      const [name = '', value = ''] = admin.cookie().split('=');
      const { page, complaints } = await visit({ locale: 'en' });
      await page.context().addCookies([{ name, value, url: at('/admin') }]);
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route('**/admin/find/venues?**', async (route) => {
        const typed = new URL(route.request().url()).searchParams.get('q');
        if (typed === 'o') await held;
        if (typed === 'none') await route.abort();
        else await route.fulfill({ json: [`Found for ${typed}`] });
      });
      await page.goto(at('/admin/events/new'));
      const box = page.locator('[name="venue[add][]"]');
      const choices = page.locator('#venue-choices option');
      const asked = page.waitForRequest('**/admin/find/venues?q=o');
      await box.fill('o');
      await asked;
      await box.fill('od');
      const present = page.locator('#venue-choices option[value="Found for od"]');
      await present.waitFor({ state: 'attached' });
      const late = page.waitForResponse('**/admin/find/venues?q=o');
      release();
      await (await late).finished();
      const failed = page.waitForEvent('requestfailed');
      await box.fill('none');
      await failed;
      expect([await choices.count(), await present.count()]).toEqual([1, 1]);
      expect(complaints.filter((one) => !/CONNECTION_REFUSED|ERR_FAILED/.test(one))).toEqual([]);
    });

    it.each([true, false])(
      'carries out the actions of a row, and shows when an all-day event is published (scripts: %s)',
      async (scripts) => {
        const admin = await openVisitor(ask, 'admin');
        const [name = '', value = ''] = admin.cookie().split('=');
        const { page } = await visit({ javaScriptEnabled: scripts, locale: 'en' });
        await page.context().addCookies([{ name, value, url: at('/') }]);
        const { id } = await ask.create('/venues', { venue: `Row ${scripts}` });
        await page.goto(at('/admin/venues'));
        await page.getByRole('button', { name: `Move to trash: Row ${scripts}` }).click();
        await page.getByText('Moved to the trash.').waitFor();
        expect((await ask.get(`/venues/${id}`)).status).toBeGreaterThan(400);
        await page.goto(at('/admin/events/new'));
        await page.locator('#all_day').check();
        const shown = (field: string) => page.locator(`[name="${field}[time]"]`).isVisible();
        expect([await shown('start_date'), await shown('end_date'), await shown('date')]).toEqual([false, false, true]);
      },
    );

    it('creates one record if the button is clicked twice', async () => {
      const admin = await openVisitor(ask, 'admin');
      const [name = '', value = ''] = admin.cookie().split('=');
      const { page } = await visit({ locale: 'en' });
      await page.context().addCookies([{ name, value, url: at('/admin') }]);
      await page.goto(at('/admin/venues/new'));
      await page.getByLabel('Name', { exact: true }).fill('Clicked twice');
      // The first answer is delayed.
      let sent = 0;
      await page.route('**/admin/venues/new', async (route) => {
        if (route.request().method() === 'POST') sent += 1;
        await new Promise((resolve) => setTimeout(resolve, 1000));
        await route.continue().catch(() => undefined);
      });
      const clicks = `const button = document.querySelector('.form-buttons .button-main');
        button.click(); setTimeout(() => button.click(), 200)`;
      await page.evaluate(clicks);
      await page.getByText('Created.').waitFor();
      expect([sent, (await ask.read('/venues?search=clicked')).total]).toEqual([1, 1]);
      // A form sent again after going back creates another record.
      await page.goBack();
      await page.getByLabel('Name', { exact: true }).fill('Clicked again');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Created.').waitFor();
      expect(sent).toBe(2);
    });

    it('shows the chosen image, or one that is dropped, before it is saved', async () => {
      const admin = await openVisitor(ask, 'admin');
      const [name = '', value = ''] = admin.cookie().split('=');
      const { page, complaints } = await visit({ locale: 'en' });
      await page.context().addCookies([{ name, value, url: at('/admin') }]);
      await page.goto(at('/admin/events/new'));
      const pictureOf = async (background: string, width: number) => ({
        name: 'chosen.png',
        mimeType: 'image/png',
        buffer: await sharp({ create: { width, height: 30, channels: 3, background } })
          .png()
          .toBuffer(),
      });
      const [input, figure] = [
        page.locator('[name="image_file"]'),
        page.getByRole('figure', { name: 'The chosen picture, which is not saved yet' }),
      ];
      expect(await figure.count()).toBe(0);
      await input.setInputFiles(await pictureOf('#a33', 40));
      await figure.waitFor();
      const width = () => figure.locator('img').evaluate((shown) => (shown as unknown as { naturalWidth: number }).naturalWidth);
      expect(await width()).toBe(40);
      await input.setInputFiles(await pictureOf('#3a3', 50));
      while ((await width()) !== 50) await page.waitForTimeout(20);
      // Files that are not images are not shown, nor images that are removed again.
      await input.setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
      expect(await figure.count()).toBe(0);
      await input.setInputFiles([]);
      expect(await figure.count()).toBe(0);
      // A file that is too large keeps the form open.
      await page.locator('[data-drop]').evaluate((field) => field.setAttribute('data-most', '100'));
      await input.setInputFiles(await pictureOf('#33a', 60));
      const said = () => input.evaluate((element) => (element as unknown as { validationMessage: string }).validationMessage);
      expect(await said()).toMatch(/^This file is too large: the limit is 16\.7.MB\.$/);
      await input.setInputFiles([]);
      expect(await said()).toBe('');
      expect(complaints).toEqual([]);
    });

    it('says dates in words, selects all rows, and asks for confirmation before many records are deleted', async () => {
      const admin = await openVisitor(ask, 'admin');
      const [name = '', value = ''] = admin.cookie().split('=');
      const { page } = await visit({ locale: 'en' });
      await page.context().addCookies([{ name, value, url: at('/admin') }]);
      // By the clock of the site.
      for (const [time_format, said] of [
        ['g:i a', /^Thursday, March 4, 2027.*9:00.*11:00.PM$/],
        ['H:i', /^Thursday, March 4, 2027.*21:00.*23:00$/],
      ] as const) {
        await ask.options({ time_format });
        await page.goto(at('/admin/events/new?day=2027-03-04'));
        await page.locator('[name="start_date[time]"]').fill('21:00');
        await page.locator('[name="end_date[time]"]').fill('23:00');
        expect(await page.locator('.dates-said').textContent()).toMatch(said);
      }
      await ask.options({ time_format: 'H:i', WPLANG: 'en_GB' });
      await page.goto(at('/admin/events/new?day=2027-03-04'));
      expect(await page.locator('.dates-said').textContent()).toMatch(/^Thursday,? 4 March 2027/);
      for (const venue of ['One', 'Two']) {
        const { id } = await ask.create('/venues', { venue });
        await ask.writeRows((db) => db.from('posts').where('ID', id).update({ post_status: 'trash' }));
      }
      await page.goto(at('/admin/venues?status=trash'));
      await page.getByLabel('Select all on this page').check();
      await page.locator('[name=action]').selectOption('delete');
      const asked: string[] = [];
      page.removeAllListeners('dialog').on('dialog', (dialog) => {
        asked.push(dialog.message());
        void dialog.dismiss();
      });
      await page.getByRole('button', { name: 'Apply' }).click();
      expect(asked).toEqual([expect.stringContaining('Delete the selected records for good?')]);
      expect(await page.locator('tbody [type=checkbox]:checked').count()).toBe(await page.locator('tbody tr').count());
    });

    it('tells users that their session has ended while a task goes on', async () => {
      const admin = await openVisitor(ask, 'admin');
      const [name = '', value = ''] = admin.cookie().split('=');
      const { page } = await visit({ locale: 'en' });
      await page.context().addCookies([{ name, value, url: at('/admin') }]);
      const run = { source: 'csv long.csv', run: 1, done: 400, report: '', open: 1, touched_at: '2026-11-20 12:00:00' };
      await ask.writeRows((db) => db.from('fasti_imports').insert(run));
      await page.goto(at('/admin/import/progress?source=csv%20long.csv&total=900'));
      await page.getByText('400 of 900 entries are done.').waitFor();
      await page.context().clearCookies();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await ask.writeRows((db) => db.from('fasti_imports').where('source', run.source).delete());
    });

    it('breaks no word of a heading or a status', async () => {
      const admin = await openVisitor(ask, 'admin');
      const [name = '', value = ''] = admin.cookie().split('=');
      const { page } = await visit({ locale: 'it', viewport: { width: 720, height: 900 } });
      await page.context().addCookies([{ name, value, url: at('/admin') }]);
      await page.goto(at('/admin/events'));
      const broken = await page.locator('.list thead th, .column-status').evaluateAll((cells) =>
        cells.flatMap((cell) => {
          const range = document.createRange();
          range.selectNodeContents(cell);
          const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
          return lines > (cell.textContent ?? '').trim().split(/\s+/).length ? [cell.textContent] : [];
        }),
      );
      expect(broken).toEqual([]);
    });

    it.each(VIEWS.map((view) => [`${view.colorScheme}, ${view.viewport?.width} wide`, view] as const))(
      'has no accessibility fault that axe-core finds (%s)',
      async (_, view) => {
        const admin = await openVisitor(ask, 'admin');
        const [name = '', value = ''] = admin.cookie().split('=');
        const locale = view.colorScheme === 'dark' ? 'it' : 'en';
        const { page } = await visit({ ...view, locale });
        // Long names, as users write them.
        const long = 'The large hall behind the old town hall by the market, '.repeat(2);
        const word = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';
        const { id } = await ask.create('/events', {
          title: long,
          start_date: '2027-01-01 10:00',
          end_date: '2027-01-01 11:00',
          venue: { venue: long + word, city: 'Asti' },
        });
        await page.goto(at('/admin/sign-in'));
        expect(await accessibilityFaults(page)).toEqual([]);
        await page.context().addCookies([{ name, value, url: at('/admin') }]);
        const paths = deskRoutes.flatMap(({ method, path }) =>
          method === 'GET' &&
          !/find|welcome|sign-in/.test(path) &&
          (!path.includes(':id') || path === '/events/:id' || path === '/people/:id')
            ? [path.replace(':id', path.startsWith('/people') ? '1' : String(id))]
            : [],
        );
        const faults: string[] = [];
        for (const path of paths) {
          const answer = await admin.get(`/admin${path}`, { 'Accept-Language': locale });
          const found = await faultsOfAnswer(answer, ask.running().base, [view, locale], async () => {
            await page.goto(at(`/admin${path}`));
            return accessibilityFaults(page);
          });
          faults.push(...found.map((fault) => `${path}: ${fault}`));
        }
        expect(faults).toEqual([]);
      },
    );
  });
});

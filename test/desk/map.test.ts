import { expect, it } from '@jest/globals';
import { accessibilityFaults, describeInBrowser, VIEWS } from '../support/browser.ts';
import { openVisitor } from '../support/desk-visitor.ts';
import { sharp } from '../support/image-library.ts';
import { describeRequests } from '../support/site-client.ts';

const TILES = 'https://tiles.example';

describeInBrowser('the map in the form of a venue', (visit) => {
  describeRequests(
    '',
    (ask) => {
      const at = (path: string) => ask.running().base + path;

      /** Opens a venue's form in a browser that gets grey tiles; records all requested URLs outside the site. */
      const openForm = async (path: string, options: Parameters<typeof visit>[0] = {}) => {
        const [name = '', value = ''] = (await openVisitor(ask, 'admin')).cookie().split('=');
        const opened = await visit({ locale: 'en', ...options });
        const { page } = opened;
        const tile = await sharp({ create: { width: 256, height: 256, channels: 3, background: '#cde' } })
          .png()
          .toBuffer();
        const asked: string[] = [];
        page.on('request', (request) => {
          if (!request.url().startsWith(ask.running().base)) asked.push(request.url());
        });
        await page.route(`${TILES}/**`, (route) => route.fulfill({ contentType: 'image/png', body: tile }));
        await page.context().addCookies([{ name, value, url: at('/admin') }]);
        await page.goto(at(path));
        const coordinates = async () =>
          Promise.all(['geo_lat', 'geo_lng'].map(async (field) => Number(await page.locator(`[name="${field}"]`).inputValue())));
        return { ...opened, asked, coordinates };
      };
      const madeVenue = async () =>
        (await ask.create('/venues', { venue: 'Town hall', status: 'publish', geo_lat: 43.4663, geo_lng: 11.8829 })).id as number;

      it('moves the pin by keys, by dragging and by a click, and saves its position', async () => {
        const id = await madeVenue();
        const { page, asked, coordinates, complaints } = await openForm(`/admin/venues/${id}`);
        const pin = page.locator('.map-pin');
        await pin.focus();
        for (const key of ['ArrowUp', 'ArrowUp', 'ArrowRight', 'Shift+ArrowRight']) await page.keyboard.press(key);
        const [north = 0, east = 0] = await coordinates();
        expect(north).toBeGreaterThan(43.4663);
        expect(north).toBeCloseTo(43.4663, 2);
        expect(east).toBeGreaterThan(11.8829);
        expect(await page.locator('.map-told').textContent()).toBe(`${north}, ${east}`);
        await pin.scrollIntoViewIfNeeded();
        const { x = 0, y = 0, width = 0, height = 0 } = (await pin.boundingBox()) ?? {};
        await page.mouse.move(x + width / 2, y + height / 2);
        await page.mouse.down();
        await page.mouse.move(x + width / 2 - 60, y + height / 2 + 40, { steps: 5 });
        await page.mouse.up();
        const [south = 0, west = 0] = await coordinates();
        expect([south < north, west < east]).toEqual([true, true]);
        const frame = page.locator('.map-ground');
        await frame.click({ position: { x: 30, y: 60 } });
        const [chosen = 0, further = 0] = await coordinates();
        expect([chosen > south, further < west]).toEqual([true, true]);
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByText('Saved.').waitFor();
        const saved = await ask.read(`/venues/${id}`);
        expect([saved.geo_lat, saved.geo_lng]).toEqual([chosen, further]);
        expect(asked.length).toBeGreaterThan(0);
        expect(asked.filter((url) => !new RegExp(`^${TILES}/\\d+/\\d+/\\d+\\.png$`).test(url))).toEqual([]);
        expect(complaints).toEqual([]);
      });

      it('follows the fields, starts near other venues, and sets no coordinates by itself', async () => {
        await madeVenue();
        const { page, coordinates } = await openForm('/admin/venues/new');
        await page.locator('.map-pin-unset').waitFor();
        expect(await page.locator('[name="geo_lat"]').inputValue()).toBe('');
        await page.locator('[name="geo_lat"]').fill('43.5');
        await page.locator('[name="geo_lng"]').fill('11.9');
        await page.locator('.map-pin:not(.map-pin-unset)').waitFor();
        await page.getByRole('button', { name: 'Zoom in' }).click();
        expect(await coordinates()).toEqual([43.5, 11.9]);
        await page.locator('.map-pin').press('ArrowDown');
        expect((await coordinates())[0]).toBeLessThan(43.5);
      });

      it('is not shown without scripts, and loads nothing then', async () => {
        const { page, asked } = await openForm(`/admin/venues/${await madeVenue()}`, { javaScriptEnabled: false });
        expect(await page.locator('[data-tiles]').isVisible()).toBe(false);
        await page.locator('[name="geo_lat"]').fill('44');
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByText('Saved.').waitFor();
        expect(asked).toEqual([]);
      });

      it('allows images from the tile server only, and only on pages with a map', async () => {
        const admin = await openVisitor(ask, 'admin');
        const images = async (path: string) =>
          /img-src ([^;]*)/.exec(String((await admin.get(path)).headers['content-security-policy']))?.[1];
        expect(await images(`/admin/venues/${await madeVenue()}`)).toBe(`'self' ${TILES} data:`);
        expect(await images('/admin/organizers/new')).toBe("'self' data:");
        expect(await images('/admin/events')).toBe("'self' data:");
      });

      it.each(VIEWS.map((view) => [`${view.colorScheme}, ${view.viewport?.width} wide`, view] as const))(
        'has no accessibility fault that axe-core finds (%s)',
        async (_, view) => {
          const { page, complaints } = await openForm('/admin/venues/new', { ...view, locale: view.colorScheme === 'dark' ? 'it' : 'en' });
          await page.locator('.map-ground img').first().waitFor();
          expect(await accessibilityFaults(page)).toEqual([]);
          expect(complaints).toEqual([]);
        },
      );
    },
    { MAP_TILES: `${TILES}/{z}/{x}/{y}.png`, MAP_ATTRIBUTION: '© somebody' },
  );
});

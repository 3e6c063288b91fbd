import { expect, it } from '@jest/globals';
import { elements } from '../support/desk-visitor.ts';
import { insertTerms } from '../support/insert-terms.ts';
import { filtersOn } from '../support/page-filters.ts';
import { describeRequests } from '../support/site-client.ts';

describeRequests(
  'filters in use',
  (ask) => {
    it('have names, even if the page does not offer their records as choices', async () => {
      const venue = await ask.create('/venues', { venue: 'Old hall' });
      const organizer = await ask.create('/organizers', { organizer: 'Old band' });
      const [category, tag] = [await ask.create('/categories', { name: 'Old sort' }), await ask.create('/tags', { name: 'Old word' })];
      const query = `venue=${venue.id}&organizer=${organizer.id}&categories=${category.id}&tags=${tag.slug}`;
      const { chips, chosen } = filtersOn((await ask.send('GET', `/events/list/?${query}`)).text);
      expect(chips.slice(0, 4).sort()).toEqual(['Category: Old sort ×', 'Organizer: Old band ×', 'Tag: Old word ×', 'Venue: Old hall ×']);
      expect(chosen.sort()).toEqual(['Old band', 'Old hall', 'Old sort', 'Old word']);
      const unknown = filtersOn((await ask.send('GET', '/events/list/?city=Nowhere')).text);
      expect([unknown.chips, unknown.chosen]).toEqual([['Town: Nowhere ×'], ['Nowhere']]);
    });

    it('keep those that are too many to be named, so that sending the form again does not change them', async () => {
      const numbers = Array.from({ length: 22 }, (_, number) => number);
      for (const number of numbers) await ask.create('/categories', { name: `Sort ${number}`, slug: `sort-${number}` });
      const value = numbers.map((number) => `sort-${number}`).join(',');
      const { text } = await ask.send('GET', `/events/list/?categories=${value}`);
      const options = elements(text, ({ name, attribs }) => name === 'option' && 'selected' in attribs && attribs.value !== '');
      expect(options.map(({ attribs }) => attribs.value)).toEqual([value]);
    });

    it('offer up to 100 categories and tags, more than a page of the API', async () => {
      await insertTerms(ask, ['tribe_events_cat', 'post_tag'], 120);
      const { text } = await ask.send('GET', '/events/list/?filters=open');
      const values = elements(text, ({ name }) => name === 'option').map(({ attribs }) => attribs.value ?? '');
      const offered = (taxonomy: string) => values.filter((value) => value.startsWith(`aa-${taxonomy}-`)).length;
      expect([offered('tribe_events_cat'), offered('post_tag')]).toEqual([100, 100]);
    });

    it('that are no are not ticked', async () => {
      const shown = async (value: string) => {
        const { chips, ticked } = filtersOn((await ask.send('GET', `/events/list/?featured=${value}`)).text);
        return [chips, ticked];
      };
      expect(await shown('1')).toEqual([['Featured only ×'], 1]);
      expect(await shown('0')).toEqual([['Without featured events ×'], 0]);
    });
  },
  { PAGES: 'on' },
);

import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { loadViewer } from '../../src/accounts/viewer.ts';
import { ApiError } from '../../src/errors.ts';
import { kindOnSite } from '../../src/kinds/custom-fields.ts';
import { event } from '../../src/kinds/event.ts';
import { type Caller, callerFor } from '../../src/records/caller.ts';
import { acceptParams } from '../../src/records/input.ts';
import { changePost, createPost, deletePost, trashPost } from '../../src/records/writes/post-writes.ts';
import type { Site } from '../../src/site.ts';
import { languageFaults } from '../../src/storage/audit/language-audit.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { formOf } from '../../src/storage/languages/forms.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadLanguages, resetLanguages } from '../support/languages.ts';
import { serveDatabase } from '../support/running-site.ts';

/** One operation on events, which are given as positions in the list of existing events. */
type Step =
  | { readonly what: 'create'; readonly language: string; readonly of: number | undefined }
  | { readonly what: 'link'; readonly one: number; readonly other: number; readonly language: string }
  | { readonly what: 'move'; readonly one: number; readonly language: string }
  | { readonly what: 'leave'; readonly one: number; readonly language: string }
  | { readonly what: 'trash' | 'delete' | 'publish'; readonly one: number };

const language = fc.constantFrom('en', 'it');
const one = fc.nat(30);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ what: fc.constant('create' as const), language, of: fc.option(one, { nil: undefined }) }),
  fc.record({ what: fc.constant('link' as const), one, other: one, language }),
  fc.record({ what: fc.constant('move' as const), one, language }),
  fc.record({ what: fc.constant('leave' as const), one, language }),
  fc.record({ what: fc.constantFrom('trash' as const, 'delete' as const, 'publish' as const), one }),
);

describeDatabases('groups of translations', (open) => {
  const sites = new Map<string, { db: Database; site: Site; caller: Caller }>();

  beforeAll(async () => {
    for (const form of ['polylang', 'wpml'] as const) {
      const db = await loadLanguages(await open(), form);
      const { site, close } = await serveDatabase(db);
      after.push(close);
      const settings = await site.settings();
      const viewer = (await loadViewer(db, settings, 1))!;
      sites.set(form, { db, site, caller: callerFor(site, settings, viewer, { language: 'en' }) });
    }
  });
  const after: (() => Promise<void>)[] = [];
  afterAll(() => Promise.all(after.map((close) => close())));

  it.each(['polylang', 'wpml'] as const)('stay valid and mutual after random writes, stored by %s', async (form) => {
    const { db, site, caller } = sites.get(form)!;
    const kind = kindOnSite(event, caller.settings);
    const languages = caller.settings.contentLanguages!;
    const eventsOf = async () => (await db.from('posts').where('post_type', 'tribe_events').orderBy('ID').select('ID')).map(({ ID }) => ID);
    const faults = async () => {
      const found: Record<string, string[]> = {};
      for (const { name, find } of languageFaults(languages)) found[name] = await find(db);
      return found;
    };
    const run = async (taken: Step): Promise<void> => {
      const ids = await eventsOf();
      const at = (place: number) => ids[place % ids.length]!;
      const accept = (raw: Record<string, unknown>, mode: 'create' | 'change') => acceptParams(site, caller, kind.fields, raw, mode);
      if (taken.what === 'create') {
        const dates = { start_date: '2031-07-01 10:00', end_date: '2031-07-01 11:00' };
        const source = taken.of === undefined ? {} : { translation_of: at(taken.of) };
        await createPost(
          site,
          caller,
          kind,
          await accept({ title: 'New', ...dates, ...source, language: taken.language, status: 'publish' }, 'create'),
        );
      } else if (taken.what === 'link')
        await changePost(
          site,
          caller,
          kind,
          at(taken.one),
          await accept({ translations: { [taken.language]: at(taken.other) } }, 'change'),
        );
      else if (taken.what === 'move')
        await changePost(site, caller, kind, at(taken.one), await accept({ language: taken.language }, 'change'));
      else if (taken.what === 'leave')
        await changePost(site, caller, kind, at(taken.one), await accept({ translations: { [taken.language]: null } }, 'change'));
      else if (taken.what === 'publish') await changePost(site, caller, kind, at(taken.one), await accept({ status: 'publish' }, 'change'));
      else if (taken.what === 'trash') await trashPost(site, caller, kind, at(taken.one));
      else await deletePost(site, caller, kind, at(taken.one));
    };
    let carriedOut = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
        await resetLanguages(db, form);
        const before = await faults();
        for (const taken of steps) {
          try {
            await run(taken);
            carriedOut += 1;
          } catch (error) {
            if (!(error instanceof ApiError)) throw error;
          }
        }
        expect(await faults()).toEqual(before);
        const ids = await eventsOf();
        const { posts } = await formOf(languages).memberships(db, languages, { posts: ids, terms: [] });
        for (const [id, { language: code, members }] of posts) {
          expect(members.get(code!)).toBe(id);
          for (const [other, member] of members)
            if (ids.includes(member))
              expect([id, other, posts.get(member)?.language, posts.get(member)?.members.get(code!)]).toEqual([id, other, other, id]);
        }
      }),
      { numRuns: 12 },
    );
    expect(carriedOut).toBeGreaterThan(12);
  });
});

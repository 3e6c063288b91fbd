import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { loadLanguages, resetLanguages } from '../support/languages.ts';
import { commandIn, temporaryFolder } from './command.ts';

const NAMES = /^(languages?-|translations-)/;

describeDatabases('fasti doctor on content with languages', (open) => {
  const uploads = temporaryFolder();
  let db: Database;

  const fasti = (...args: string[]) =>
    commandIn({ DATABASE_URL: urlOf(db), UPLOADS_DIR: uploads, LOG_LEVEL: 'silent', SHARED_WITH_WORDPRESS: 'off' })('doctor', ...args);
  const told = async (): Promise<Map<string, string[]>> => {
    const { findings } = JSON.parse((await fasti('--format=json')).out) as { findings: { name: string; examples: string[] }[] };
    return new Map(findings.filter(({ name }) => NAMES.test(name)).map(({ name, examples }) => [name, examples]));
  };

  /** Damages a sound site and expects that the damage is found and repaired. */
  const isFound = async (name: string, harm: () => Promise<string>): Promise<void> => {
    await fasti('--fix', '--yes');
    const before = await told();
    const example = await harm();
    expect((await told()).get(name)).toContainEqual(expect.stringContaining(example));
    await fasti('--fix', '--yes');
    expect(await told()).toEqual(before);
  };

  describe('with Polylang', () => {
    let own: Database;
    beforeAll(async () => {
      own = await loadLanguages(await open(), 'polylang');
    });
    beforeEach(async () => {
      db = await resetLanguages(own, 'polylang');
    });
    const rowsOf = (taxonomy: string) => db.from('term_taxonomy').where('taxonomy', taxonomy).orderBy('term_taxonomy_id');
    const relate = (object_id: number, row: number) =>
      db.from('term_relationships').insert({ object_id, term_taxonomy_id: row, term_order: 0 });
    /** Returns the groups of translations with their members. */
    const groups = async (taxonomy: string) => {
      const rows = await rowsOf(taxonomy);
      const relations = await db.from('term_relationships').whereIn(
        'term_taxonomy_id',
        rows.map(({ term_taxonomy_id: row }) => row),
      );
      return rows.map(({ term_taxonomy_id: row, description }) => ({
        row,
        description: String(description),
        members: relations.filter((one) => one.term_taxonomy_id === row).map(({ object_id: object }) => object),
      }));
    };

    it('counts the records without a language, and names their kinds in words', async () => {
      const rows = (await rowsOf('language')).map(({ term_taxonomy_id: row }) => row);
      await db.from('term_relationships').whereIn('term_taxonomy_id', rows).delete();
      type Missing = { name: string; count: number; counts: [string, number][] };
      const missing = (JSON.parse((await fasti('--format=json')).out).findings as Missing[]).find(
        ({ name }) => name === 'languages-missing',
      )!;
      expect(missing.counts.length).toBeGreaterThan(2);
      const events = missing.counts.find(([kind]) => kind === 'event')![1];
      expect(missing.count).toBe(missing.counts.reduce((sum, [, count]) => sum + count, 0));
      const { out } = await fasti('--language=it');
      expect(out).toMatch(new RegExp(`Contenuti senza lingua: .* \\(${missing.count}\\)\n    eventi: ${events}\n`));
    });

    it.each(['post', 'term'])('finds a %s with two languages', (of) =>
      isFound('languages-twice', async () => {
        const [one, other] = await rowsOf(of === 'post' ? 'language' : 'term_language');
        const [{ object_id: object } = { object_id: 0 }] = await db
          .from('term_relationships')
          .where('term_taxonomy_id', one!.term_taxonomy_id);
        await relate(object, other!.term_taxonomy_id);
        return `${of} ${object}`;
      }),
    );

    it.each(['post', 'term'])('finds a %s in two groups of translations', (of) =>
      isFound('translations-twice', async () => {
        const [one, other] = await groups(`${of}_translations`);
        await relate(other!.members[0]!, one!.row);
        return `${of} ${other!.members[0]}`;
      }),
    );

    it.each(['post', 'term'])('finds a group of translations that does not name one of its members: %s', (of) =>
      isFound('translations-broken', async () => {
        const group = (await groups(`${of}_translations`)).find(({ members }) => members.length > 1)!;
        const [gone] = group.members;
        const description = group.description.replace(new RegExp(`i:${gone};`), 'i:99999;');
        expect(description).not.toBe(group.description);
        await db.from('term_taxonomy').where('term_taxonomy_id', group.row).update({ description });
        return String(gone);
      }),
    );

    it.each(['post', 'term'])(
      'keeps a %s without a language in its group, and restores the translation when it has a language again',
      async (of) => {
        await fasti('--fix', '--yes');
        const [first] = await rowsOf(of === 'post' ? 'language' : 'term_language');
        const before = await groups(`${of}_translations`);
        const spoken = await db.from('term_relationships').where('term_taxonomy_id', first!.term_taxonomy_id);
        await db.from('term_relationships').where('term_taxonomy_id', first!.term_taxonomy_id).delete();
        await fasti('--fix', '--yes');
        expect(await groups(`${of}_translations`)).toEqual(before);
        for (const { object_id: object } of spoken) await relate(object, first!.term_taxonomy_id);
        await fasti('--fix', '--yes');
        expect(await groups(`${of}_translations`)).toEqual(before);
        // The name of a language may also be missing.
        await db.from('terms').where('term_id', first!.term_id).delete();
        await fasti('--fix', '--yes');
        expect(await groups(`${of}_translations`)).toEqual(before);
      },
    );

    it('finds an empty group of translations', () =>
      isFound('translations-stale', async () => {
        await db.from('terms').insert({ term_id: 9001, name: 'pll_left', slug: 'pll_left', term_group: 0 });
        const row = { term_taxonomy_id: 9001, term_id: 9001, taxonomy: 'post_translations', description: 'a:0:{}', parent: 0, count: 0 };
        await db.from('term_taxonomy').insert(row);
        return 'pll_left';
      }));

    it.each(['language', 'term_language'])('finds a wrong count of a %s', (taxonomy) =>
      isFound('language-counts-wrong', async () => {
        const [row] = await rowsOf(taxonomy);
        await db.from('term_taxonomy').where('term_taxonomy_id', row!.term_taxonomy_id).update({ count: 77 });
        return ': 77 / ';
      }),
    );
  });

  describe('with WPML', () => {
    let own: Database;
    beforeAll(async () => {
      own = await loadLanguages(await open(), 'wpml');
    });
    beforeEach(async () => {
      db = await resetLanguages(own, 'wpml');
    });
    it.each(['post_tribe_events', 'post_tribe_venue', 'post_attachment', 'tax_tribe_events_cat'])(
      'finds the language of a deleted record: %s',
      (type) =>
        isFound('languages-of-nothing', async () => {
          const [row] = await db.from('icl_translations').where('element_type', 'post_tribe_events');
          const deleted = { translation_id: 90_001, element_type: type, element_id: 99_999, trid: 90_001 };
          await db.from('icl_translations').insert({ ...row!, ...deleted });
          return `${type} 99999`;
        }),
    );
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { commandIn, type Fasti, temporaryFolder } from '../cli/command.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';

const folder = temporaryFolder();

/** What of the languages of a site must come through: titles by group and language. */
async function groupsOf(fasti: Fasti, kind: string): Promise<string[]> {
  const { out } = await fasti(
    kind,
    'list',
    '--format=json',
    ...(kind === 'event' ? ['--start_date=2000-01-01', '--end_date=2100-01-01'] : []),
  );
  const records = JSON.parse(out) as {
    id: number;
    title?: string;
    venue?: string;
    organizer?: string;
    name?: string;
    language: string;
    translations: Record<string, { id: number }>;
  }[];
  const names = new Map(records.map((one) => [one.id, one.title ?? one.venue ?? one.organizer ?? one.name]));
  return records
    .map(
      (one) =>
        `${one.language} ${names.get(one.id)}: ${Object.entries(one.translations)
          .map(([code, { id }]) => `${code}=${names.get(id)}`)
          .sort()}`,
    )
    .sort();
}

describeDatabases('languages in files', (open) => {
  let db: Database;
  let from: Fasti;
  let to: Fasti;
  let copy: Database;

  beforeAll(async () => {
    db = await loadLanguages(await open(), 'polylang');
    from = commandIn({ DATABASE_URL: urlOf(db), UPLOADS_DIR: folder, PORT: '0' });
  });
  afterAll(async () => undefined);

  describe.each([
    ['jsonl', ['event', 'venue', 'organizer', 'category', 'tag']],
    ['csv', ['event']],
    // WXR has no place for the languages of terms.
    ['xml', ['event', 'venue', 'organizer']],
  ])('as %s', (extension, kinds) => {
    beforeAll(async () => {
      copy = await open({ migrated: false });
      to = commandIn({ DATABASE_URL: urlOf(copy), UPLOADS_DIR: folder, PORT: '0' });
      expect((await to('init', '--languages=en,it')).code).toBe(0);
      const file = join(folder, `${copy.dialect.name}.${extension}`);
      const { code, err } = await from('export', file, ...(extension === 'csv' ? ['--kind=event'] : []));
      expect({ code, err }).toMatchObject({ code: 0 });
      const imported = await to('import', file);
      expect(imported).toMatchObject({ code: 0 });
    });

    it.each(kinds)('keep the language and the translations of each %s', async (kind) => {
      const [there, here] = [await groupsOf(from, kind), await groupsOf(to, kind)];
      // What had no language has the default one now.
      expect(here.map((line) => line.replace(/^en (Legacy.*|.*Neutral.*):.*/, '$1'))).toHaveLength(there.length);
      for (const line of there.filter((one) => !one.startsWith('null '))) expect(here).toContain(line);
      expect(here.filter((one) => one.startsWith('null '))).toEqual([]);
    });

    it('leave nothing for the doctor', async () => {
      const { out } = await to('doctor', '--format=json');
      const names = (JSON.parse(out) as { findings: { name: string }[] }).findings.map(({ name }) => name);
      expect(names.filter((name) => /lang|trans/.test(name))).toEqual([]);
    });
  });

  it('come from the command where the file says none', async () => {
    const file = join(folder, `${copy.dialect.name}.csv`);
    writeFileSync(
      file,
      'Event Name,Event Start Date,Event Start Time,Event End Date,Event End Time,Event Category\nVendemmia,2031-09-01,18:00,2031-09-01,23:00,Feste\n',
    );
    expect((await to('import', file, '--content-language=de')).err).toContain('does not have the language de');
    expect(await to('import', file, '--kind=event', '--content-language=it')).toMatchObject({ code: 0 });
    expect((await groupsOf(to, 'event')).filter((line) => line.includes('Vendemmia'))).toEqual(['it Vendemmia: it=Vendemmia']);
    expect((await groupsOf(to, 'category')).filter((line) => line.includes('Feste'))).toEqual(['it Feste: it=Feste']);
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openWxr } from '../../src/exchange/wxr/read.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { commandIn, type Fasti, temporaryFolder } from '../cli/command.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';
import { allOf } from './sites.ts';

const folder = temporaryFolder();

/** Returns the languages of a site that an import must preserve, as titles by group and language. */
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

/** Returns an element as WordPress exports a term. */
const exportedTerm = (id: number, taxonomy: string, slug: string, description = '') =>
  `<wp:term><wp:term_id>${id}</wp:term_id><wp:term_taxonomy>${taxonomy}</wp:term_taxonomy><wp:term_slug>${slug}</wp:term_slug>` +
  `<wp:term_name>${slug}</wp:term_name><wp:term_description><![CDATA[${description}]]></wp:term_description></wp:term>`;

describe('WordPress export file of a site with Polylang', () => {
  it('gives the languages of terms, in any order', async () => {
    const terms = [
      exportedTerm(9, 'term_translations', 'pll_5f', 'a:3:{s:2:"en";i:4;s:2:"it";s:1:"5";s:4:"sync";a:0:{}}'),
      exportedTerm(4, 'tribe_events_cat', 'music'),
      exportedTerm(8, 'term_translations', 'pll_60', 'a:1:{s:2:"it";i:6;}'),
      exportedTerm(7, 'tribe_events_cat', 'plain'),
      exportedTerm(6, 'tribe_events_cat', 'sagre'),
      exportedTerm(5, 'tribe_events_cat', 'musica'),
      exportedTerm(3, 'term_translations', 'pll_61', 'broken'),
      exportedTerm(2, 'term_language', 'pll_it'),
    ];
    const item = '<item><title>Concert</title><wp:post_id>1</wp:post_id><wp:post_type>tribe_events</wp:post_type></item>';
    const file = join(folder, 'polylang.xml');
    writeFileSync(
      file,
      `<rss xmlns:wp="http://wordpress.org/export/1.2/"><channel><wp:wxr_version>1.2</wp:wxr_version>${terms.join('')}${item}</channel></rss>`,
    );
    const entries = await allOf(openWxr([file]).entries());
    expect(
      entries.map((entry) => ('slug' in entry ? [entry.slug, entry.language, entry.translation_group] : 'sourceId' in entry && entry.kind)),
    ).toEqual([
      ['music', 'en', 'pll_5f'],
      ['plain', undefined, undefined],
      ['sagre', 'it', undefined],
      ['musica', 'it', 'pll_5f'],
      'event',
    ]);
  });
});

describe('WordPress export file whose terms share slugs', () => {
  const term = (id: number, slug: string, name: string, parent = '') =>
    `<wp:term><wp:term_id>${id}</wp:term_id><wp:term_taxonomy>tribe_events_cat</wp:term_taxonomy><wp:term_slug>${slug}</wp:term_slug>` +
    `<wp:term_parent>${parent}</wp:term_parent><wp:term_name>${name}</wp:term_name></wp:term>`;
  const event = (id: number, language: string, name: string) =>
    `<item><title>Event ${id}</title><wp:post_id>${id}</wp:post_id><wp:post_type>tribe_events</wp:post_type>` +
    (language === '' ? '' : `<category domain="language" nicename="${language}">${language}</category>`) +
    `<category domain="tribe_events_cat" nicename="fest">${name}</category></item>`;
  const read = async (...contents: string[]) => {
    const files = contents.map((content, index) => {
      const file = join(folder, `namesakes-${index}.xml`);
      writeFileSync(
        file,
        `<rss xmlns:wp="http://wordpress.org/export/1.2/"><channel><wp:wxr_version>1.2</wp:wxr_version>${content}</channel></rss>`,
      );
      return file;
    });
    const entries = await allOf(openWxr(files).entries());
    return entries.map((entry) => {
      if (entry.kind === 'loss') return [entry.loss.reason, entry.loss.of, entry.loss.detail];
      if (entry.kind === 'event') return [entry.columns.post_title, entry.terms?.[0]?.sourceId];
      return entry.kind === 'category' ? [entry.id, entry.sourceId, entry.namesake, entry.parent] : [];
    });
  };
  const languages = exportedTerm(9, 'term_translations', 'pll_5f', 'a:2:{s:2:"en";i:4;s:2:"it";i:5;}');

  it('takes the one in the language of the record, or of this name, and reports where neither is known', async () => {
    const terms = term(4, 'fest', 'Feast') + term(5, 'fest', 'Festa') + term(6, 'village', 'Village', 'fest');
    expect(await read(terms + languages + event(1, 'it', 'Feast') + event(2, '', 'Festa') + event(3, '', 'Sagra'))).toEqual([
      [4, 'fest', undefined, undefined],
      [5, 'fest 2', 1, undefined],
      [6, 'village', undefined, 'fest'],
      ['term-uncertain', 'Village', 'fest'],
      ['Event 1', 'fest 2'],
      ['Event 2', 'fest 2'],
      ['Event 3', 'fest'],
      ['term-uncertain', 'Event 3', 'fest'],
    ]);
  });

  it('takes the first one in the language of the record if several are in it', async () => {
    const terms = term(4, 'fest', 'Feast') + term(5, 'fest', 'Festa') + term(7, 'fest', 'Festival');
    const second = exportedTerm(10, 'term_translations', 'pll_6a', 'a:1:{s:2:"it";i:7;}');
    expect((await read(terms + languages + second + event(1, 'it', 'Sagra') + event(2, 'it', 'Festival'))).slice(3)).toEqual([
      ['Event 1', 'fest 2'],
      ['term-uncertain', 'Event 1', 'fest'],
      ['Event 2', 'fest 3'],
    ]);
  });

  it('gives them the same names in each of several files', async () => {
    const terms = term(5, 'fest', 'Festa') + term(4, 'fest', 'Feast');
    const named = [
      [5, 'fest 2', 1, undefined],
      [4, 'fest', undefined, undefined],
    ];
    expect(await read(terms + event(1, '', 'Feast'), terms + event(2, '', 'Festa'))).toEqual([
      ...named,
      ['Event 1', 'fest'],
      ...named,
      ['Event 2', 'fest 2'],
    ]);
  });
});

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
    ['xml', ['event', 'venue', 'organizer', 'category', 'tag']],
  ])('as %s', (extension, kinds) => {
    let file: string;
    beforeAll(async () => {
      copy = await open({ migrated: false });
      to = commandIn({ DATABASE_URL: urlOf(copy), UPLOADS_DIR: folder, PORT: '0' });
      expect((await to('init', '--languages=en,it')).code).toBe(0);
      file = join(folder, `${copy.dialect.name}.${extension}`);
      const { code, err } = await from('export', file, ...(extension === 'csv' ? ['--kind=event'] : []));
      expect({ code, err }).toMatchObject({ code: 0 });
      const imported = await to('import', file);
      // A file of events contains only the names of venues and organizers.
      expect(imported).toMatchObject({ code: extension === 'csv' ? 3 : 0 });
    });

    it.each(kinds)('keep the language and the translations of each %s', async (kind) => {
      const [there, here] = [await groupsOf(from, kind), await groupsOf(to, kind)];
      const spoken = there.filter((line) => !line.startsWith('null '));
      // Records without a language now have the default one. CSV contains only published events.
      const hadNone = (line: string) => there.some((one) => one.startsWith(`null ${line.replace(/^en |:.*/g, '')}:`));
      const own = here.filter((line) => !(line.startsWith('en ') && hadNone(line)));
      if (extension === 'csv')
        expect([own.length > 8, own.filter((line) => !spoken.some((one) => one.replace('en=Picnic (draft),', '') === line))]).toEqual([
          true,
          [],
        ]);
      else expect([spoken.length > 1, own]).toEqual([true, spoken]);
      expect(here.filter((one) => one.startsWith('null '))).toEqual([]);
    });

    it('cause no change when they are imported again', async () => {
      const entries = () => copy.from('fasti_journal').orderBy('number').select('number', 'kind', 'type', 'object');
      const before = await entries();
      await to('import', file);
      expect((await entries()).slice(before.length)).toEqual([]);
    });

    it('leave nothing for fasti doctor to report', async () => {
      const { out } = await to('doctor', '--format=json');
      const { findings } = JSON.parse(out) as { findings: { name: string; severity: string }[] };
      expect(findings.filter(({ name, severity }) => /lang|trans/.test(name) && severity !== 'note')).toEqual([]);
    });
  });

  it('are imported from iCalendar if the site has them', async () => {
    const target = await open({ migrated: false });
    const fasti = commandIn({ DATABASE_URL: urlOf(target), UPLOADS_DIR: folder, PORT: '0' });
    expect((await fasti('init', '--languages=en,it')).code).toBe(0);
    const create = async (...args: string[]) => (await fasti('event', 'create', '--start_date=2031-01-01', '--end_date=2031-01-01', '--porcelain', ...args)).out.trim(); // biome-ignore format: one call
    const english = await create('--title=Concert');
    await create('--title=Concerto', '--content-language=it', `--translation-of=${english}`);
    const file = join(folder, `${target.dialect.name}.ics`);
    expect((await fasti('export', file)).code).toBe(0);
    const foreign = join(folder, `${target.dialect.name}-foreign.ics`);
    const event = (name: string, tag: string) => ['BEGIN:VEVENT', `UID:${name}`, 'DTSTART:20310102', `SUMMARY${tag}:${name}`, 'END:VEVENT'];
    writeFileSync(
      foreign,
      [
        'BEGIN:VCALENDAR', ...event('Sagra', ';LANGUAGE=it-CH'), ...event('Fest', ';LANGUAGE=de'), ...event('Plain', ''), 'END:VCALENDAR', '',
      ].join('\r\n'), // biome-ignore format: short
    );
    copy = await open({ migrated: false });
    to = commandIn({ DATABASE_URL: urlOf(copy), UPLOADS_DIR: folder, PORT: '0' });
    expect((await to('init', '--languages=en,it')).code).toBe(0);
    expect((await to('import', file)).code).toBe(0);
    expect((await to('import', foreign)).code).toBe(0);
    expect((await groupsOf(to, 'event')).map((line) => line.replace(/:.*/, ''))).toEqual([
      'en Concert',
      'en Fest',
      'en Plain',
      'it Concerto',
      'it Sagra',
    ]);
  });

  it('make two records of an event that two calendars or tables contain in two languages', async () => {
    copy = await open({ migrated: false });
    to = commandIn({ DATABASE_URL: urlOf(copy), UPLOADS_DIR: folder, PORT: '0' });
    expect((await to('init', '--languages=en,it')).code).toBe(0);
    const calendarOf = (name: string, summary: string) => {
      const file = join(folder, `${copy.dialect.name}-${name}.ics`);
      const event = ['BEGIN:VEVENT', 'UID:42@town.example', 'DTSTART:20310102T190000Z', summary, 'END:VEVENT'];
      writeFileSync(file, ['BEGIN:VCALENDAR', ...event, 'END:VCALENDAR', ''].join('\r\n'));
      return file;
    };
    const english = calendarOf('town-en', 'SUMMARY;LANGUAGE=en:Harvest');
    const italian = calendarOf('town-it', 'SUMMARY;LANGUAGE=it:Vendemmia');
    const counts = async (...args: string[]) => {
      const { created, updated, unchanged } = JSON.parse((await to('import', ...args, '--format=json')).out);
      return [created.event ?? 0, updated.event ?? 0, unchanged.event ?? 0];
    };
    expect([await counts(english), await counts(italian), await counts(english), await counts(italian)]).toEqual([
      [1, 0, 0],
      [1, 0, 0],
      [0, 0, 1],
      [0, 0, 1],
    ]);
    const table = join(folder, `${copy.dialect.name}-it.csv`);
    writeFileSync(table, 'Event Name,Event Start Date,Event Description\nJazz Night,2031-05-01,testo\nJazz Night,2031-05-01,testo\n');
    const created = await to(
      'event',
      'create',
      '--title=Jazz Night',
      '--start_date=2031-05-01 00:00',
      '--end_date=2031-05-01 23:59:59',
      '--description=text',
    );
    expect(created.code).toBe(0);
    const args = [table, '--content-language=it', '--source=it'];
    expect(await counts(...args, '--dry-run')).toEqual([1, 0, 0]);
    expect([await counts(...args), await counts(...args), await counts(table, '--content-language=it', '--source=it again')]).toEqual([
      [1, 0, 0],
      [0, 0, 1],
      [0, 0, 1],
    ]);
    expect((await groupsOf(to, 'event')).map((line) => line.replace(/:.*/, ''))).toEqual([
      ...['en Harvest', 'en Jazz Night', 'it Jazz Night', 'it Vendemmia'],
    ]);
    expect((await copy.from('posts').where('post_title', 'Jazz Night').orderBy('ID')).map((row) => row.post_content)).toEqual([
      ...['text', 'testo'],
    ]);
  });

  it('link events to the venue in the language of the import', async () => {
    copy = await open({ migrated: false });
    to = commandIn({ DATABASE_URL: urlOf(copy), UPLOADS_DIR: folder, PORT: '0' });
    expect((await to('init', '--languages=en,it')).code).toBe(0);
    const files = {
      venues: 'Venue Name,Venue City\nTown hall,Pisa\n',
      events: 'Event Name,Event Start Date,Venue\nSagra,2031-05-01,Town hall\n',
    };
    const pathOf = (name: string) => join(folder, `${copy.dialect.name}-named-${name}.csv`);
    for (const [name, text] of Object.entries(files)) writeFileSync(pathOf(name), text);
    expect((await to('import', pathOf('venues'), '--source=en')).code).toBe(0);
    expect((await to('import', pathOf('venues'), '--content-language=it', '--source=it')).code).toBe(0);
    expect((await to('import', pathOf('events'), '--content-language=it', '--source=it')).code).toBe(0);
    const [, italian, ...others] = await copy.from('posts').where('post_title', 'Town hall').orderBy('ID');
    const links = await copy.from('postmeta').where('meta_key', '_EventVenueID').pluck('meta_value');
    expect([others, links]).toEqual([[], [String(italian!.ID)]]);
  });

  it('link a translation again after it was deleted and re-imported', async () => {
    copy = await open({ migrated: false });
    to = commandIn({ DATABASE_URL: urlOf(copy), UPLOADS_DIR: folder, PORT: '0' });
    expect((await to('init', '--languages=en,it')).code).toBe(0);
    const file = join(folder, `${copy.dialect.name}-groups.csv`);
    const write = (cost: number) =>
      writeFileSync(
        file,
        `Event Name,Event Start Date,Event Cost,Language,Translation Group\nConcert,2031-05-01,${cost},en,g\nConcerto,2031-05-01,${cost},it,g\n`,
      );
    write(5);
    expect((await to('import', file)).code).toBe(0);
    const [first] = await copy.from('posts').where('post_title', 'Concert').pluck('ID');
    expect((await to('event', 'delete', String(first), '--force')).code).toBe(0);
    write(6);
    const { code, out } = await to('import', file, '--restore-deleted', '--format=json');
    const losses = [expect.objectContaining({ reason: 'restored-here', count: 1 })];
    expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ created: { event: 1 }, updated: { event: 1 }, losses })]);
    expect(await groupsOf(to, 'event')).toEqual(['en Concert: en=Concert,it=Concerto', 'it Concerto: en=Concert,it=Concerto']);
  });

  it('find records of a table by their names in their language, and link events to those', async () => {
    copy = await open({ migrated: false });
    to = commandIn({ DATABASE_URL: urlOf(copy), UPLOADS_DIR: folder, PORT: '0' });
    expect((await to('init', '--languages=en,it')).code).toBe(0);
    const [venues, events] = ['venues', 'events'].map((name) => join(folder, `${copy.dialect.name}-${name}.csv`)) as [string, string];
    writeFileSync(venues, 'Venue Name,Language,Translation Group\nPiazza,en,p\nPiazza,it,p\n');
    const rows = ['Event Name,Event Start Date,Event Venue Name,Language', 'Fair,2031-05-01,Piazza,en', 'Fair,2031-05-01,Piazza,it'];
    writeFileSync(events, rows.join('\n'));
    const report = async (...args: readonly string[]) => {
      const { created, unchanged, losses } = JSON.parse((await to('import', ...args, '--format=json')).out) as Record<string, unknown>;
      return { created, unchanged, losses };
    };
    expect(await report(venues, events)).toEqual({ created: { venue: 2, event: 2 }, unchanged: {}, losses: [] });
    // Under another name of the source, nothing is known of the first import.
    for (const args of [[venues], [events]])
      expect(await report(...args, '--source=other')).toMatchObject({
        created: {},
        losses: [],
        unchanged: { [args[0] === venues ? 'venue' : 'event']: 2 },
      });
    const { out } = await to('event', 'list', '--format=json', '--start_date=2031-01-01', '--end_date=2032-01-01');
    const links = (JSON.parse(out) as { language: string; venue: { language: string } }[]).map((one) => [one.language, one.venue.language]);
    expect(links.sort()).toEqual([
      ['en', 'en'],
      ['it', 'it'],
    ]);
  });

  it('assign the language of an event to its categories, as a write does', async () => {
    copy = await open({ migrated: false });
    to = commandIn({ DATABASE_URL: urlOf(copy), UPLOADS_DIR: folder, PORT: '0' });
    expect((await to('init', '--languages=en,it')).code).toBe(0);
    await to('category', 'create', '--name=Theatre');
    await to('category', 'create', '--name=Teatro', '--content-language=it', '--translation-of=6');
    await to('category', 'create', '--name=Film');
    const rows = [
      'Event Name,Event Start Date,Event Category,Language',
      'Concert,2031-05-01,"Music,Jazz",en',
      'Concerto,2031-05-01,"Musica,jazz",it',
      'Dramma,2031-05-02,"Theatre,Teatro,Film",it',
      'Farsa,2031-05-03,"Film,Teatro",it',
    ];
    const file = join(folder, `${copy.dialect.name}-terms.csv`);
    writeFileSync(file, rows.join('\n'));
    const reports = [];
    for (const mode of [['--dry-run'], [], []]) {
      const { out } = await to('import', file, '--format=json', ...mode);
      const { created, unchanged, losses } = JSON.parse(out) as Record<string, unknown>;
      reports.push({ created, unchanged, losses });
    }
    const first = { created: { category: 5, event: 4 }, unchanged: {}, losses: [] };
    expect(reports).toEqual([first, first, { created: {}, unchanged: { event: 4 }, losses: [] }]);
    const { out } = await to('event', 'list', '--format=json', '--start_date=2031-01-01', '--end_date=2032-01-01');
    const events = JSON.parse(out) as { title: string; categories: { name: string; language: string }[] }[];
    expect(
      events.map(({ title, categories }) => [title, categories.map(({ name, language }) => `${language} ${name}`).sort()]).sort(),
    ).toEqual([
      ['Concert', ['en Jazz', 'en Music']],
      ['Concerto', ['it Jazz', 'it Musica']],
      ['Dramma', ['it Film', 'it Teatro']],
      ['Farsa', ['it Film', 'it Teatro']],
    ]);
    expect(await groupsOf(to, 'category')).toEqual([
      'en Film: en=Film,it=Film',
      'en Jazz: en=Jazz,it=Jazz',
      'en Music: en=Music',
      'en Theatre: en=Theatre,it=Teatro',
      'it Film: en=Film,it=Film',
      'it Jazz: en=Jazz,it=Jazz',
      'it Musica: it=Musica',
      'it Teatro: en=Theatre,it=Teatro',
    ]);
    const { findings } = JSON.parse((await to('doctor', '--format=json')).out) as { findings: { name: string }[] };
    expect(findings.filter(({ name }) => /lang|trans|count/.test(name))).toEqual([]);
  });

  it('keep terms apart that share a slug', async () => {
    const source = await loadLanguages(await open(), 'polylang');
    const [first, second] = await source.from('terms').whereIn('slug', ['music', 'musica']).orderBy('term_id').select('term_id', 'name');
    await source.from('terms').where('term_id', second!.term_id).update({ slug: 'music' });
    const target = await open({ migrated: false });
    const [there, here] = [source, target].map((one) => commandIn({ DATABASE_URL: urlOf(one), UPLOADS_DIR: folder, PORT: '0' }));
    expect((await here!('init', '--languages=en,it')).code).toBe(0);
    const file = join(folder, `${target.dialect.name}-shared-slugs.jsonl`);
    expect(await there!('export', file)).toMatchObject({ code: 0 });
    const report = async (...args: string[]) => JSON.parse((await here!('import', file, '--format=json', ...args)).out);
    const rehearsal = await report('--dry-run');
    expect({ ...(await report()), dryRun: true }).toEqual(rehearsal);
    const shared = () => target.from('terms').where('slug', 'music').orderBy('term_id').pluck('name');
    expect(await shared()).toEqual([first!.name, second!.name]);
    expect((await groupsOf(here!, 'category')).filter((line) => / Musica?:/.test(line))).toEqual(
      (await groupsOf(there!, 'category')).filter((line) => / Musica?:/.test(line)),
    );
    const inTerm = async (db: Database, name: string) =>
      (
        await db
          .from('term_relationships', 'r')
          .join({ tt: db.table('term_taxonomy') }, 'tt.term_taxonomy_id', 'r.term_taxonomy_id')
          .join({ t: db.table('terms') }, 't.term_id', 'tt.term_id')
          .where({ 't.name': name, 'tt.taxonomy': 'tribe_events_cat' })
      ).length;
    for (const { name } of [first!, second!]) expect([name, await inTerm(target, name)]).toEqual([name, await inTerm(source, name)]);
    // A second import creates no terms.
    await report();
    expect(await shared()).toHaveLength(2);
  });

  it('do not replace a venue in the trash by its translation of the same name', async () => {
    const target = await open({ migrated: false });
    const here = commandIn({ DATABASE_URL: urlOf(target), UPLOADS_DIR: folder, PORT: '0' });
    expect((await here('init', '--languages=en,it')).code).toBe(0);
    const file = join(folder, `${target.dialect.name}-trash.ics`);
    const report = async (summary: string) => {
      const event = ['BEGIN:VEVENT', 'UID:1', `SUMMARY:${summary}`, 'DTSTART:20310501T180000Z', 'LOCATION:Hall', 'END:VEVENT'];
      writeFileSync(file, ['BEGIN:VCALENDAR', 'VERSION:2.0', 'X-WR-CALNAME:Trash', ...event, 'END:VCALENDAR', ''].join('\r\n'));
      return JSON.parse((await here('import', file, '--format=json')).out);
    };
    await report('First');
    const stored = () => target.from('postmeta').where('meta_key', '_EventVenueID').pluck('meta_value');
    const [venue] = await stored();
    await target.from('posts').where('ID', Number(venue)).update({ post_status: 'trash' });
    expect(await here('venue', 'create', '--venue=Hall', '--content-language=it')).toMatchObject({ code: 0 });
    const { updated, losses } = await report('Second');
    expect([updated, losses.map(({ reason }: { reason: string }) => reason)]).toEqual([{ event: 1 }, ['link-in-trash']]);
    expect(await stored()).toEqual([venue]);
  });

  it('are reported by fasti doctor if events refer to untranslated records', async () => {
    const { out } = await from('doctor', '--format=json');
    const { findings } = JSON.parse(out) as { findings: { name: string; severity: string; examples: string[] }[] };
    const found = findings.find(({ name }) => name === 'links-untranslated');
    expect([found?.severity, found?.examples]).toEqual(['note', expect.arrayContaining(['venue 103 (it)'])]);
    expect(found?.examples).not.toContain('venue 101 (it)');
  });

  it('are reported in a dry run if the site lacks one or another record has it', async () => {
    const event = (id: number, language: string, group: string) =>
      `<item><title>Event ${id}</title><wp:post_id>${id}</wp:post_id><wp:post_type>tribe_events</wp:post_type><wp:status>draft</wp:status>` +
      `<category domain="language" nicename="${language}"/><category domain="post_translations" nicename="${group}"/></item>`;
    const file = join(folder, `${copy.dialect.name}-conflict.xml`);
    const write = (...events: string[]) =>
      writeFileSync(
        file,
        `<rss xmlns:wp="http://wordpress.org/export/1.2/"><channel><wp:wxr_version>1.2</wp:wxr_version>${events.join('')}</channel></rss>`,
      );
    write(event(9001, 'it', 'pll_a'), event(9002, 'en', 'pll_a'), event(9003, 'it', 'pll_a'), event(9004, 'xx', 'pll_b'));
    const report = async (...args: string[]) => JSON.parse((await to('import', file, '--format=json', ...args)).out);
    const rehearsal = await report('--dry-run');
    expect(rehearsal.losses.map(({ reason }: { reason: string }) => reason).sort()).toEqual([
      'dates-unsound',
      'language-unknown',
      'translation-conflict',
    ]);
    expect({ ...(await report()), dryRun: true }).toEqual(rehearsal);
    // The same applies if the other record was imported earlier and is not in this file.
    write(event(9005, 'it', 'pll_a'));
    const later = await report('--dry-run');
    expect(later.losses.map(({ reason }: { reason: string }) => reason).sort()).toEqual(['dates-unsound', 'translation-conflict']);
    expect({ ...(await report()), dryRun: true }).toEqual(later);
  });

  it.each(['', '--dry-run'])('follow a source that links translations differently, in any order %s', async (dryRun) => {
    const names = ['it', 'en', 'it', 'en'].map((language, index) => ({ language, id: 9101 + index + (dryRun ? 100 : 0) }));
    const meta = (key: string, value: string) =>
      `<wp:postmeta><wp:meta_key>${key}</wp:meta_key><wp:meta_value>${value}</wp:meta_value></wp:postmeta>`;
    const event = (index: number, group: string) =>
      `<item><title>Event ${names[index]!.id}</title><wp:post_id>${names[index]!.id}</wp:post_id><wp:post_type>tribe_events</wp:post_type>` +
      `<wp:status>publish</wp:status>${meta('_EventStartDate', '2031-05-01 10:00:00')}${meta('_EventEndDate', '2031-05-01 11:00:00')}` +
      meta('_EventStartDateUTC', '2031-05-01 08:00:00') +
      meta('_EventEndDateUTC', '2031-05-01 09:00:00') +
      `<category domain="language" nicename="${names[index]!.language}"/>${group && `<category domain="post_translations" nicename="${group}"/>`}</item>`;
    const file = join(folder, `${copy.dialect.name}-linked${dryRun}.xml`);
    const report = async (events: readonly string[], ...args: string[]) => {
      writeFileSync(
        file,
        `<rss xmlns:wp="http://wordpress.org/export/1.2/"><channel><wp:wxr_version>1.2</wp:wxr_version>${events.join('')}</channel></rss>`,
      );
      return JSON.parse((await to('import', file, '--format=json', ...args)).out);
    };
    const ids = names.map(({ id }) => `Event ${id}`);
    const linked = async () => {
      const lines = await groupsOf(to, 'event');
      return ids.map((title) => lines.find((line) => line.includes(` ${title}: `))?.replaceAll('Event ', ''));
    };
    const [one, two, three, four] = names.map(({ id }) => String(id)) as [string, string, string, string];
    const pair = (it: string, en: string) => `en=${en},it=${it}`;
    const [g, h] = [`pll_${one}`, `pll_${two}`];
    const events = [event(0, g), event(1, g), event(2, h), event(3, h)];
    expect((await report(events)).losses).toEqual([]);
    const before = [
      `it ${one}: ${pair(one, two)}`,
      `en ${two}: ${pair(one, two)}`,
      `it ${three}: ${pair(three, four)}`,
      `en ${four}: ${pair(three, four)}`,
    ];
    expect(await linked()).toEqual(before);
    // The English ones have changed places, and each comes before the one that it replaces.
    const exchanged = [event(3, g), event(1, h), event(0, g), event(2, h)];
    if (dryRun) {
      expect((await report(exchanged, dryRun)).losses).toEqual([]);
      expect(await linked()).toEqual(before);
      return;
    }
    expect((await report(exchanged)).losses).toEqual([]);
    expect(await linked()).toEqual([
      ...[`it ${one}: ${pair(one, four)}`, `en ${two}: ${pair(three, two)}`],
      ...[`it ${three}: ${pair(three, two)}`, `en ${four}: ${pair(one, four)}`],
    ]);
    // One pair is separated.
    expect((await report([event(0, ''), event(3, ''), event(1, h), event(2, h)])).losses).toEqual([]);
    expect(await linked()).toEqual([
      ...[`it ${one}: it=${one}`, `en ${two}: ${pair(three, two)}`],
      ...[`it ${three}: ${pair(three, two)}`, `en ${four}: en=${four}`],
    ]);
  });

  it('are taken from the command if the file has none', async () => {
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

  it('bring translations from a calendar whose other events are here already, also if they have the same name', async () => {
    const event = (id: number, language: string) => ({
      ...{ kind: 'event', sourceId: String(id), id, language, complete: true, links: [] },
      columns: {
        ...{ post_title: 'Festa', post_name: `festa-${id}`, post_status: 'publish' },
        ...{ post_date: '2026-01-01 10:00:00', post_date_gmt: '2026-01-01 09:00:00' },
      },
      metas: Object.entries({
        ...{ _EventStartDate: '2031-03-01 18:30:00', _EventEndDate: '2031-03-01 20:00:00', _EventTimezone: 'Europe/Rome' },
        ...{ _EventStartDateUTC: '2031-03-01 17:30:00', _EventEndDateUTC: '2031-03-01 19:00:00', _EventTimezoneAbbr: 'CET' },
      }),
    });
    const siteWith = async (...events: readonly object[]) => {
      const other = await open({ migrated: false });
      const fasti = commandIn({ DATABASE_URL: urlOf(other), UPLOADS_DIR: folder, PORT: '0' });
      expect((await fasti('init', '--languages=en,it')).code).toBe(0);
      const lines = [{ format: 'fasti', version: 1, home: 'https://a.example' }, ...events, { end: true, items: events.length }];
      const file = join(folder, `${other.dialect.name}-festa-${events.length}.jsonl`);
      writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      expect((await fasti('import', file)).code).toBe(0);
      return fasti;
    };
    const there = await siteWith(event(601, 'en'), event(602, 'it'));
    const here = await siteWith(event(601, 'en'));
    const file = join(folder, `${db.dialect.name}-festa.ics`);
    expect((await there('export', file, '--kind=event')).code).toBe(0);
    const report = async (...args: string[]) => JSON.parse((await here('import', file, '--format=json', ...args)).out);
    for (const args of [['--dry-run'], []]) expect(await report(...args)).toMatchObject({ created: { event: 1 }, unchanged: { event: 1 } });
    const { out } = await here('event', 'list', '--format=json', '--start_date=2031-01-01', '--end_date=2031-12-31');
    expect((JSON.parse(out) as { language: string }[]).map(({ language }) => language).sort()).toEqual(['en', 'it']);
    expect(await report()).toMatchObject({ created: {}, unchanged: { event: 2 } });
  });
});

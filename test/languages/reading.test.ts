import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { compare, type Recording } from '../support/compare.mjs';
import { describeDatabases } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';
import { type Answer, type RunningSite, serveDatabase } from '../support/running-site.ts';
import { FIXTURES } from '../support/site-data.mjs';

/** A recording of a site with Polylang. `want`: our answer where it differs from the reference, as paths and values. */
interface LanguageRecording extends Recording {
  readonly verdict: 'same' | 'bug' | 'ours' | 'rows' | 'reference';
  readonly ignore?: readonly string[];
  readonly want?: Readonly<Record<string, unknown>>;
}

const reads = readFileSync(new URL('languages/polylang.jsonl', FIXTURES), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as LanguageRecording)
  .filter(({ kind, verdict }) => kind === 'read' && verdict !== 'reference');

/** Members that are in the language of the event, unlike in the reference. */
const TRANSLATED = new Map(
  ['list-cat-it-id-lang-it', 'list-cat-it-slug-lang-it'].map((name) => [`languages/${name}`, ['$..venue', '$..organizer']]),
);

const NOW = '2026-11-22T21:30:00Z';
const ROOT = '/wp-json/tribe/events/v1';
const SPAN = 'start_date=2031-01-01&end_date=2032-01-01&per_page=50';

/** The values at a path such as `$.events[*].id`. */
function valuesAt(body: unknown, path: string): unknown {
  const steps = path.replace(/^\$\.?/, '').split(/\.|(?=\[\*\])/);
  const walk = (value: unknown, rest: readonly string[]): unknown => {
    const [step, ...others] = rest;
    if (step === undefined || value === undefined) return value;
    if (step === '[*]') return (value as unknown[]).map((item) => walk(item, others));
    return walk((value as Record<string, unknown>)[step], others);
  };
  return walk(body, steps);
}

const summariesOf = ({ text }: Answer): string[] => [...text.matchAll(/^SUMMARY[^:]*:(.*)$/gm)].map(([, summary = '']) => summary.trim());

describeDatabases('reading content in several languages', (open) => {
  let running: RunningSite;
  const ask = async (path: string, as?: string): Promise<Answer> =>
    running.send('GET', path, { headers: { Host: '127.0.0.1:8081' }, ...(as ? { as } : {}) });
  const read = async (path: string, as?: string) => {
    const answer = await ask(path, as);
    expect({ path, status: answer.status, ...(answer.status === 200 ? {} : { text: answer.text }) }).toEqual({ path, status: 200 });
    return answer.body;
  };
  const idsIn = async (path: string, as?: string): Promise<number[]> => {
    const body = await read(path, as);
    const [records] = Object.values(body).filter(Array.isArray);
    const ids = (records as { id: number }[]).map(({ id }) => id);
    if (!path.includes('page=')) expect([path, body.total]).toEqual([path, ids.length]);
    return ids;
  };
  const serving = (form: 'polylang' | 'wpml', env: Record<string, string> = {}) => {
    beforeAll(async () => {
      running = await serveDatabase(await loadLanguages(await open(), form), { clock: () => new Date(NOW), env });
    });
    afterAll(() => running.close());
  };

  describe('as recorded on a site with Polylang', () => {
    serving('polylang');

    it.each(reads.filter(({ want }) => !want).map((recording) => [recording.name, recording] as const))('%s', async (_, recording) => {
      const { path, query } = recording.request;
      const answer = await ask(path + (query ? `?${query}` : ''), recording.as ?? undefined);
      const ignore = [...(recording.ignore ?? []), '$..inLanguage', ...(TRANSLATED.get(recording.name) ?? [])];
      expect(compare({ ...recording, ignore } as Recording, answer, { now: new Date(NOW), urls: true })).toEqual([]);
    });

    it.each(reads.filter(({ want }) => want).map((recording) => [recording.name, recording] as const))(
      '%s',
      async (_, { request, want, as }) => {
        const answer = await ask(`${request.path}?${request.query}`, as ?? undefined);
        for (const [path, value] of Object.entries(want!)) {
          if (path === 'summaries') expect(summariesOf(answer)).toEqual(value);
          else if (path === 'status') expect(answer.status).toBe(value);
          else if (path.endsWith(' carries')) expect(valuesAt(answer.body, path.split(' ')[0]!)).toMatch(/[?&]lang=it\b/);
          else expect([path, valuesAt(answer.body, path)]).toEqual([path, value]);
        }
      },
    );
  });

  describe('on a site with WPML', () => {
    serving('wpml');

    it.each([
      [`/events?${SPAN}`, [110, 112, 115, 117, 121]],
      [`/events?${SPAN}&lang=en`, [110, 112, 115, 117, 121]],
      [`/events?${SPAN}&lang=it`, [111, 113, 116, 118, 120]],
      ['/organizers?lang=it', [107]],
      ['/venues?lang=en', [103, 101]],
      ['/venues?lang=it', [104, 103, 102]],
      ['/venues?lang=it&language_fallback=false', [104, 102]],
      ['/tags', [68, 66, 61, 63]],
      ['/tags?lang=it', [68, 66, 61, 63]],
      ['/tags?lang=en', [68, 66, 61, 63]],
    ])('%s', async (path, ids) => {
      expect(await idsIn(ROOT + path)).toEqual(ids);
    });

    it('contains all languages with lang=all', async () => {
      expect(await idsIn(`${ROOT}/events?${SPAN}&lang=all`)).toHaveLength(11);
    });

    it('finds the record of a slug in the language of the path', async () => {
      expect((await read(`${ROOT}/events/by-slug/festival`)).id).toBe(117);
      expect((await read(`/it${ROOT}/events/by-slug/festival`)).id).toBe(118);
      expect((await read(`/it${ROOT}/events/118`)).venue.id).toBe(102);
    });

    it('names its languages at the roots of the API and of the namespace', async () => {
      const { languages } = await read('/wp-json/');
      expect([languages.default, languages.available.map(({ code }: { code: string }) => code)]).toEqual(['en', ['en', 'it']]);
      for (const path of [ROOT, `/it${ROOT}`, '/wp-json/calendar/events/v1']) expect((await read(path)).languages).toEqual(languages);
      expect((await read('/wp-json/wp/v2')).languages).toBeUndefined();
    });

    it('shows no language for kinds without languages', async () => {
      const { tags } = await read(`/it${ROOT}/tags`);
      expect(tags).not.toEqual([]);
      expect(tags.filter((tag: object) => 'language' in tag || 'translations' in tag)).toEqual([]);
      const { categories } = await read(`/it${ROOT}/categories`);
      expect(new Set(categories.map(({ language }: { language: string }) => language))).toEqual(new Set(['it']));
    });

    it('shows the categories of a record in its language, alone as in a list', async () => {
      const list = `/it${ROOT}/events?${SPAN}`;
      const write = async (path: string, body: object): Promise<number> => {
        const answer = await running.send('POST', ROOT + path, { as: 'admin', headers: { Host: '127.0.0.1:8081' }, body });
        expect([path, answer.status]).toEqual([path, path === '/categories' ? 201 : 200]);
        return answer.body.id;
      };
      const [id] = await idsIn(list);
      const category = await write('/categories', { name: 'Lanterns', language: 'en' });
      await write(`/events/${id}`, { categories: [category] });
      const translation = await write('/categories', { name: 'Lanterne', language: 'it', translation_of: category });
      const idsOf = ({ categories }: { categories: { id: number }[] }) => categories.map((one) => one.id);
      expect(idsOf(await read(`/it${ROOT}/events/${id}`))).toEqual([translation]);
      expect(idsOf((await read(list)).events.find((event: { id: number }) => event.id === id))).toEqual([translation]);
      const { slug } = await read(`/it${ROOT}/events/${id}`);
      expect((await ask(`/it/event/${slug}/?ical=1`)).text).toContain('CATEGORIES:Lanterne\r\n');
    });
  });
});

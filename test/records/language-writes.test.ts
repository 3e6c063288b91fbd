import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { compare, type Recording } from '../support/compare.mjs';
import { describeDatabases } from '../support/databases.ts';
import { changesBetween, comparable, type LanguageRows, snapshotOf } from '../support/language-rows.ts';
import { loadLanguages, resetLanguages } from '../support/languages.ts';
import { type Answer, type RunningSite, serveDatabase } from '../support/running-site.ts';
import { FIXTURES } from '../support/site-data.mjs';

/** A recorded write to a site with Polylang; `want` contains expected values that differ from it, by JSON path. */
interface RecordedWrite extends Recording {
  readonly verdict: 'same' | 'rows' | 'bug' | 'ours' | 'reference';
  readonly want?: Readonly<Record<string, unknown>>;
  readonly language_rows?: LanguageRows;
}

const writes = readFileSync(new URL('languages/polylang.jsonl', FIXTURES), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as RecordedWrite)
  .filter(({ request }) => request.method !== 'GET');

interface Sent {
  readonly query: string;
  readonly body: Record<string, unknown> | null;
}

/** Moves the language of a request into the member `language`, as clients of Fasti send it. */
function asMember({ query, body }: Sent): Sent {
  const { lang, translation_language, ...others } = body ?? {};
  const language = lang ?? translation_language ?? new URLSearchParams(query).get('lang');
  return { query: '', body: language ? { ...others, language } : body };
}

const isCreate = ({ request }: RecordedWrite) => request.method === 'POST' && !/\d$/.test(request.path);

const WAYS: readonly (readonly [string, (sent: Sent) => Sent, (write: RecordedWrite) => boolean])[] = [
  ['with the language as it was sent', (sent) => sent, () => true],
  ['with the language as a member', asMember, isCreate],
];

describeDatabases('recorded writes to a site with Polylang', (open) => {
  let db: Database;
  let running: RunningSite;
  let now = new Date(0);

  beforeAll(async () => {
    db = await loadLanguages(await open(), 'polylang');
    running = await serveDatabase(db, { clock: () => now });
  });
  afterAll(() => running.close());

  const send = async ({ as, at, request }: RecordedWrite, change: (sent: Sent) => Sent = (sent) => sent): Promise<Answer> => {
    now = new Date(at);
    const { method, path, query = '', headers = {}, body } = request;
    const sent = change({ query, body: body ? (JSON.parse(body) as Record<string, unknown>) : null });
    return running.send(method, path + (sent.query ? `?${sent.query}` : ''), {
      headers: { Host: '127.0.0.1:8081', ...headers },
      ...(as ? { as } : {}),
      body: sent.body,
    });
  };

  describe.each(WAYS)('%s', (_, change, ways) => {
    it.each(writes.filter(ways).map((write) => [write.name, write] as const))('give the recorded result: %s', async (_name, write) => {
      await resetLanguages(db, 'polylang');
      const before = await snapshotOf(db);
      const answer = await send(write, change);
      const { verdict, want = {}, language_rows: rows } = write;
      for (const [path, value] of Object.entries(want)) {
        if (path === 'rows') continue;
        expect({ path, value: path === 'status' ? answer.status : valueAt(answer.body, path) }).toEqual({ path, value });
      }
      if (verdict === 'same') expect(compare(write, answer, { now, urls: true })).toEqual([]);
      if (['same', 'rows', 'reference'].includes(verdict))
        expect(comparable(changesBetween(before, await snapshotOf(db)))).toEqual(comparable(rows ?? {}));
    });
  });
});

/** The value at a path such as `$.translations.en.id` or `$.categories[*].id`. */
function valueAt(body: unknown, path: string): unknown {
  return path
    .replace(/^\$\.?/, '')
    .split(/\.|(?=\[)/)
    .reduce<unknown>((at, step) => {
      if (step === '[*]') return at;
      if (Array.isArray(at)) return at.map((one) => (one as Record<string, unknown>)[step]);
      return (at as Record<string, unknown> | undefined)?.[step];
    }, body);
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { compare, compareRows, type Recording, type RowsWanted, rowsWanted } from './compare.mjs';
import { describeDatabases } from './databases.ts';
import { passwordOf, type RunningSite, serveDatabase, UNACKNOWLEDGED } from './running-site.ts';
import { loadSite, resetSite, setOptions } from './site.ts';

/** The path of a folder of recordings in the fixtures. */
export const recordingsIn = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

/**
 * Replays the recordings of a folder on every database, each from the state of the fixture and at the time it was made,
 * and compares responses, headers and rows with the recording. (The time matters because a duration from "tomorrow" to
 * a fixed day differs each day.)
 */
export function describeRecordings(name: string, folder: string): void {
  const units = unitsOf(folder);
  describeDatabases(name, (open) => {
    let db: Database;
    let running: RunningSite;
    let isDirty = false;
    let now = new Date(0);

    beforeAll(async () => {
      db = await loadSite(await open());
      running = await serveDatabase(db, { clock: () => now });
    });
    afterAll(() => running.close());

    it.each([...units])('%s', async (_, steps) => {
      if (isDirty) await resetSite(db);
      isDirty = steps.some((step) => step.kind !== 'read' || step.setup !== undefined);
      for (const step of steps) {
        now = new Date(step.at);
        expect({ step: step.name, differences: await differencesOf(db, running, step, now) }).toEqual({ step: step.name, differences: [] });
      }
    });
  });
}

/**
 * Groups recordings by name: a sequence is one unit, in its order; every other recording is a unit by itself.
 * Recordings that are set aside are skipped.
 */
function unitsOf(folder: string): Map<string, Recording[]> {
  const units = new Map<string, Recording[]>();
  for (const file of readdirSync(folder).filter((file) => file.endsWith('.jsonl'))) {
    for (const line of readFileSync(join(folder, file), 'utf8').trim().split('\n')) {
      const recording = JSON.parse(line) as Recording;
      if (recording.aside) continue;
      const name = recording.sequence ?? recording.name;
      units.set(name, [...(units.get(name) ?? []), recording]);
    }
  }
  return units;
}

async function differencesOf(db: Database, running: RunningSite, step: Recording, now: Date): Promise<unknown[]> {
  if (step.setup) await setOptions(db, step.setup);
  const { method, path, query, headers, body, latin1 } = step.request;
  const requestHeaders: Record<string, string> = { Host: '127.0.0.1:8081', ...recordedHeaders(headers) };
  if (requestHeaders.Authorization) requestHeaders.Authorization = authorization(requestHeaders.Authorization);
  const answer = await running.send(method, path + (query ? `?${query}` : ''), {
    headers: requestHeaders,
    ...(step.as ? { as: step.as } : {}),
    body: body == null ? null : Buffer.from(body, latin1 ? 'latin1' : 'utf8'),
  });
  const wantedRows = rowsWanted(step);
  return [
    ...compare(step, answer, { now, headers: true, urls: true }),
    ...(wantedRows ? compareRows(step, await rowsOf(db, wantedRows), { now }) : []),
  ];
}

/** The headers of a recording; without an acknowledgement if it has none. */
export const recordedHeaders = (headers: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  ...(Object.keys(headers).some((name) => name.toLowerCase() === 'x-tec-eea') ? {} : UNACKNOWLEDGED),
  ...headers,
});

/** Converts `Basic base64(user:{app_password:user})`, as in the recordings, to the actual header. */
function authorization(template: string): string {
  const match = /^(\w+) base64\(([\s\S]*)\)$/.exec(template);
  if (!match) return template;
  const clear = (match[2] ?? '')
    .replace(/\{app_password:(\w+)\}/g, (_, user: string) => passwordOf(user))
    .replace(/\{app_password_with_spaces:(\w+)\}/g, (_, user: string) => (passwordOf(user).match(/.{1,4}/g) ?? []).join(' '));
  return `${match[1]} ${Buffer.from(clear).toString('base64')}`;
}

/** Rows of the posts and terms that a recording names, and of all newer ones. */
async function rowsOf(db: Database, { posts, terms, after }: RowsWanted): Promise<Record<string, unknown[]>> {
  const pick = (table: string, column: string, ids: number[], lastId: number, order: string) =>
    db
      .knex(`${db.prefix}${table}`)
      .where((builder) => builder.whereIn(column, ids).orWhere(column, '>', lastId))
      .orderBy(order);
  const relationships = await pick('term_relationships', 'object_id', posts, after.posts, 'object_id');
  return {
    posts: await pick('posts', 'ID', posts, after.posts, 'ID'),
    postmeta: await pick('postmeta', 'post_id', posts, after.posts, 'meta_id'),
    terms: await pick('terms', 'term_id', terms, after.terms, 'term_id'),
    term_taxonomy: await db
      .knex(`${db.prefix}term_taxonomy`)
      .where((where) => where.whereIn('term_id', terms).orWhere('term_id', '>', after.terms))
      .orWhereIn(
        'term_taxonomy_id',
        relationships.map((row: { term_taxonomy_id: number }) => row.term_taxonomy_id),
      ),
    term_relationships: relationships,
    tec_events: await pick('tec_events', 'post_id', posts, after.posts, 'event_id'),
    tec_occurrences: await pick('tec_occurrences', 'post_id', posts, after.posts, 'occurrence_id'),
  };
}

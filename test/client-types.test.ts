import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

/* The types of the client, as programs see them that are compiled strictly. */

const root = fileURLToPath(new URL('..', import.meta.url));
const page = (path: string) => readFileSync(join(root, path), 'utf8');

/** The examples of the page about the client. They use names of the reader's own program. */
const GUIDE = `
import { readFile } from 'node:fs/promises';
import type { Change, Event } from 'fasti/client';
declare const token: string | undefined;
declare const event: Event;
declare function apply(changes: readonly Change[], next: string): Promise<void>;
${[...page('docs/sync.md').matchAll(/```[jt]s\n(.*?)```/gs)]
  .map(([, code = '']) => code)
  .filter((code) => code.includes('client.'))
  .join('\n')}`;

const CREATED = /\/events" -H 'Content-Type: application\/json' -d '(\{.*?\})'/s.exec(page('README.md'))?.[1] ?? 'missing';

const PROGRAM = `
import { createClient, FastiError, type Problem } from 'fasti/client';
const client = createClient({ url: 'https://example.org' });
const { signal } = new AbortController();
const EVENT = { title: 'Jazz', start_date: '2031-01-01', end_date: '2031-01-02' };
interface OwnVenue { venue: string; city: string }
const own: OwnVenue = { venue: 'Barn', city: 'Asti' };

await client.events.create(${CREATED});
await client.events.create({ ...EVENT, venue: 4, organizer: '24,25', image: false, tags: [{ name: 'Jazz' }], categories: 'music' });
await client.events.create({ ...EVENT, venue: own, organizer: [{ organizer: 'Anna' }, 24, { id: 25 }], tags: ['Jazz', 7] as const });
await client.events.list({ status: ['publish', 'draft'], venue: 4, categories: 'music', include: [1, 2] as const }, { signal });
await client.events.list({ custom_fields: { access: ['ramp', 'lift'] } });

// Records as read.
const event = (await client.events.get(1)).body;
await client.events.update(event.id, event);
await client.events.update(event.id, { ...event, title: 'Blues' });
for (const venue of [event.venue].flat()) {
  await client.venues.update(venue.id, venue);
  const url: string | undefined = venue.image?.url;
  const name: unknown = venue.json_ld?.name;
  console.log(url, name);
}
for (const organizer of event.organizer) await client.organizers.update(organizer.id, organizer);
for await (const category of client.categories.each({}, { signal })) await client.categories.update(category.id, category);
for await (const tag of client.tags.each()) await client.tags.update(tag.id, tag);

await client.events.upsert('slug', { ...EVENT, slug: 'jazz' });
// @ts-expect-error venues have no slug to write
await client.venues.upsert('slug', { venue: 'Barn' });
// @ts-expect-error a list has no such status
await client.events.list({ status: 7 });
// @ts-expect-error a name of a field is misspelt
await client.events.create({ ...EVENT, titel: 'Jazz' });
// @ts-expect-error a name of a field of a new venue is misspelt
await client.events.create({ ...EVENT, venue: { vanue: 'Barn' } });

// @ts-expect-error an error has members
new FastiError('busy');
const error = new FastiError({ code: 'rest_server_busy', status: 503, message: 'Busy' });
const seconds: number | undefined = error.retryAfter;
export const isBusy = (problem: Problem) => problem.code === 'rest_server_busy' && problem.status === 503 && seconds === undefined;

const form = new FormData();
await client.request('POST', 'wp/v2/media', { body: form });
await client.request('POST', 'wp/v2/media', { body: new Uint8Array(3), headers: new Headers({ 'Content-Type': 'image/png' }) });
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fasti-client-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/fasti'), 'dir');
  symlinkSync(join(root, 'node_modules/@types'), join(folder, 'node_modules/@types'), 'dir');
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'guide.ts'), GUIDE);
  writeFileSync(join(folder, 'program.ts'), PROGRAM);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each([
  { module: 'nodenext', moduleResolution: 'nodenext', lib: ['es2023'] },
  { module: 'esnext', moduleResolution: 'bundler', lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'] },
])('accept the documented forms, compiled with %j', (options) => {
  const compilerOptions = {
    ...options,
    target: 'es2023',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    skipLibCheck: false,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['guide.ts', 'program.ts'] }));
  const tsc = join(root, 'node_modules/typescript/lib/tsc.js');
  expect(faultsOf(() => execFileSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], { encoding: 'utf8' }))).toBe('');
});

/** Returns what the compiler prints, whether it fails or not. */
function faultsOf(compile: () => string): string {
  try {
    return compile();
  } catch (error) {
    return error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error);
  }
}

import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Sqlite } from '../../src/storage/engine/sqlite/library.ts';
import { commandIn, embedded, type Outcome } from './command.ts';

/* An SQLite file that a user may read, but not write, such as an archive on a read-only disk. */

// Others may not enter the temporary folder of the tests if root runs them.
const folder = mkdtempSync(join(process.getuid?.() === 0 ? '/tmp' : tmpdir(), 'fasti-unwritable-'));
const made = join(folder, 'made');

beforeAll(async () => {
  chmodSync(folder, 0o755);
  mkdirSync(made);
  const fasti = commandIn(embedded(made));
  expect(await fasti('init', '--sample', '--url=https://a.example', '--timezone=Europe/Rome')).toMatchObject({ code: 0 });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs commands as another user, in a folder with the database. */
async function runAll(place: string, ...commands: string[][]): Promise<Pick<Outcome, 'code' | 'out' | 'err'>[]> {
  const node = ['--import', './test/support/run-typescript.mjs', 'test/support/as-other-user.ts', place, JSON.stringify(commands)];
  return JSON.parse((await promisify(execFile)(process.execPath, node, { maxBuffer: 2 ** 26 })).stdout);
}

const TITLE = ['option', 'get', 'title'];
const title = (text: string) => ({ code: 0, out: `${text}\n`, err: '' });

/** Copies the database to a folder of its own, with these permissions. */
function copyTo(name: string, modes: { readonly folder: number; readonly file: number }): string {
  const place = join(folder, name);
  mkdirSync(join(place, 'backups'), { recursive: true });
  chmodSync(join(place, 'backups'), 0o777);
  cpSync(join(made, 'site.sqlite'), join(place, 'site.sqlite'));
  chmodSync(join(place, 'site.sqlite'), modes.file);
  chmodSync(place, modes.folder);
  return place;
}

it.each([
  ['a file in a closed folder', { folder: 0o555, file: 0o666 }],
  ['a file that may only be read', { folder: 0o777, file: 0o444 }],
  ['a file that may only be read, in a closed folder', { folder: 0o555, file: 0o444 }],
])('%s is read, and nothing is left beside it', async (name, modes) => {
  const place = copyTo(name.replaceAll(/\W+/g, '-'), modes);
  const [list, found, lines, status, doctor, backup, written, after] = await runAll(
    place,
    ['event', 'list', '--per_page=1'],
    TITLE,
    ['export', '--format=jsonl', '-'],
    ['status'],
    ['doctor'],
    ['backup', 'backups/a.backup'],
    ['option', 'set', 'title', 'Other'],
    TITLE,
  );
  for (const outcome of [list, status, lines, backup]) expect(outcome).toMatchObject({ code: 0 });
  expect(doctor?.out).not.toMatch(/readonly|damaged/);
  expect(found).toEqual(title('Calendar of Borgo Selvachiara'));
  expect(written).toMatchObject({ code: 1, out: '' });
  expect(written?.err).toMatch(/^Error: the database site.sqlite cannot be opened: (attempt to write a readonly database|EACCES: .*)\n$/);
  expect(readdirSync(place)).toEqual(['backups', 'site.sqlite']);
  expect(after).toEqual(found);
});

it('is searched for faults of the index by the doctor', async () => {
  const place = copyTo('faulty', { folder: 0o755, file: 0o644 });
  const file = join(place, 'site.sqlite');
  const owner = new Sqlite(file);
  owner.exec('UPDATE wp_fasti_entries SET hidden = 1 - hidden');
  owner.close();
  chmodSync(file, 0o444);
  const [doctor] = await runAll(place, ['doctor', '--format=json']);
  expect(JSON.parse(doctor?.out ?? '').findings).toContainEqual(expect.objectContaining({ name: 'index-wrong', severity: 'error' }));
});

it('is read while its owner writes it', async () => {
  const modes = { folder: 0o755, file: 0o444 };
  const place = copyTo('live', modes);
  const file = join(place, 'site.sqlite');
  const owner = new Sqlite(file);
  try {
    owner.exec("UPDATE wp_options SET option_value = 'Newer' WHERE option_name = 'blogname'");
    for (const ending of ['-wal', '-shm']) chmodSync(file + ending, modes.file);
    expect(await runAll(place, TITLE)).toEqual([title('Newer')]);
  } finally {
    owner.close();
  }
});

it('is not changed by an import from it', async () => {
  const place = copyTo('source', { folder: 0o755, file: 0o644 });
  const file = join(place, 'site.sqlite');
  const journal = (mode = '') => {
    const connection = new Sqlite(file);
    const [{ journal_mode }] = connection.pragma(`journal_mode${mode}`) as [{ journal_mode: string }];
    connection.close();
    return journal_mode;
  };
  // As WordPress keeps it.
  expect(journal(' = DELETE')).toBe('delete');
  const own = join(folder, 'own');
  mkdirSync(own);
  const here = commandIn(embedded(own));
  await here('init', '--url=https://b.example', '--timezone=Europe/Rome');
  expect((await here('import', `sqlite:${file}`)).out).toMatch(/events +120/);
  expect(journal()).toBe('delete');
});

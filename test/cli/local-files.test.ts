import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { withLocalFiles } from '../../src/cli/local-files.ts';
import { FILE_FORMATS, type ReadFormat } from '../../src/exchange/items/file-formats.ts';
import { bareFixture } from '../exchange/sites.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { COMMAND } from '../support/program.mjs';
import { loadSite } from '../support/site.ts';
import { commandIn, embedded, temporaryFolder } from './command.ts';

const NOW = new Date('2026-11-21T09:00:00Z');

const PAGE = `<script type="application/ld+json">{"@type": "Event", "name": "Ball", "startDate": "2031-01-01", "endDate": "2031-01-01"}</script>`;

/** The copies of piped files that exist. */
const copiesIn = (folder: string): string[] => readdirSync(folder).filter((name) => name.startsWith('fasti-input-'));

describeDatabases('what is piped into fasti', (open, engine) => {
  const folder = temporaryFolder();
  const files = new Map<string, string>();
  let env: Record<string, string>;
  beforeAll(async () => {
    const original = await open();
    const target = await open();
    await loadSite(original);
    await loadSite(target, bareFixture());
    const uploads = { UPLOADS_DIR: join(folder, engine), LOG_LEVEL: 'silent' };
    const fasti = commandIn({ DATABASE_URL: urlOf(original), ...uploads }, { now: NOW });
    for (const format of FILE_FORMATS) {
      files.set(format, join(folder, `${engine}.${format}`));
      expect(await fasti('export', files.get(format)!, `--format=${format}`)).toMatchObject({ code: 0 });
    }
    files.set('jsonld', join(folder, `${engine}.jsonld`));
    writeFileSync(files.get('jsonld')!, PAGE);
    files.set('backup', join(folder, `${engine}.backup`));
    expect(await fasti('backup', files.get('backup')!)).toMatchObject({ code: 0 });
    env = { DATABASE_URL: urlOf(target), ...uploads };
  });

  it.each([...FILE_FORMATS, 'jsonld'] satisfies ReadFormat[])('is imported as the file is: %s', async (format) => {
    const args = [`--as=${format}`, '--dry-run', '--format=json'];
    const direct = await commandIn(env, { now: NOW })('import', files.get(format)!, ...args);
    const piped = await commandIn(env, { now: NOW, input: createReadStream(files.get(format)!) })('import', '-', ...args);
    const { source: _, ...report } = JSON.parse(piped.out);
    const { source: __, ...expected } = JSON.parse(direct.out);
    expect(expected.created.event).toBeGreaterThan(0);
    // The name of the file is part of the places that the report names.
    expect(JSON.stringify(report).replaceAll(/stdin\.\w+/g, 'FILE')).toBe(
      JSON.stringify(expected).replaceAll(`${engine}.${format}`, 'FILE'),
    );
    expect(copiesIn(tmpdir())).toEqual([]);
  });

  it('is restored as the file is', async () => {
    const target = await open();
    const outcome = await commandIn({ ...env, DATABASE_URL: urlOf(target) }, { input: createReadStream(files.get('backup')!) })(
      'restore',
      '-',
    );
    expect(outcome).toMatchObject({ code: 0, out: expect.stringMatching(/^1\d{3} rows restored from stdin\.\n/) });
    const broken = Readable.from([readFileSync(files.get('backup')!).subarray(0, 3000)]);
    expect(await commandIn(env, { input: broken })('restore', '-', '--force')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^Error: stdin is damaged or truncated( \(line \d+\))?\.\n$/),
    });
    expect(copiesIn(tmpdir())).toEqual([]);
  });
});

describe('fasti import -', () => {
  const folder = temporaryFolder();
  const env = embedded(folder);
  const fasti = (input: string, ...args: string[]) => commandIn(env, { now: NOW, input: Readable.from([input]) })('import', '-', ...args);
  beforeAll(async () => {
    expect(await commandIn(env)('init', '--url=http://127.0.0.1')).toMatchObject({ code: 0 });
  });

  it('asks for the format, and cannot follow', async () => {
    expect(await fasti('', '--dry-run')).toMatchObject({ code: 2, err: expect.stringContaining('add --as, one of wxr, jsonl, csv') });
    expect(await fasti('', '--as=csv', '--follow')).toMatchObject({ code: 2, err: expect.stringContaining('nothing to follow') });
  });

  it('writes rejected rows into the current folder', async () => {
    rmSync('stdin.rejected.csv', { force: true });
    try {
      const { code, out } = await fasti('EVENT NAME,EVENT START DATE\nGood,2031-01-01\nBad,someday\n', '--as=csv', '--skip-bad-rows');
      expect({ code, out }).toMatchObject({ code: 3, out: expect.stringContaining('Skipped rows are in stdin.rejected.csv (1)') });
      expect(readFileSync('stdin.rejected.csv', 'utf8')).toContain('Bad,someday');
    } finally {
      rmSync('stdin.rejected.csv', { force: true });
    }
  });
});

describe('the copy of what is piped', () => {
  const folder = temporaryFolder();

  it('is for its user alone, and goes when an error ends the command', async () => {
    let copy = '';
    const use = async ([file = '']: readonly string[]) => {
      copy = file;
      expect(statSync(file).mode & 0o077).toBe(0);
      expect(readFileSync(file, 'utf8')).toBe('text');
      throw new Error('ended');
    };
    await expect(withLocalFiles({ input: () => Readable.from(['text']) }, ['-'], 'csv', use)).rejects.toThrow('ended');
    expect(existsSync(copy)).toBe(false);
  });

  it('names what cannot be read, or the folder that cannot be written', async () => {
    const use = async () => undefined;
    const broken = Object.assign(new Error('input'), { code: 'EIO' });
    const input = () =>
      new Readable({
        read() {
          this.destroy(broken);
        },
      });
    const fault = (values: object) => expect.objectContaining(values);
    await expect(withLocalFiles({ input }, ['-'], 'csv', use)).rejects.toEqual(
      fault({ fault: 'unreadable', values: { file: '-', what: 'EIO' } }),
    );
    const temporary = join(folder, 'no-folder');
    writeFileSync(temporary, '');
    await expect(withLocalFiles({ input, temporary }, ['-'], 'csv', use)).rejects.toEqual(
      fault({ fault: 'unwritable', values: { file: temporary, what: 'EEXIST' } }),
    );
  });

  it('is made once if standard input is named twice', () =>
    withLocalFiles({ input: () => Readable.from(['text']) }, ['-', '-'], 'csv', async ([one, other]) => {
      expect(other).toBe(one);
      expect(readFileSync(one!, 'utf8')).toBe('text');
    }));

  it('is made of named pipes too, but not of files and addresses', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const file = join(folder, 'file');
    writeFileSync(file, 'a file');
    const written = writeFile(pipe, 'piped');
    const places = [pipe, file, 'https://town.example/calendar.ics'];
    await withLocalFiles({}, places, undefined, async ([copy, ...others]) => {
      expect(readFileSync(copy!, 'utf8')).toBe('piped');
      expect(others).toEqual(places.slice(1));
    });
    await written;
  });

  it('is removed when the command is interrupted', async () => {
    const env = { ...process.env, ...embedded(folder), TMPDIR: folder, NODE_OPTIONS: '' };
    const child = spawn(process.execPath, [COMMAND, 'restore', '-'], { env, stdio: ['pipe', 'ignore', 'inherit'] });
    child.stdin.write('the start of a backup');
    const copies = () => copiesIn(folder);
    while (copies().length === 0) await sleep(20);
    child.kill('SIGINT');
    await once(child, 'exit');
    expect(copies()).toEqual([]);
  });
});

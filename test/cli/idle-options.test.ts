import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';
import { commandIn, embedded, temporaryFolder } from './command.ts';

const folder = temporaryFolder();
const fasti = commandIn(embedded(folder));
const lines = join(folder, 'calendar.jsonl');

beforeAll(async () => {
  expect((await fasti('init')).code).toBe(0);
  await fasti('tag', 'create', '--name=Jazz');
  expect((await fasti('export', lines)).code).toBe(0);
  writeFileSync(join(folder, 'calendar.ics'), 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nEND:VCALENDAR\r\n');
});

it.each([
  [['tag', 'list', '--format=count', '--fields=id'], ['--fields has no effect with --format=count.']],
  [['tag', 'list', '--format=ids', '--field=name'], ['--field has no effect with --format=ids.']],
  [['tag', 'list', '--field=name', '--fields=id'], ['--fields has no effect with --field.']],
  [['tag', 'get', 'jazz', '--etag', '--format=json'], ['--format has no effect with --etag.']],
  [['tag', 'get', 'jazz', '--format=json', '--fields=id'], []],
  [['tag', 'list', '--field=name', '--format=json'], []],
  [['doctor', '--yes'], ['--yes has no effect without --fix.']],
  [['doctor', '--fix', '--yes'], []],
  [['import', lines, '--dry-run'], []],
  [['import', lines, '--dry-run', '--follow'], ['--follow has no effect with --dry-run.']],
  [
    ['import', lines, '--dry-run', '--date-order=dmy', '--prefix=wp_', '--rate=2'],
    ['prefix', 'date-order', 'rate'].map((name) => `--${name} has no effect with a source of this kind.`),
  ],
  [['import', join(folder, 'calendar.ics'), '--dry-run', '--from=2026-01-01'], []],
  [['import', join(folder, 'calendar.ics'), '--dry-run', '--map=A=name'], ['--map has no effect with a source of this kind.']],
])('%j warns of options without effect', async (args, warnings) => {
  const { code, err } = await fasti(...args);
  expect(err).toBe(warnings.map((text) => `Warning: ${text}\n`).join(''));
  expect(code).toBe(0);
});

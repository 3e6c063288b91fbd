import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';
import { commandsWithoutSubcommands, documentedProgram, fullCommandName } from '../../src/cli/commands-page.ts';
import { userOf } from '../../src/cli/options.ts';
import { kinds } from '../../src/kinds/index.ts';
import { loadTexts } from '../../src/texts.ts';
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

it('refuses --user with a command that would ignore it and act with all rights', async () => {
  expect((await fasti('user', 'create', 'anna', 'anna@example.org', '--role=subscriber')).code).toBe(0);
  for (const args of [['option', 'set', 'title', 'Other'], ['user', 'delete', 'anna'], ['backup', join(folder, 'x.backup')], ['doctor']])
    for (const user of ['anna', 'nobody'])
      expect(await fasti(`--user=${user}`, ...args)).toMatchObject({
        code: 2,
        out: '',
        err: 'Error: this command does not act as a user: it ignores rights, so --user cannot limit them.\n',
      });
  expect((await fasti('user', 'list', '--format=count')).out).toBe('2\n');
  expect((await fasti('--user=anna', 'tag', 'delete', 'jazz')).code).toBe(1);
});

it('knows of each command whether it acts as a user', async () => {
  const texts = await loadTexts(['en']);
  const acting = commandsWithoutSubcommands(documentedProgram(texts)).filter((command) => {
    try {
      userOf(command);
      return true;
    } catch {
      return false;
    }
  });
  const groups = new Set(acting.map((command) => fullCommandName(command).split(' ')[1]));
  expect([...groups]).toEqual(['seed', ...kinds.map(({ name }) => name), 'media', 'languages', 'import', 'export']);
});

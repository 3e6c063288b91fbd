import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

/** Old files of earlier nights, some of them from nights that were interrupted. */
const NIGHTLY = [
  '2026-11-01.backup',
  '2026-11-01-uploads.tar.gz',
  '2026-11-02-uploads.tar.gz.part',
  '2026-11-02.backup.0123abcd.part',
  '2026-11-02.backup.0123abcd.part-wal',
];
/** Old backups of an administrator, and of editors at the desk. */
const OTHERS = [
  'before-upgrade.backup', '2026-11-01-before-upgrade.backup', '2026-11-01-before.part1.backup', '2026-11-01-133000-anna.backup',
  '2026-11-01-133000-anna.partini.backup',
]; // biome-ignore format: a list of names

/** The command of the unit, as systemd gives it to the shell, with its folders below another. */
function commandBelow(folder: string): string {
  const unit = readFileSync(new URL('../../docs/examples/fasti-backup.service', import.meta.url), 'utf8');
  const [, command = ''] = /^ExecStart=\/bin\/sh -euc '(.*)'$/m.exec(unit) ?? [];
  return command.replaceAll('$$', '$').replaceAll('%%', '%').replaceAll('/opt/', `${folder}/opt/`).replaceAll('/var/', `${folder}/var/`);
}

/**
 * Runs it where `tar` writes an archive and ends with this code. Gives its own code, the old files that are still
 * there, and the archive of the day, of which there was one before.
 */
function backUpWhereTarEndsWith(code: number): [status: number | null, oldFiles: readonly string[], archive: string] {
  const folder = mkdtempSync(join(tmpdir(), 'fasti-nightly-'));
  for (const below of ['opt/fasti/bin', 'var/lib/fasti/backups', 'bin', 'uploads']) mkdirSync(join(folder, below), { recursive: true });
  for (const [name, line] of [
    ['opt/fasti/bin/fasti', ':'],
    ['bin/tar', `printf new > "$4"\nexit ${code}`],
    ['bin/date', 'echo 2026-11-28'],
  ] as const) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  const backups = join(folder, 'var/lib/fasti/backups');
  for (const name of [...NIGHTLY, ...OTHERS]) {
    writeFileSync(join(backups, name), '');
    utimesSync(join(backups, name), 1, 1);
  }
  const archive = join(backups, '2026-11-28-uploads.tar.gz');
  writeFileSync(archive, 'earlier');
  const env = { PATH: `${folder}/bin:${process.env.PATH}`, UPLOADS_DIR: join(folder, 'uploads') };
  const { status } = spawnSync('/bin/sh', ['-euc', commandBelow(folder)], { env });
  return [status, [...NIGHTLY, ...OTHERS].filter((name) => existsSync(join(backups, name))), readFileSync(archive, 'utf8')];
}

it('the nightly backup deletes its own old files only, goes on where a file was uploaded meanwhile, and keeps the archive where uploads cannot be read', () => {
  expect([0, 1, 2].map(backUpWhereTarEndsWith)).toEqual([
    [0, OTHERS, 'new'],
    [0, OTHERS, 'new'],
    [1, [...NIGHTLY, ...OTHERS], 'earlier'],
  ]);
});

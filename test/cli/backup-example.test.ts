import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

/** The command of the unit, as systemd gives it to the shell, with its folders below another. */
function commandBelow(folder: string): string {
  const unit = readFileSync(new URL('../../docs/examples/fasti-backup.service', import.meta.url), 'utf8');
  const [, command = ''] = /^ExecStart=\/bin\/sh -euc '(.*)'$/m.exec(unit) ?? [];
  return command.replaceAll('$$', '$').replaceAll('%%', '%').replaceAll('/opt/', `${folder}/opt/`).replaceAll('/var/', `${folder}/var/`);
}

/**
 * Runs it where `tar` writes an archive and ends with this code. Gives its own code, whether the old backup is still
 * there, and the archive of the day, of which there was one before.
 */
function backUpWhereTarEndsWith(code: number): [status: number | null, isOldThere: boolean, archive: string] {
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
  const old = join(folder, 'var/lib/fasti/backups/2026-11-01.backup');
  writeFileSync(old, '');
  utimesSync(old, 1, 1);
  const archive = join(folder, 'var/lib/fasti/backups/2026-11-28-uploads.tar.gz');
  writeFileSync(archive, 'earlier');
  const env = { PATH: `${folder}/bin:${process.env.PATH}`, UPLOADS_DIR: join(folder, 'uploads') };
  const { status } = spawnSync('/bin/sh', ['-euc', commandBelow(folder)], { env });
  return [status, existsSync(old), readFileSync(archive, 'utf8')];
}

it('the nightly backup of the examples goes on where a file was uploaded meanwhile, and keeps the archive where uploads cannot be read', () => {
  expect([0, 1, 2].map(backUpWhereTarEndsWith)).toEqual([
    [0, false, 'new'],
    [0, false, 'new'],
    [1, true, 'earlier'],
  ]);
});

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A separate disk with little space. */
export interface SmallDisk {
  readonly folder: string;
  /** Fills the disk except for this many kilobytes; `free` makes space again. */
  readonly fill: (left?: number) => void;
  readonly free: () => void;
  readonly remove: () => void;
}

/** Mounts a disk of this many kilobytes; undefined if the tests lack the permission to mount. */
export function smallDisk(kilobytes: number): SmallDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'fasti-disk-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', folder], { stdio: 'ignore' });
  const remove = () => {
    if (status === 0) spawnSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true, force: true });
  };
  if (status !== 0) {
    remove();
    return undefined;
  }
  const filler = join(folder, 'filler');
  return {
    folder,
    fill: (left = 0) => {
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - left * 1024)));
    },
    free: () => rmSync(filler, { force: true }),
    remove,
  };
}

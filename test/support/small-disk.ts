import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A disk of its own with little room. */
export interface SmallDisk {
  readonly folder: string;
  /** Fills it, all but so many kilobytes, and makes room again. */
  readonly fill: (left?: number) => void;
  readonly free: () => void;
  readonly remove: () => void;
}

/** Mounts a disk of so many kilobytes; undefined where that takes rights that the tests don't have. */
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

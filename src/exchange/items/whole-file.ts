import { open, rename, rm, stat } from 'node:fs/promises';
import { OWN_FILE } from '../../host/files.ts';

/**
 * Writes a file that is there whole or not at all: `write` fills a part beside it, which takes its name when it is on
 * the disk. Devices and pipes take what comes. `mode`: who may read it, from the beginning on; what it holds is not for
 * everybody.
 */
export async function writeWhole<Result>(file: string, write: (part: string) => Promise<Result>, mode = OWN_FILE): Promise<Result> {
  const present = await stat(file).catch(() => undefined);
  if (present && !present.isFile()) return write(file);
  const part = `${file}.part`;
  try {
    await rm(part, { force: true });
    await (await open(part, 'w', mode)).close();
    const result = await write(part);
    const written = await open(part, 'r+');
    await written.sync().finally(() => written.close());
    await rename(part, file);
    return result;
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

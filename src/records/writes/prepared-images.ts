import { isNewRecord } from '../../kinds/grammars/links.ts';
import type { Values } from '../../kinds/param.ts';
import type { PreparedImage } from '../../media/images.ts';
import { isObject } from '../../objects.ts';
import { markErrorsAfterCommit, mayHaveBeenWritten, type Site } from '../../site.ts';

/**
 * Whether a value is an image that was fetched for this request: its files are on disk, but its rows are not written
 * yet. Values that were passed on as sent may have members of any name, but no functions.
 */
export const isPrepared = (value: unknown): value is PreparedImage =>
  isObject(value) && 'undo' in value && typeof value.undo === 'function';

/** Does work with these values. If it fails, the files that were fetched for them are deleted. */
export const withImageCleanup = <Result>(site: Site, values: Values, work: (site: Site) => Promise<Result>): Promise<Result> =>
  withFileCleanup(site, work, () => discardImages(values));

/**
 * Deletes the files that were fetched for these values, and for those of new linked records, because the request
 * failed.
 */
export async function discardImages(values: Values): Promise<void> {
  await Promise.all(preparedIn(values).map((image) => image.undo()));
}

/**
 * Runs a write whose files are already on disk, and removes them with `undo` if it fails. If the write was committed
 * before the failure, or if that is unknown, the files stay, since rows may refer to them.
 *
 * @throws as `markErrorsAfterCommit`
 */
export async function withFileCleanup<Result>(
  site: Site,
  work: (site: Site) => Promise<Result>,
  undo: () => Promise<unknown>,
): Promise<Result> {
  try {
    return await markErrorsAfterCommit(site, work);
  } catch (error) {
    if (!mayHaveBeenWritten(error)) await undo();
    throw error;
  }
}

const preparedIn = (values: Values): PreparedImage[] =>
  Object.values(values).flatMap((value) => {
    if (isPrepared(value)) return [value];
    return Array.isArray(value) ? value.flatMap((item: unknown) => (isNewRecord(item) ? preparedIn(item.values) : [])) : [];
  });

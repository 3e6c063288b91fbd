import type { LinkPlan } from '../kinds/link-grammar.ts';
import type { Values } from '../kinds/param.ts';
import type { PreparedImage } from '../media/images.ts';
import { DatabaseUnavailable } from '../storage/engine/database.ts';

/** An image that was fetched for this request: its files are on disk, its rows are not written yet. */
export const isPrepared = (value: unknown): value is PreparedImage => value !== null && typeof value === 'object' && 'undo' in value;

/** A new venue or organizer that a record brings along. */
export const isNewRecord = (plan: unknown): plan is Extract<LinkPlan, { readonly values: Values }> =>
  plan !== null && typeof plan === 'object' && 'values' in plan;

/** Does some work with these values. If it fails, the files that were fetched for them are deleted. */
export const discardingImages = <Result>(values: Values, work: () => Promise<Result>): Promise<Result> =>
  withFiles(work, () => discardImages(values));

/**
 * Takes back the files that were fetched for these values, and for those of new linked records, when nothing comes of
 * the request.
 */
export async function discardImages(values: Values): Promise<void> {
  await Promise.all(preparedIn(values).map((image) => image.undo()));
}

/**
 * Runs a write whose files are on disk already, and removes them with `undo` if it fails. If nobody knows whether it
 * was committed they stay, since rows may name them.
 */
export async function withFiles<Result>(work: () => Promise<Result>, undo: () => Promise<unknown>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable && error.reason === 'uncertain')) await undo();
    throw error;
  }
}

const preparedIn = (values: Values): PreparedImage[] =>
  Object.values(values).flatMap((value) => {
    if (isPrepared(value)) return [value];
    return Array.isArray(value) ? value.flatMap((item: unknown) => (isNewRecord(item) ? preparedIn(item.values) : [])) : [];
  });

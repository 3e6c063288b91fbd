import { firstCharacters } from '../../wordpress/content/plain-text.ts';
/** Kinds of items in reports. */
export type ReportedKind = 'event' | 'venue' | 'organizer' | 'attachment' | 'category' | 'tag' | 'author' | 'settings';

/**
 * Something that the import could not keep, or had to change. `reason` is the key of a sentence in `exchange:losses`.
 */
export interface Loss {
  readonly reason: string;
  readonly kind: ReportedKind | 'source';
  /** The record concerned: a `sourceId`, a title, a name. */
  readonly of: string;
  readonly place?: string | undefined;
  /** Details of the loss: a key, a value. */
  readonly detail?: string | undefined;
  /** The kind of record that the detail names, if it is a link. */
  readonly linked?: 'venue' | 'organizer' | 'attachment' | undefined;
}

/** Entries of a reader that are not items. */
export type NonItemEntry = SkippedEntry | LossEntry | DatesEntry;

/** Something that is not part of a calendar (`post`, `page`, `comment`), and its number. */
export interface SkippedEntry {
  readonly kind: 'skipped';
  readonly what: string;
  readonly count: number;
}

export interface LossEntry {
  readonly kind: 'loss';
  readonly loss: Loss;
  /** Whether a whole record could not be imported, rather than a part of one. */
  readonly isWhole?: true;
  /** The id of that post in the source, if it is known. */
  readonly sourceId?: string;
}

/**
 * States that the items include all dates of an event between two moments (`YYYY-MM-DD HH:MM:SS`, in local time of the
 * calendar). Other dates from earlier imports are no longer part of it. `name`: its UID, or the lasting part of it.
 */
export interface DatesEntry {
  readonly kind: 'dates';
  readonly name: string;
  readonly between: readonly [first: string, last: string];
}

/** Returns an entry that reports a loss, without details if they are undefined. */
export const lossEntry = ({ detail, ...loss }: Loss): LossEntry => ({
  kind: 'loss',
  loss: { ...loss, ...(detail === undefined ? {} : { detail }) },
});

/** Marks a loss as that of a whole record. `sourceId`: the id of the post in the source, if it is known. */
export const asWholeRecord = (entry: LossEntry, sourceId?: string): LossEntry => ({
  ...entry,
  isWhole: true,
  ...(sourceId === undefined ? {} : { sourceId }),
});

/** All losses for one reason: their number, and the first of them. */
export interface LossSum {
  readonly reason: string;
  readonly count: number;
  readonly examples: readonly Loss[];
}

export type Count = Readonly<Partial<Record<ReportedKind, number>>>;

/** The result of an import. */
export interface Report {
  /** Name of the source in the ledger. */
  readonly source: string;
  readonly dryRun: boolean;
  readonly created: Count;
  readonly updated: Count;
  /** Already as in the source; nothing was written. */
  readonly unchanged: Count;
  /** No longer in the source, and moved to the trash. */
  readonly trashed: Count;
  /** Not part of a calendar, by type (`post`, `page`, `comment`); ignored. */
  readonly skipped: Readonly<Record<string, number>>;
  /** Records that could not be imported at all. */
  readonly lost: Count;
  readonly losses: readonly LossSum[];
}

/** Maximum number of losses of one reason that are kept in full. */
const MAX_EXAMPLES = 20;

/** The contribution of one step to a report. */
export interface Tally {
  readonly created: Partial<Record<ReportedKind, number>>;
  readonly updated: Partial<Record<ReportedKind, number>>;
  readonly unchanged: Partial<Record<ReportedKind, number>>;
  readonly trashed: Partial<Record<ReportedKind, number>>;
  readonly skipped: Record<string, number>;
  readonly lost: Partial<Record<ReportedKind, number>>;
  readonly losses: Map<string, { count: number; examples: Loss[] }>;
}

/** Returns a tally of nothing. */
export const newTally = (): Tally => ({ created: {}, updated: {}, unchanged: {}, trashed: {}, skipped: {}, lost: {}, losses: new Map() });

/** Adds to one of several counts, which may not exist yet. */
export function addToCount(counts: Partial<Record<string, number>>, name: string, amount = 1): void {
  counts[name] = ((Object.hasOwn(counts, name) && counts[name]) || 0) + amount;
}

/** Reports a loss. For each reason, only the first ones are kept in full. */
export function addLoss(tally: Tally, loss: Loss): void {
  addLosses(tally, loss.reason, 1, [loss]);
}

/** Adds an entry that is not an item to a tally; entries about dates are ignored. */
export function addAside(tally: Tally, entry: NonItemEntry): void {
  if (entry.kind === 'skipped') {
    addToCount(tally.skipped, entry.what, entry.count);
    return;
  }
  if (entry.kind === 'dates') return;
  const { loss, isWhole } = entry;
  if (isWhole && loss.kind !== 'source') addToCount(tally.lost, loss.kind);
  addLoss(tally, loss);
}

/** Adds one tally to another. */
export function mergeTally(sum: Tally, tally: Tally): void {
  for (const name of ['created', 'updated', 'unchanged', 'trashed', 'skipped', 'lost'] as const) {
    for (const [kind, number] of Object.entries(tally[name])) addToCount(sum[name], kind, number);
  }
  for (const [reason, { count: number, examples }] of tally.losses) addLosses(sum, reason, number, examples);
}

function addLosses({ losses }: Tally, reason: string, number: number, examples: readonly Loss[]): void {
  const sum = losses.get(reason) ?? { count: 0, examples: [] };
  losses.set(reason, sum);
  sum.count += number;
  sum.examples.push(...examples.slice(0, MAX_EXAMPLES - sum.examples.length).map(shortenLoss));
}

const MAX_TEXT_LENGTH = 200;
const shortenLoss = (loss: Loss): Loss => ({
  ...loss,
  of: firstCharacters(loss.of, MAX_TEXT_LENGTH),
  ...(loss.detail === undefined ? {} : { detail: firstCharacters(loss.detail, MAX_TEXT_LENGTH) }),
});

/** Returns the losses by reason. */
export const lossesIn = ({ losses }: Pick<Tally, 'losses'>): Report['losses'] =>
  Array.from(losses, ([reason, sum]) => ({ reason, ...sum }));

/** Returns the counts of a report as shown to people; `trashed` only if something was moved to the trash. */
export const countsToShow = ({ created, updated, unchanged, trashed, lost }: Report): Readonly<Record<string, Count>> => ({
  created,
  updated,
  unchanged,
  ...(Object.keys(trashed).length > 0 ? { trashed } : {}),
  lost,
});

/** Returns the report of an import from its tally. */
export function reportOf({ source, dryRun }: Pick<Report, 'source' | 'dryRun'>, { losses, ...counts }: Tally): Report {
  return { source, dryRun, ...counts, losses: lossesIn({ losses }) };
}

/** Serializes a tally for the database. `tallyFrom` parses it; an empty text yields an empty tally. */
export const tallyText = ({ losses, ...counts }: Tally): string => JSON.stringify({ ...counts, losses: [...losses] });

/** Parses a tally that `tallyText` has written. */
export function tallyFrom(text: string): Tally {
  if (text === '') return newTally();
  const { losses, ...counts }: Omit<Tally, 'losses'> & { losses: [string, { count: number; examples: Loss[] }][] } = JSON.parse(text);
  // A tally of an earlier version lacks counts that did not exist then.
  return { ...newTally(), ...counts, losses: new Map(losses) };
}

/**
 * Reasons that do not lose any record: an id or a slug was taken, dates were corrected, users, settings and coordinates
 * need attention.
 */
const HARMLESS = new Set([
  'id-taken', 'slug-taken', 'author-without-role', 'author-removed', 'author-spam', 'setting-differs', 'duration-mended', 'utc-mended', 'date-mended',
  'version-older', 'deleted-here', 'restored-here',
  'encoding-assumed', 'end-next-day', 'field-hidden', 'ical-series-past', 'coordinates-wrong',
]); // biome-ignore format: a list of names

/** Whether something of the source was not imported. */
export const isIncomplete = ({ lost, losses }: Report): boolean =>
  Object.keys(lost).length > 0 || losses.some(({ reason }) => !HARMLESS.has(reason));

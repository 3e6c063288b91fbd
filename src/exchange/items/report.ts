import { firstCharacters } from '../../wordpress/content/plain-text.ts';
/** A kind of item, as `items.ts` has them. */
export type ReportedKind = 'event' | 'venue' | 'organizer' | 'attachment' | 'category' | 'tag' | 'author' | 'settings';

/**
 * Something of a source that the import could not keep, or kept otherwise. `reason` names a sentence in
 * `exchange:losses`.
 */
export interface Loss {
  readonly reason: string;
  readonly kind: ReportedKind | 'source';
  /** Of what: a `sourceId`, a title, a name. */
  readonly of: string;
  readonly place?: string | undefined;
  /** What exactly was lost: a key, a value. */
  readonly detail?: string | undefined;
  /** Which kind of record the detail names, where it is one that the record links to. */
  readonly linked?: 'venue' | 'organizer' | 'attachment' | undefined;
}

/** What a reader gives besides items. */
export type Aside = SkippedEntry | LossEntry | DatesEntry;

/** Something that is no part of a calendar (`post`, `page`, `comment`), and how many of it. */
export interface SkippedEntry {
  readonly kind: 'skipped';
  readonly what: string;
  readonly count: number;
}

export interface LossEntry {
  readonly kind: 'loss';
  readonly loss: Loss;
  /** Whether it is a whole record that could not be taken in, rather than something of one. */
  readonly isWhole?: true;
}

/**
 * All dates of the event of this UID are among the items, as far as they lie between two moments (`YYYY-MM-DD
 * HH:MM:SS`, by the clock of the calendar): others that came earlier are no longer dates of it.
 */
export interface DatesEntry {
  readonly kind: 'dates';
  readonly uid: string;
  readonly between: readonly [first: string, last: string];
}

/** A loss as that of a whole record. */
export const asWhole = (entry: LossEntry): LossEntry => ({ ...entry, isWhole: true });

/** All losses for one reason: how many, and the first of them. */
export interface LossSum {
  readonly reason: string;
  readonly count: number;
  readonly examples: readonly Loss[];
}

export type Count = Readonly<Partial<Record<ReportedKind, number>>>;

/** The result of an import. */
export interface Report {
  /** The name of the source in the ledger. */
  readonly source: string;
  readonly dryRun: boolean;
  readonly created: Count;
  readonly updated: Count;
  /** As it was: nothing had to be done. */
  readonly unchanged: Count;
  /** No longer so in the source, and moved to the trash. */
  readonly trashed: Count;
  /** Not of the calendar, by what it is (`post`, `page`, `comment`): left aside. */
  readonly skipped: Readonly<Record<string, number>>;
  /** Records that could not be taken in at all. */
  readonly lost: Count;
  readonly losses: readonly LossSum[];
}

/** How many losses of one reason are kept word for word. */
const MOST_EXAMPLES = 20;

/** What one piece of work adds to a report. */
export interface Tally {
  readonly created: Partial<Record<ReportedKind, number>>;
  readonly updated: Partial<Record<ReportedKind, number>>;
  readonly unchanged: Partial<Record<ReportedKind, number>>;
  readonly trashed: Partial<Record<ReportedKind, number>>;
  readonly skipped: Record<string, number>;
  readonly lost: Partial<Record<ReportedKind, number>>;
  readonly losses: Map<string, { count: number; examples: Loss[] }>;
}

export const newTally = (): Tally => ({ created: {}, updated: {}, unchanged: {}, trashed: {}, skipped: {}, lost: {}, losses: new Map() });

export function count(counts: Partial<Record<string, number>>, name: string, more = 1): void {
  counts[name] = ((Object.hasOwn(counts, name) && counts[name]) || 0) + more;
}

/** Notes a loss; of each reason only the first are kept word for word. */
export function lose(tally: Tally, loss: Loss): void {
  addLosses(tally, loss.reason, 1, [loss]);
}

/** Notes what came besides items; of dates there is nothing to say yet. */
export function noteAside(tally: Tally, entry: Aside): void {
  if (entry.kind === 'skipped') {
    count(tally.skipped, entry.what, entry.count);
    return;
  }
  if (entry.kind === 'dates') return;
  const { loss, isWhole } = entry;
  if (isWhole && loss.kind !== 'source') count(tally.lost, loss.kind);
  lose(tally, loss);
}

/** Adds one tally to another. */
export function addTally(sum: Tally, more: Tally): void {
  for (const name of ['created', 'updated', 'unchanged', 'trashed', 'skipped', 'lost'] as const) {
    for (const [kind, number] of Object.entries(more[name])) count(sum[name], kind, number);
  }
  for (const [reason, { count: number, examples }] of more.losses) addLosses(sum, reason, number, examples);
}

function addLosses({ losses }: Tally, reason: string, number: number, examples: readonly Loss[]): void {
  const sum = losses.get(reason) ?? { count: 0, examples: [] };
  losses.set(reason, sum);
  sum.count += number;
  sum.examples.push(...examples.slice(0, MOST_EXAMPLES - sum.examples.length).map(shortened));
}

const LONGEST = 200;
const shortened = (loss: Loss): Loss => ({
  ...loss,
  of: firstCharacters(loss.of, LONGEST),
  ...(loss.detail === undefined ? {} : { detail: firstCharacters(loss.detail, LONGEST) }),
});

/** What was lost, by reason. */
export const lossesIn = ({ losses }: Pick<Tally, 'losses'>): Report['losses'] =>
  Array.from(losses, ([reason, sum]) => ({ reason, ...sum }));

/** What people are shown of a report as a table; what went to the trash only where something did. */
export const shownCounts = ({ created, updated, unchanged, trashed, lost }: Report): Readonly<Record<string, Count>> => ({
  created,
  updated,
  unchanged,
  ...(Object.keys(trashed).length > 0 ? { trashed } : {}),
  lost,
});

export function reportOf({ source, dryRun }: Pick<Report, 'source' | 'dryRun'>, { losses, ...counts }: Tally): Report {
  return { source, dryRun, ...counts, losses: lossesIn({ losses }) };
}

/** A tally as text for the database, and back; what is no tally counts as an empty one. */
export const tallyText = ({ losses, ...counts }: Tally): string => JSON.stringify({ ...counts, losses: [...losses] });

export function tallyFrom(text: string): Tally {
  if (text === '') return newTally();
  const { losses, ...counts }: Omit<Tally, 'losses'> & { losses: [string, { count: number; examples: Loss[] }][] } = JSON.parse(text);
  // One of an earlier version lacks what it did not count.
  return { ...newTally(), ...counts, losses: new Map(losses) };
}

/**
 * What leaves every record in its place: an id or a slug that was taken already, dates that were put right, people and
 * settings that have to be looked after.
 */
const HARMLESS = new Set([
  'id-taken', 'slug-taken', 'author-without-role', 'setting-differs', 'duration-mended', 'utc-mended', 'date-mended', 'version-older',
  'encoding-assumed', 'end-next-day',
]); // biome-ignore format: a list of names

/** Whether something of the source did not come over. */
export const isIncomplete = ({ lost, losses }: Report): boolean =>
  Object.keys(lost).length > 0 || losses.some(({ reason }) => !HARMLESS.has(reason));

import { setTimeout } from 'node:timers/promises';

/*
 * Measures how the cost of some work grows with the length of a text, in processor time, so that the load of the
 * machine does not matter.
 */

/** Building blocks of hostile texts: characters that patterns skip, and starts of constructs that are never closed. */
// biome-ignore format: pieces
export const FILLERS: readonly string[] = [
  'a', 'A', '0', ' ', '\t', '\n', '\r\n', '\0', '\u00a0', 'é', 'ß', 'ﬁ', '日', '😀', '\ufffd', '-', '_', '.', ',', ';', ':', '/', '\\', '!', '?', '@', '#', '$',
  '%', '^', '&', '*', '+', '=', '|', '~', '`', "'", '"', '(', ')', '[', ']', '{', '}', '<', '>',
  '<a ', '<a>', '</', '</p>', '<p>', '<br>', '<p><li>', '<pre>', '<!--', '-->', '<!-- wp:paragraph -->', '<!-- /wp:paragraph -->', '<![CDATA[', '<?', '<script>',
  '<img ', '<img src="/uploads/a.png" class="wp-image-1">', '<a href="', '<div style="background:url(', 'url(', 'url(a)', 'background:url(a);', 'rgb(',
  'var(', 'linear-gradient(', '&amp;', '&lt;', '&#', '&#x3a', '&a', '%C3', '%2', '"\'', '\'"', '\\"', '[x', '[[', ']]', '[caption', '[caption]', '[/caption]',
  '[gallery ids="1,', '[embed]', 'http://', 'http://a ', 'www.', 'a@', 'a=', 'a="', "a='", ' a', 'a ', '\n ', ' \n', '\n\n', ', ', '1,', '1.', '1-', '-1', '+1 ',
  '1 000', '9:', '1e', 'a,', 'a-', "x'", '4x', '12 ', '--', '---', '...', ':)', ' :)', 'BEGIN:VEVENT\n', 's:1:"', 'a:1:{', ';";', 'monday ', 'T1', '(tm)',
  '\u0301', '//', '../', ';//', '=?',
];

/** Pairs of consecutive fillers: starts of nested constructs, and their content. */
export const PAIRS: readonly (readonly [string, string])[] = [
  ['<!-- wp:shortcode -->', 'a\n'],
  ['<!-- wp:group -->', '<b>'],
  ['<!-- wp:heading -->', '<b>'],
];

/**
 * Creates a text of about this many bytes between two letters: one repeated filler, or half of one and half of another
 * filler.
 */
export function repeatFiller(
  filler: string | readonly [string, string],
  bytes: number,
  [before, after]: readonly [string, string] = ['a', 'b'],
): string {
  if (typeof filler !== 'string') return repeatFiller(filler[0], bytes / 2, [before, '']) + repeatFiller(filler[1], bytes / 2, ['', after]);
  return before + filler.repeat(Math.max(1, Math.floor((bytes - before.length - after.length) / Buffer.byteLength(filler)))) + after;
}

/** Returns the processor time used so far, in microseconds; by default that of this process. */
export type Clock = () => number;

const ownClock: Clock = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/**
 * Work that takes this long, in microseconds, is measured twice at most, since other load hardly affects it. Once would
 * not do: a collection of all garbage of the process may fall into it.
 */
const LONG_RUN_MICROSECONDS = 1_000_000;
const MAX_LONG_RUNS = 2;

/** Processor time in microseconds: the minimum of several tries, since other load only adds to it. */
export async function measureCpuTime(work: () => unknown, tries: number, clock = ownClock): Promise<number> {
  let minimum = Number.POSITIVE_INFINITY;
  for (let runs = 0; runs < tries && (runs < MAX_LONG_RUNS || minimum < LONG_RUN_MICROSECONDS); runs += 1) {
    const before = clock();
    await work();
    minimum = Math.min(minimum, clock() - before);
  }
  return minimum;
}

export interface Bounds {
  /** The longest text, in bytes. */
  readonly longest: number;
  /** Cost in microseconds below which work on the longest text is harmless, however it grows. */
  readonly floor: number;
  readonly clock?: Clock;
  /**
   * A high exponent counts only if it stays high up to texts this many times longer: superlinear work keeps growing
   * faster, while the first allocation of memory costs more only once. Not suitable for work that refuses longer texts.
   */
  readonly confirmationFactor?: number;
}

/** Factor by which the text grows between two measurements. */
const GROWTH_FACTOR = 4;
/** The highest accepted exponent; linear work has the exponent 1, quadratic work 2. */
export const MAX_EXPONENT = 1.6;
const MIN_ROUNDS = 2;
const MAX_ROUNDS = 12;
/** One round is enough if its ratio is at most this share of the limit: no other load changes a ratio as much. */
const CLEARLY_BELOW = 0.6;
/** No further round begins once the rounds have taken this much processor time, in microseconds. */
const LONG_ENOUGH_MICROSECONDS = 20_000_000;
/** The pause before each further round is this much longer, in milliseconds. */
const PAUSE_MS = 50;

export interface Comparison {
  /** The work that should cost little more than other work. */
  readonly work: () => unknown;
  /** The work to compare with. */
  readonly reference: () => unknown;
  /** The highest expected ratio of the costs. */
  readonly limit: number;
  /** Cost of `work` in microseconds below which it is harmless, whatever the other work costs; by default 0. */
  readonly floor?: number;
  /** Number of times that each is measured in a round; by default 2. */
  readonly tries?: number;
  /** Known upper bound of the cost of `work`, in microseconds. */
  readonly knownCost?: number;
  readonly clock?: Clock;
}

/**
 * Returns how many times as much the work costs as the other work, or 0 below the floor. Both are measured in turns. A
 * ratio above the limit counts only if the least costs of all rounds have it, with growing pauses between them: other
 * load on the machine passes, but work that is too expensive remains so.
 */
export async function measureCostRatio({ work, reference, limit, floor = 0, tries = 2, knownCost, clock }: Comparison): Promise<number> {
  let [cost, least, ratio] = [knownCost ?? Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const begun = ownClock();
  const isSettled = (rounds: number) => ratio <= limit * (rounds < MIN_ROUNDS ? CLEARLY_BELOW : 1);
  const mayContinue = (rounds: number) => rounds < MIN_ROUNDS || (rounds < MAX_ROUNDS && ownClock() - begun < LONG_ENOUGH_MICROSECONDS);
  for (let round = 1; ; round += 1) {
    least = Math.min(least, await measureCpuTime(reference, tries, clock));
    if (round > 1 || knownCost === undefined) cost = Math.min(cost, await measureCpuTime(work, tries, clock));
    if (cost < floor) return 0;
    ratio = cost / Math.max(least, 1);
    if (isSettled(round) || !mayContinue(round)) return ratio;
    if (round >= MIN_ROUNDS) await setTimeout(round * PAUSE_MS);
  }
}

/**
 * Returns the exponent with which the cost of some work grows up to the longest text, or undefined if the cost stays
 * below the floor. Short and long texts are measured in turns, so that neither an accidentally expensive short text
 * hides growth nor an accidentally expensive long one shows growth where there is none.
 */
export async function measureGrowthExponent(
  work: (bytes: number) => unknown,
  { longest, floor, clock, confirmationFactor }: Bounds,
): Promise<number | undefined> {
  const cost = (bytes: number, tries: number) => measureCpuTime(() => work(bytes), tries, clock);
  const firstCost = await cost(longest, 1);
  if (firstCost < floor) return undefined;
  const knownCost = Math.min(firstCost, await cost(longest, 1));
  if (knownCost < floor) return undefined;
  /** The exponent with which the cost grows to a text that is `factor` times as long. */
  const exponentFrom = async (bytes: number, factor: number, known: Pick<Comparison, 'knownCost'> = {}) => {
    const [reference, longer] = [() => work(bytes), () => work(bytes * factor)];
    const limit = factor ** MAX_EXPONENT;
    return Math.log(await measureCostRatio({ work: longer, reference, limit, ...known, ...(clock && { clock }) })) / Math.log(factor);
  };
  const exponent = await exponentFrom(Math.ceil(longest / GROWTH_FACTOR), GROWTH_FACTOR, { knownCost });
  if (exponent <= MAX_EXPONENT || confirmationFactor === undefined) return exponent;
  return Math.min(exponent, await exponentFrom(longest, confirmationFactor));
}

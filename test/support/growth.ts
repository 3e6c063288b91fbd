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
const MAX_ROUNDS = 5;

/**
 * Returns the exponent with which the cost of some work grows up to the longest text, or undefined if the cost stays
 * below the floor. Short texts are measured in at least two rounds, so that an accidentally expensive one does not hide
 * growth; if the exponent is high, both lengths are measured again, since an accidentally expensive long text shows
 * growth where there is none.
 */
export async function measureGrowthExponent(
  work: (bytes: number) => unknown,
  { longest, floor, clock, confirmationFactor }: Bounds,
): Promise<number | undefined> {
  const cost = (bytes: number, tries: number) => measureCpuTime(() => work(bytes), tries, clock);
  let longCost = await cost(longest, 1);
  if (longCost >= floor) longCost = Math.min(longCost, await cost(longest, 2));
  if (longCost < floor) return undefined;
  let [shortCost, exponent] = [Number.POSITIVE_INFINITY, 0];
  for (let round = 1; round <= MIN_ROUNDS || (round <= MAX_ROUNDS && exponent > MAX_EXPONENT); round += 1) {
    if (exponent > MAX_EXPONENT) longCost = Math.min(longCost, await cost(longest, 3));
    shortCost = Math.min(shortCost, await cost(Math.ceil(longest / GROWTH_FACTOR), 3));
    exponent = Math.log(longCost / Math.max(shortCost, 1)) / Math.log(GROWTH_FACTOR);
  }
  if (exponent <= MAX_EXPONENT || confirmationFactor === undefined) return exponent;
  const longerCost = await cost(longest * confirmationFactor, 3);
  return Math.min(exponent, Math.log(longerCost / Math.max(longCost, 1)) / Math.log(confirmationFactor));
}

/*
 * How the cost of a piece of work grows with the length of a text, measured in processor time, so that it does not
 * matter what else the machine does.
 */

/** What hostile texts are made of: characters that patterns run over, and beginnings of things that never end. */
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

/** Two fillers one after the other: beginnings of things that hold each other, and what all of them hold. */
export const PAIRS: readonly (readonly [string, string])[] = [
  ['<!-- wp:shortcode -->', 'a\n'],
  ['<!-- wp:group -->', '<b>'],
  ['<!-- wp:heading -->', '<b>'],
];

/**
 * A text of about so many bytes: one filler over and over, between two letters; or a half of one filler and a half of
 * another.
 */
export function grown(
  filler: string | readonly [string, string],
  bytes: number,
  [before, after]: readonly [string, string] = ['a', 'b'],
): string {
  if (typeof filler !== 'string') return grown(filler[0], bytes / 2, [before, '']) + grown(filler[1], bytes / 2, ['', after]);
  return before + filler.repeat(Math.max(1, Math.floor((bytes - before.length - after.length) / Buffer.byteLength(filler)))) + after;
}

/** Tells the processor time that was taken so far, in microseconds: by this process unless said otherwise. */
export type Clock = () => number;

const ownClock: Clock = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** What takes so long, in microseconds, is tried once: little can be added to it that would count. */
const LONG = 1_000_000;

/** Processor time in microseconds: the least of several tries, since everything else on the machine only adds to it. */
export async function cpuOf(work: () => unknown, tries: number, clock = ownClock): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let left = tries; left > 0 && (least === Number.POSITIVE_INFINITY || least < LONG); left -= 1) {
    const before = clock();
    await work();
    least = Math.min(least, clock() - before);
  }
  return least;
}

export interface Bounds {
  /** The longest text, in bytes. */
  readonly longest: number;
  /** What costs less than this at its longest can't hurt, however it grows; in microseconds. */
  readonly floor: number;
  readonly clock?: Clock;
  /**
   * A high exponent only counts if it is as high up to texts so many times longer: more than linear work goes on
   * growing faster, while memory that is asked for the first time costs more just once. Not for what refuses longer
   * texts.
   */
  readonly confirmedAt?: number;
}

/** Times that the text gets longer between two measurements. */
const STEP = 4;
/** Linear work grows with the exponent 1, quadratic with 2. */
export const MOST_EXPONENT = 1.6;
const FEWEST_ROUNDS = 2;
const MOST_ROUNDS = 5;

/**
 * By which exponent the cost of some work grows up to the longest text; undefined where it stays under the floor. Both
 * lengths are measured in two rounds at least, so that a short text that happened to be dear does not hide anything,
 * and in more of them before a high exponent counts.
 */
export async function exponentOf(
  work: (bytes: number) => unknown,
  { longest, floor, clock, confirmedAt }: Bounds,
): Promise<number | undefined> {
  const cost = (bytes: number, tries: number) => cpuOf(() => work(bytes), tries, clock);
  if ((await cost(longest, 1)) < floor || (await cost(longest, 2)) < floor) return undefined;
  let [short, long, exponent] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 1; round <= FEWEST_ROUNDS || (round <= MOST_ROUNDS && exponent > MOST_EXPONENT); round += 1) {
    short = Math.min(short, await cost(Math.ceil(longest / STEP), 3));
    long = Math.min(long, await cost(longest, 3));
    exponent = Math.log(long / Math.max(short, 1)) / Math.log(STEP);
  }
  if (exponent <= MOST_EXPONENT || confirmedAt === undefined) return exponent;
  const longer = await cost(longest * confirmedAt, 3);
  return Math.min(exponent, Math.log(longer / Math.max(long, 1)) / Math.log(confirmedAt));
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { lengthFault, MAX_BYTES, MAX_ITEMS } from '../src/kinds/grammars/grammar.ts';
import { anyText } from '../src/kinds/grammars/grammars.ts';
import { describeDatabases } from './support/databases.ts';
import { fileReaders } from './support/file-readers.ts';
import { type Bounds, FILLERS, MAX_EXPONENT, measureCpuTime, measureGrowthExponent, PAIRS, repeatFiller } from './support/growth.ts';
import { type Carrier, headCarriers, parameterCarriers, servedRoutes } from './support/outside-texts.ts';
import { type RunningSite, serveDatabase } from './support/running-site.ts';
import { loadSite } from './support/site.ts';
import { findTextFunctions, NOT_FROM_OUTSIDE, SOURCE_FOLDERS, type TextFunction, textCarriers } from './support/text-functions.ts';

/*
 * The cost of a text from outside grows at most in proportion to its length, and its length is limited. Functions,
 * parameters, paths and headers are found automatically in the source and in the route table. Costs are processor time;
 * `npm run attacks -- growth` does the same with longer texts.
 */

/**
 * Sizes in bytes and a floor in microseconds: quadratic work takes several times as long as the floor, and nearly all
 * other work much less.
 */
const FUNCTIONS = { longest: 8192, floor: 8000, confirmationFactor: 8 };
const REQUESTS = { longest: 16_384, floor: 20_000 };

/** The filler for which the cost of `work` grows fastest, with the exponent, if it grows faster than the text. */
async function steepest(
  work: (text: string) => unknown,
  bounds: Bounds,
  fillers: readonly Parameters<typeof repeatFiller>[0][] = [...FILLERS, ...PAIRS],
): Promise<string[]> {
  const faults: string[] = [];
  for (const filler of fillers) {
    const exponent = await measureGrowthExponent((bytes) => work(repeatFiller(filler, bytes)), bounds);
    if (exponent !== undefined && exponent > MAX_EXPONENT) faults.push(`${JSON.stringify(filler)}: ${exponent.toFixed(2)}`);
  }
  return faults;
}

describe('functions that take texts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fasti-growth-'));
  let found: Awaited<ReturnType<typeof findTextFunctions>>;
  beforeAll(async () => {
    found = await findTextFunctions();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('are all measured below, or have a reason why they are not', () => {
    const { takers, unknown } = found;
    expect(unknown).toEqual([]);
    expect(takers.length).toBeGreaterThan(120);
    expect(Object.values(NOT_FROM_OUTSIDE).filter((reason) => reason === '')).toEqual([]);
  });

  it.each(fileReaders(folder))('read an item of $name with a harmless text', async ({ items }) => {
    expect(await items()).toBeGreaterThan(0);
  });

  it.each([...SOURCE_FOLDERS, 'feeds', 'files'])('take time in proportion to the text: %s', async (room) => {
    const carriers: Readonly<Record<string, () => TextFunction[]>> = { feeds: textCarriers, files: () => fileReaders(folder) };
    const takers = carriers[room]?.() ?? found.takers.filter(({ name }) => name.startsWith(room));
    const faults: string[] = [];
    for (const { name, call: take } of takers) for (const fault of await steepest(take, FUNCTIONS)) faults.push(`${name} with ${fault}`);
    expect(faults).toEqual([]);
  });

  it('are reported if they take more', async () => {
    const search = (text: string) => / +$/.test(text);
    const whole = await measureCpuTime(() => search(repeatFiller(' ', FUNCTIONS.longest)), 3);
    // The part of the text that takes several times the floor.
    const part = Math.min(1, Math.sqrt((6 * FUNCTIONS.floor) / whole));
    const slow = (text: string) => search(text.slice(text.length * (1 - part)));
    expect(await steepest(slow, FUNCTIONS, [' '])).toEqual([expect.stringContaining('" "')]);
  });
});

describe('the length of a text', () => {
  it('is counted in bytes of UTF-8 at any position in a value', () => {
    const four = anyText(4);
    const fits = (value: unknown) => lengthFault(four, value) === undefined;
    expect(['abcd', 'éé', '😀', ['abcd', { a: 'abcd' }], 12345, null].filter((value) => !fits(value))).toEqual([]);
    expect(['abcde', 'ééa', '😀a', ['abcde'], { a: { b: ['ééé'] } }].filter(fits)).toEqual([]);
  });

  it('is limited in every grammar', () => {
    const limits = [...servedRoutes().values()]
      .flat()
      .flatMap(({ endpoints }) =>
        endpoints.flatMap(({ params, unlistedParams: unlisted }) =>
          Object.values({ ...params, ...unlisted }).flatMap(({ grammar: { maxBytes: longest, maxListBytes: longestList = longest } }) => [
            longest,
            longestList,
          ]),
        ),
      );
    const known: readonly number[] = Object.values(MAX_BYTES);
    expect(limits.length).toBeGreaterThan(100);
    expect(limits.filter((limit) => !known.includes(limit))).toEqual([]);
  });
});

describeDatabases('texts from outside', (open, engine) => {
  let running: RunningSite;
  beforeAll(async () => {
    running = await serveDatabase(await loadSite(await open()), { env: { CACHE: 'off' } });
  });
  afterAll(() => running.close());

  const send = (carrier: Carrier, text: string) => {
    const { method, path, ...options } = carrier.request(text);
    return running.send(method, path, options);
  };

  it('are refused if they are longer than their grammar allows, in every parameter of every route', async () => {
    const accepted: string[] = [];
    for (const carrier of parameterCarriers('admin')) {
      const { name, parameter, grammar, longest } = carrier;
      const { status, body } = await send(carrier, 'a'.repeat(longest + 1));
      // A body that is too large is refused as a whole.
      const refused = status === 413 || (status === 400 && body.data?.params?.[parameter] === 'The text is too long.');
      const dropped = grammar.dropsTooLong === true && body?.data?.params?.[parameter] === undefined;
      if (!refused && !dropped) accepted.push(`${name}: ${status} ${JSON.stringify(body)?.slice(0, 200)}`);
    }
    expect(accepted).toEqual([]);
  });

  it('are answered if they are lists of the maximum length', async () => {
    const faults: string[] = [];
    for (const carrier of parameterCarriers('admin')) {
      const { name, grammar, longest } = carrier;
      const { type, items } = grammar.json as { type?: unknown; items?: { type?: unknown } };
      if (![type].flat().includes('array')) continue;
      const isNumbers = [items?.type].flat().includes('integer');
      const members = Array.from({ length: MAX_ITEMS }, (_, at) => (isNumbers ? String(at + 1) : `w${at}`)).join();
      if (members.length > longest) continue;
      const { status } = await send(carrier, members);
      if (status >= 500) faults.push(`${name}: ${status}`);
    }
    expect(faults).toEqual([]);
  });

  // The database does the same work for any text; only the cost of JavaScript grows.
  if (engine !== 'SQLite') return;

  /** Each place gets some of the fillers in rotation, so that all of them are tried wherever the same code runs. */
  const some = (place: number, count: number) => Array.from({ length: count }, (_, at) => FILLERS[(place * 7 + at * 13) % FILLERS.length]!);

  // A user with fewer rights is treated differently in writes only.
  const parts = [...servedRoutes().keys()].flatMap((namespace) => [
    { as: 'admin', namespace, methods: /./ },
    { as: 'contrib', namespace, methods: /^(?!GET)/ },
  ]);
  it.each(parts)('cost $as time in proportion to their length, in every parameter of "$namespace"', async ({ as, namespace, methods }) => {
    const faults: string[] = [];
    for (const [place, carrier] of parameterCarriers(as).entries()) {
      if (carrier.namespace !== namespace || !methods.test(carrier.name)) continue;
      const bounds = { ...REQUESTS, longest: Math.min(carrier.longest, REQUESTS.longest) };
      const found = await steepest((text) => send(carrier, text), bounds, some(place, 2));
      faults.push(...found.map((fault) => `${carrier.name} with ${fault}`));
    }
    expect(faults).toEqual([]);
  });

  it('cost time in proportion to their length, in headers and paths', async () => {
    const faults: string[] = [];
    for (const [place, carrier] of headCarriers().entries()) {
      const found = await steepest((text) => send(carrier, text), { ...REQUESTS, longest: carrier.longest }, some(place, 25));
      faults.push(...found.map((fault) => `${carrier.name} with ${fault}`));
    }
    expect(faults).toEqual([]);
  });
});

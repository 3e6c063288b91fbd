import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { hostileText } from '../../fuzz/hostile-html.ts';
import { faultsOf, faultsOfText, resultsOf } from '../../fuzz/hostile-results.ts';
import { type FoundElement, TAIL } from '../../support/active-html.ts';
import { describeInBrowser } from '../../support/browser.ts';

/*
 * Scripts of authors without `unfiltered_html`: random hostile texts are cleaned as they are when they are stored, and
 * then rendered in every way. No result contains an element, an attribute or the scheme of a URL that the author may
 * not write. `HOSTILE_CASES=100000` tries that many texts; `HOSTILE_SEED` repeats a run.
 */

const CASES = Number(process.env.HOSTILE_CASES || 300);
const FIXED_SEED = 20_260_102;
const SEEDS = process.env.HOSTILE_SEED ? [Number(process.env.HOSTILE_SEED)] : [FIXED_SEED, Date.now() % 1_000_000_000];
/** The number of texts that a browser parses, too. */
const BROWSER_CASES = Math.min(1000, CASES / 5);

describe('texts of hostile authors', () => {
  it.each(SEEDS)('contain nothing active after rendering (seed %i)', (seed) => {
    fc.assert(
      fc.property(hostileText, (text) => expect(faultsOfText(text)).toEqual([])),
      { seed, numRuns: CASES },
    );
  });
});

/** Script that returns the elements of HTML texts, inserted as programs insert them. */
const INSERT = `(texts) => texts.map((text) => {
  const box = document.createElement('div');
  box.innerHTML = text;
  document.body.replaceChildren(box);
  return [...box.querySelectorAll('*')].map((found) => ({
    name: found.localName,
    attributes: Object.fromEntries([...found.attributes].map(({ name, value }) => [name, value])),
  }));
})`;

describeInBrowser('texts of hostile authors in a browser', (visit) => {
  it.each(SEEDS)('contain nothing active after rendering (seed %i)', async (seed) => {
    const { page, complaints } = await visit();
    const results = fc.sample(hostileText, { seed, numRuns: BROWSER_CASES }).flatMap(resultsOf);
    const found = (await page.evaluate(`(${INSERT})(${JSON.stringify(results.map(({ html }) => html + TAIL))})`)) as FoundElement[][];
    expect(results.flatMap((result, at) => faultsOf(result, found[at]))).toEqual([]);
    expect(complaints.filter((complaint) => complaint.startsWith('dialog'))).toEqual([]);
  });
});

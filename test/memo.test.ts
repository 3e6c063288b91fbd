import { describe, expect, it } from '@jest/globals';
import { memoize } from '../src/memo.ts';
import { createObjectMemory } from '../src/storage/journal/object-memory.ts';
import { heldBytes, OTHER_BYTES } from './support/held-bytes.ts';

/** A memoized function that counts its computations, with room for `most` characters of input. */
function counted(most: number): { readonly ask: (text: string) => string; readonly computed: () => number } {
  let computed = 0;
  const ask = memoize((text) => {
    computed += 1;
    return `<${text}>`;
  }, most);
  return { ask, computed: () => computed };
}

describe('a memoized function', () => {
  it('computes the result of a text once', () => {
    const { ask, computed } = counted(10_000);
    expect([ask('a'), ask('b'), ask('a'), ask('b')]).toEqual(['<a>', '<b>', '<a>', '<b>']);
    expect(computed()).toBe(2);
  });

  it('keeps texts that are requested repeatedly, whatever else is requested meanwhile', () => {
    const { ask, computed } = counted(10_000);
    for (let number = 0; number < 1000; number += 1) {
      ask('usual');
      ask(`title ${number}`);
    }
    expect(computed()).toBe(1001);
  });

  it('drops texts that are not requested any more', () => {
    const { ask, computed } = counted(10_000);
    ask('first');
    for (let number = 0; number < 1000; number += 1) ask(`title ${number}`);
    expect(computed()).toBe(1001);
    ask('first');
    expect(computed()).toBe(1002);
  });

  it('does not keep a text that takes a tenth of the room', () => {
    const { ask, computed } = counted(10_000);
    const long = 'x'.repeat(1001);
    ask(long);
    ask(long);
    expect(computed()).toBe(2);
  });

  it('keeps nothing of the longer texts that its texts and results were cut out of', () => {
    const firstPart = memoize((text) => text.slice(0, 50));
    const before = heldBytes();
    for (let number = 0; number < 1000; number += 1) firstPart(longText(number).slice(0, 100));
    expect(heldBytes() - before).toBeLessThan(OTHER_BYTES);
    firstPart('');
  });
});

/** A text of its own, as it comes from the network. */
const longText = (number: number): string => Buffer.from(`text ${number} `.padEnd(20_000, 'x')).toString();

describe('the memory of objects', () => {
  it('holds no more than its limit if keys are long', () => {
    const always = () => true;
    const memory = createObjectMemory(2_000_000)({
      version: { name: 'one', count: 1, at: 0, mayBuildOn: always, completeUntil: 0 },
      changes: { isCurrent: always, era: () => 0 },
      era: 0,
      shownUntil: 0,
    });
    const before = heldBytes();
    for (let number = 0; number < 1000; number += 1) memory.keep(longText(number), { value: 'x', dependencies: [] });
    expect(heldBytes() - before).toBeLessThan(2_000_000 + OTHER_BYTES);
    memory.recall('');
  });
});

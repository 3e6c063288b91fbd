import { describe, expect, it } from '@jest/globals';
import { createFreshness, type Freshness } from '../../src/storage/freshness/freshness.ts';

/** A version that the test sets, a clock that the test moves, and how often was asked. */
function setting() {
  const state = { version: '1' as string | undefined, now: 0, asked: 0 };
  const probe = async () => {
    state.asked += 1;
    const { version } = state;
    await Promise.resolve();
    return version === undefined ? undefined : { name: version, count: 1, mayServe: () => true, mayBuildOn: () => true };
  };
  return { state, freshness: named(createFreshness(probe, { keep: 100, clock: () => state.now })) };
}

/** The same, giving the names of versions alone. */
const named = (freshness: Freshness) => ({
  known: () => freshness.known()?.name,
  version: async () => (await freshness.version())?.name,
  forget: freshness.forget,
});

describe('the freshness of what is remembered', () => {
  it('knows no version before it has asked', () => {
    expect(setting().freshness.known()).toBeUndefined();
  });

  it('asks once for all who wait', async () => {
    const { state, freshness } = setting();
    expect(await Promise.all([freshness.version(), freshness.version(), freshness.version()])).toEqual(['1', '1', '1']);
    expect(state.asked).toBe(1);
  });

  it('knows the version for a while, then asks again', async () => {
    const { state, freshness } = setting();
    await freshness.version();
    state.version = '2';
    state.now = 49;
    expect([freshness.known(), await freshness.version()]).toEqual(['1', '1']);
    expect(state.asked).toBe(1);
    state.now = 100;
    expect(freshness.known()).toBeUndefined();
    expect(await freshness.version()).toBe('2');
  });

  it('asks anew in good time, while what it knows still holds', async () => {
    const { state, freshness } = setting();
    await freshness.version();
    state.version = '2';
    state.now = 50;
    expect([freshness.known(), freshness.known()]).toEqual(['1', '1']);
    expect(state.asked).toBe(2);
    await new Promise(setImmediate);
    state.now = 149;
    expect(freshness.known()).toBe('2');
  });

  it('hides no failure from those who ask when nothing is known any more', async () => {
    let broken = false;
    let now = 0;
    const probe = async () =>
      broken ? Promise.reject(new Error('gone')) : { name: '1', count: 1, mayServe: () => true, mayBuildOn: () => true };
    const freshness = named(createFreshness(probe, { keep: 100, clock: () => now }));
    await freshness.version();
    broken = true;
    now = 60;
    expect(freshness.known()).toBe('1');
    await new Promise(setImmediate);
    now = 100;
    expect(freshness.known()).toBeUndefined();
    await expect(freshness.version()).rejects.toThrow('gone');
  });

  it('counts the age of an answer from when it was asked for', async () => {
    const { state, freshness } = setting();
    const asking = freshness.version();
    state.now = 60;
    await asking;
    state.now = 110;
    expect(freshness.known()).toBeUndefined();
  });

  it('forgets with every write of its own', async () => {
    const { state, freshness } = setting();
    await freshness.version();
    state.version = '2';
    freshness.forget();
    expect(freshness.known()).toBeUndefined();
    expect(await freshness.version()).toBe('2');
  });

  it('does not trust a version that was asked for before a write', async () => {
    const { state, freshness } = setting();
    const asking = freshness.version();
    freshness.forget();
    state.version = '2';
    expect(await asking).toBeUndefined();
    expect(freshness.known()).toBeUndefined();
    expect(await freshness.version()).toBe('2');
  });
});

import { describe, expect, it } from '@jest/globals';
import { createFreshness, type Freshness } from '../../src/storage/freshness/freshness.ts';

/** A freshness whose version and clock the test sets, with a counter of the probes. */
function setting() {
  const state = { version: '1' as string | undefined, now: 0, asked: 0 };
  const probe = async () => {
    state.asked += 1;
    const { version } = state;
    await Promise.resolve();
    return version === undefined ? undefined : { name: version, count: 1, mayServe: () => true, mayBuildOn: () => true };
  };
  return { state, freshness: named(createFreshness(probe, { validMs: 100, clock: () => state.now })) };
}

/** Wraps a freshness so that it returns only the names of versions. */
const named = (freshness: Freshness) => ({
  known: () => freshness.cachedVersion()?.name,
  version: async () => (await freshness.version())?.name,
  forget: freshness.forget,
});

describe('freshness of the cache', () => {
  it('knows no version before the first probe', () => {
    expect(setting().freshness.known()).toBeUndefined();
  });

  it('probes once for all concurrent callers', async () => {
    const { state, freshness } = setting();
    expect(await Promise.all([freshness.version(), freshness.version(), freshness.version()])).toEqual(['1', '1', '1']);
    expect(state.asked).toBe(1);
  });

  it('keeps the version for a while, then probes again', async () => {
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

  it('probes again in the background while the known version is still valid', async () => {
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

  it('rejects with the error of the probe once the known version has expired', async () => {
    let broken = false;
    let now = 0;
    const probe = async () =>
      broken ? Promise.reject(new Error('gone')) : { name: '1', count: 1, mayServe: () => true, mayBuildOn: () => true };
    const freshness = named(createFreshness(probe, { validMs: 100, clock: () => now }));
    await freshness.version();
    broken = true;
    now = 60;
    expect(freshness.known()).toBe('1');
    await new Promise(setImmediate);
    now = 100;
    expect(freshness.known()).toBeUndefined();
    await expect(freshness.version()).rejects.toThrow('gone');
  });

  it('measures the age of a version from the start of its probe', async () => {
    const { state, freshness } = setting();
    const asking = freshness.version();
    state.now = 60;
    await asking;
    state.now = 110;
    expect(freshness.known()).toBeUndefined();
  });

  it('forgets the version after an own write', async () => {
    const { state, freshness } = setting();
    await freshness.version();
    state.version = '2';
    freshness.forget();
    expect(freshness.known()).toBeUndefined();
    expect(await freshness.version()).toBe('2');
  });

  it('discards a version whose probe started before an own write', async () => {
    const { state, freshness } = setting();
    const asking = freshness.version();
    freshness.forget();
    state.version = '2';
    expect(await asking).toBeUndefined();
    expect(freshness.known()).toBeUndefined();
    expect(await freshness.version()).toBe('2');
  });
});

import { afterEach, expect, it } from '@jest/globals';
import { findSite } from '../../src/exchange/live/site-client.ts';

const { fetch } = globalThis;
afterEach(() => {
  globalThis.fetch = fetch;
});

/** Returns the number of requests to a host that cannot be reached for this reason. */
async function asked(code: string): Promise<number> {
  let count = 0;
  globalThis.fetch = async () => {
    count += 1;
    throw Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error(code), { code }) });
  };
  const found = findSite('misspelt.example', { rate: 1000, concurrency: 1, firstPauseMs: 1 });
  await expect(found).rejects.toMatchObject({ fault: 'site-unreachable', values: { reason: code } });
  return count;
}

it('findSite tries an unknown host only once', async () => {
  expect(await asked('ENOTFOUND')).toBe(1);
});

it.each(['ECONNREFUSED', 'EAI_AGAIN'])('findSite retries a host that may become reachable: %s', async (code) => {
  expect(await asked(code)).toBeGreaterThan(1);
});

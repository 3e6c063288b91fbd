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

/** Returns the namespace that findSite finds if the site answers with these responses, one after the other. */
async function namespaceFrom(...answers: (() => Response)[]): Promise<string> {
  let count = 0;
  globalThis.fetch = async () => answers[Math.min(count++, answers.length - 1)]!();
  return (await findSite('busy.example', { rate: 1000, concurrency: 1, firstPauseMs: 1 })).namespace;
}
const INDEX = JSON.stringify({ namespaces: ['wp/v2', 'tribe/events/v1'], home: 'https://busy.example' });

it.each([408, 429, 502, 503, 504, 508, 520, 522, 524])('findSite retries after %i', async (status) => {
  expect(
    await namespaceFrom(
      () => new Response('<h1>Later</h1>', { status }),
      () => new Response(INDEX),
    ),
  ).toBe('tribe/events/v1');
});

it.each([
  ['byte order marks', `\ufeff\ufeff${INDEX}`],
  ['warnings of PHP', `<br />\n<b>Deprecated</b>:  [x] in <b>/a.php</b> on line <b>1</b><br />\n${INDEX}`],
])('findSite reads JSON behind %s', async (_, text) => {
  expect(await namespaceFrom(() => new Response(text))).toBe('tribe/events/v1');
});

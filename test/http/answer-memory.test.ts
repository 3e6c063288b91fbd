import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { type IncomingMessage, ServerResponse } from 'node:http';
import { expect, it } from '@jest/globals';
import { createAnswerCache } from '../../src/http/answer-cache.ts';
import { type Answer, deliver } from '../../src/http/deliver.ts';
import { createTurns } from '../../src/http/turns.ts';
import type { Site } from '../../src/site.ts';
import type { Version } from '../../src/storage/freshness/freshness.ts';
import type { JournalFeed } from '../../src/storage/journal/feed.ts';
import { heldBytes, OTHER_BYTES } from '../support/held-bytes.ts';

const LIMIT = 3_000_000;
const always = () => true;
const version: Version = { name: 'one', count: 1, at: 0, mayServe: always, mayBuildOn: always, completeUntil: 0 };
const journal: JournalFeed = { position: () => 0, advanceTo: async () => undefined, subscribe: () => () => undefined };
const freshness = { cachedVersion: () => version, version: async () => version };
/** A database that nobody asks. */
const db = new Proxy({}, { get: () => () => undefined });
const site = { freshness, journal, db } as unknown as Site;

const request = (url: string, headers: Readonly<Record<string, string>>) =>
  ({ method: 'GET', url, headers, socket: new EventEmitter() }) as unknown as IncomingMessage;

/** A cache, and functions that do with it what the server does with a request. */
function startCache(answerTo: (key: string) => Pick<Answer, 'body' | 'headers'>) {
  const answers = createAnswerCache({ bytes: LIMIT, clock: () => new Date(), turns: createTurns(2) });
  const send = async (req: IncomingMessage, answer: Answer) => {
    const res = new ServerResponse(req);
    await deliver(req, res, answer);
    res.emit('close');
  };
  return {
    ask: async (key: string, headers: Readonly<Record<string, string>> = {}, alias?: string) => {
      const req = request(key, headers);
      const compute = async () => ({ ...answerTo(key), status: 200, expiresAt: Number.POSITIVE_INFINITY, isShareable: true });
      await send(req, await answers.getOrCompute(req, { key, alias, site, compute }));
    },
    /** Returns whether there was an answer. */
    askFromMemory: async (alias: string) => {
      const req = request(alias, {});
      const answer = answers.findCached(req, alias, site);
      if (answer) await send(req, answer);
      return answer !== undefined;
    },
  };
}

/** Makes a body. Other work makes small buffers too, from the same blocks of memory. */
function bodyOf(length: number): Buffer {
  for (let other = 0; other < 3; other += 1) Buffer.from(randomBytes(1500).toString('hex'));
  return Buffer.from(randomBytes(length / 2).toString('hex'));
}

const SENT_FORMS: readonly Readonly<Record<string, string>>[] = [{}, { 'if-none-match': '*' }].flatMap((condition) =>
  [{}, { origin: 'https://example.org' }, { origin: `https://${'a'.repeat(15_000)}.example` }].flatMap((origin) => [
    { ...condition, ...origin },
    { ...condition, ...origin, 'accept-encoding': 'gzip' },
  ]),
);

const CASES: readonly {
  readonly what: string;
  readonly key?: (number: number) => string;
  readonly answer: () => Pick<Answer, 'body' | 'headers'>;
  readonly requests?: readonly Readonly<Record<string, string>>[];
}[] = [
  { what: 'small bodies', answer: () => ({ headers: {}, body: bodyOf(80) }) },
  {
    what: 'compressed bodies',
    answer: () => ({ headers: {}, body: bodyOf(1200) }),
    requests: [{ 'accept-encoding': 'gzip' }],
  },
  {
    what: 'answers that were sent in every form',
    answer: () => ({ headers: { ETag: `"${randomBytes(20).toString('hex')}"` }, body: bodyOf(1200) }),
    requests: SENT_FORMS,
  },
  { what: 'long headers', answer: () => ({ headers: { 'Surrogate-Key': randomBytes(4000).toString('hex') }, body: bodyOf(80) }) },
  {
    what: 'long keys',
    key: (number) => `${number} ${randomBytes(4500).toString('hex')}`,
    answer: () => ({ headers: {}, body: bodyOf(80) }),
  },
];

it.each(CASES)('holds no more than its limit: $what', async ({ answer, key = String, requests = [{}] }) => {
  const { ask } = startCache(answer);
  const before = heldBytes();
  for (let number = 0; number < 1500; number += 1) {
    const oneKey = key(number);
    for (const headers of requests) await ask(oneKey, headers);
  }
  expect(heldBytes() - before).toBeLessThan(LIMIT + OTHER_BYTES);
  await ask('the last one');
});

const urls = Array.from({ length: 100 }, (_, number) => `/${number}`);
const asSent = (url: string) => `as sent ${url}`;

it('holds no answer only because the URL as it was sent leads to it', async () => {
  const { ask, askFromMemory } = startCache(() => ({ headers: {}, body: randomBytes(200_000) }));
  const before = heldBytes();
  const askAll = async () => {
    const found = [];
    for (const url of urls) if (await askFromMemory(asSent(url))) found.push(url);
    return found;
  };
  for (const url of urls) {
    await ask(url, {}, asSent(url));
    await ask(url, {}, asSent(url));
    await askAll();
  }
  expect(heldBytes() - before).toBeLessThan(LIMIT + OTHER_BYTES);
  const found = await askAll();
  expect(found).toEqual(urls.slice(-found.length));
});

it('keeps an answer that is requested by its URL as it was sent', async () => {
  const { ask, askFromMemory } = startCache(() => ({ headers: {}, body: randomBytes(200_000) }));
  for (const url of urls) {
    await ask(url, {}, asSent(url));
    await ask(url, {}, asSent(url));
    expect(await askFromMemory(asSent('/0'))).toBe(true);
  }
  expect(await askFromMemory(asSent('/1'))).toBe(false);
});

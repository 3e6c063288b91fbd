import { beforeAll, describe, expect, it } from '@jest/globals';
import { hash } from 'bcryptjs';
import { failureCountsOf } from '../../src/accounts/attempts.ts';
import { readClaim } from '../../src/accounts/credentials.ts';
import { decoysBeside } from '../../src/accounts/decoy-hashes.ts';
import { answerTimeOf } from '../../src/accounts/failure-time.ts';
import { signIn } from '../../src/accounts/logins.ts';
import { verifyInThread } from '../../src/accounts/slow-passwords.ts';
import { hashPassword } from '../../src/wordpress/passwords.ts';
import { measureCostRatio } from '../support/growth.ts';
import { describeRequests } from '../support/site-client.ts';

describeRequests('a failed sign-in', (ask) => {
  /** A hash as WordPress stores it on PHP 8.4 and later, which takes four times as long to compute as before. */
  let slow = '';
  beforeAll(async () => {
    slow = `$wp${(await hash('unknown', 12)).replace(/^\$2[ab]\$/, '$2y$')}`;
  });

  /** A failure that is the first one at its site. */
  const failure = (name: string) => async () => {
    const site = { ...ask.running().site };
    const asked = { name, password: 'wrong', remember: false, address: '203.0.113.7', agent: undefined };
    await expect(signIn(site, await site.settings(), asked)).rejects.toThrow();
  };

  it.each([
    ['every user', () => ask.writeRows((db) => db.from('users').update({ user_pass: slow }))],
    ['the first user', () => ask.writeRows((db) => db.from('users').where('ID', 1).update({ user_pass: slow }))],
    ['only the known user', () => ask.writeRows((db) => db.from('users').where('user_login', 'ed').update({ user_pass: slow }))],
    [
      'the known user, beside hashes that are too slow or invalid,',
      () =>
        ask.writeRows(async (db) => {
          const [slower, invalid] = [slow.replace('$12$', '$13$'), '$wp$disabled'];
          await db.from('users').update({ user_pass: slower });
          await db.from('users').where('user_login', 'contrib').update({ user_pass: invalid });
          await db.from('users').where('user_login', 'ed').update({ user_pass: slow });
        }),
    ],
  ])('takes the same time for unknown users if the hash of %s is slow', async (_, store) => {
    await store();
    const [known, unknown] = [failure('ed'), failure('nobody')];
    expect(await measureCostRatio({ work: known, reference: unknown, limit: 2, tries: 1 })).toBeLessThanOrEqual(2);
    expect(await measureCostRatio({ work: unknown, reference: known, limit: 2, tries: 1 })).toBeLessThanOrEqual(2);
  });
});

describeRequests('the hashes that a wrong password costs besides that of the user', (ask) => {
  const digits = (length: number) => 'x'.repeat(length);
  const bcrypt = (start: string) => start + digits(53);
  const phpass = (start: string) => start + digits(30);
  const argon2 = '$argon2id$v=19$m=65536,t=4,p=1$WXYuUGwyamp0Znk0NjNhcA$3WCr/UPTENIiuqb8Zx/dJoLvTnr/pJ341WExtPFtd0w';

  it('are the slowest of each algorithm, without Argon2 and those that take seconds', async () => {
    const { site } = ask.running();
    const decoysOf = async (stored: readonly string[], own = '') => {
      await ask.writeRows(async (db) => {
        await db.from('users').update({ user_pass: '' });
        for (const [index, user_pass] of stored.entries())
          await db
            .from('users')
            .where('ID', index + 1)
            .update({ user_pass });
      });
      return [...(await decoysBeside({ ...site }, own))].sort();
    };
    const usual = bcrypt('$wp$2y$10$');
    expect(await decoysOf([usual, argon2])).toEqual([usual]);
    expect(await decoysOf([argon2])).toEqual([expect.stringMatching(/^\$wp\$2y\$10\$/)]);
    expect(await decoysOf([usual, bcrypt('$wp$2y$13$'), '$wp$disabled'])).toEqual([usual]);
    expect(await decoysOf([usual, bcrypt('$2y$11$'), phpass('$P$B'), phpass('$P$b')])).toEqual([bcrypt('$2y$11$'), phpass('$P$B')]);
    expect(await decoysOf([usual, phpass('$P$B')], bcrypt('$2y$10$'))).toEqual([phpass('$P$B')]);
    expect(await decoysOf([usual, phpass('$P$I'), phpass('$P$C')], usual)).toEqual([phpass('$P$C')]);
  });
});

describe('the answer to a failed attempt', () => {
  const SECOND = 1000;
  const HOUR = 3600 * SECOND;

  it('is delayed by a slow hash for a day, and by a wait for other hashes for a minute', () => {
    const site = {};
    const delayAt = (startedAt: number, { hashingMs = 0, waitedMs = 0 } = {}): number =>
      answerTimeOf(site, { startedAt, now: startedAt + waitedMs + hashingMs, hashingMs }) - startedAt;
    const start = 48 * HOUR;
    expect(delayAt(start)).toBe(60);
    delayAt(start + SECOND, { hashingMs: 400, waitedMs: 1000 });
    expect(delayAt(start + 10 * SECOND)).toBe(2100);
    expect(delayAt(start + 90 * SECOND, { hashingMs: 100 })).toBe(600);
    expect(delayAt(start + 23 * HOUR)).toBe(600);
    expect(delayAt(start + 25 * HOUR)).toBe(60);
  });

  it('is not delayed for a day by a machine that was busy for a moment', () => {
    const site = {};
    answerTimeOf(site, { startedAt: 0, now: 20 * SECOND, hashingMs: 20 * SECOND });
    expect(answerTimeOf(site, { startedAt: 30 * SECOND, now: 30 * SECOND, hashingMs: 0 })).toBe(40 * SECOND);
    expect(answerTimeOf(site, { startedAt: HOUR, now: HOUR, hashingMs: 0 })).toBe(HOUR + 3 * SECOND);
  });
});

/** Lets so many checks wait that there is room for no other one, until they are let go. */
function fillQueue(stored: string): { readonly letGo: () => Promise<void> } {
  let isOver = false;
  const checks: Promise<void>[] = [];
  const check = async (address: string): Promise<void> => {
    while (!isOver) await verifyInThread({ password: 'x', address }, [stored]);
  };
  // One more than may wait, since one of them is being checked.
  for (let count = 0; count < 65; count += 1) checks.push(check(`198.51.100.${count}`));
  return {
    letGo: async () => {
      isOver = true;
      await Promise.all(checks);
    },
  };
}

describeRequests('a sign-in while too many hashes are waiting', (ask) => {
  it('is refused for a while, whether right or wrong, and does not count as a failure', async () => {
    const { site } = ask.running();
    const stored = await hash('x', 4);
    await ask.writeRows(async (db) =>
      db
        .from('users')
        .where('user_login', 'ed')
        .update({ user_pass: await hashPassword('right', 'current') }),
    );
    const attempt = (name: string, password: string) => async () =>
      signIn(site, await site.settings(), { name, password, remember: false, address: '203.0.113.9', agent: undefined });
    const basic = (name: string) => async () =>
      readClaim(site, await site.settings(), {
        authorization: `Basic ${Buffer.from(`${name}:wrong`).toString('base64')}`,
        secure: true,
        address: '203.0.113.9',
        isForeignPage: false,
      }).identify(undefined);
    const busy = { problem: 'too-many-requests', details: { data: { retry_after: 5 } } };
    for (const tried of [attempt('ed', 'right'), attempt('ed', 'wrong'), attempt('nobody', 'wrong'), basic('ed'), basic('nobody')]) {
      const { letGo } = fillQueue(stored);
      await expect(tried()).rejects.toMatchObject(busy);
      await letGo();
    }
    expect(failureCountsOf(site).currentWindows(site.clock())).toEqual([]);
    expect(await attempt('ed', 'right')()).toMatchObject({ login: { user: { row: { user_login: 'ed' } } } });
  });
});

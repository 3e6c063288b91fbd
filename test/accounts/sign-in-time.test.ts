import { beforeAll, expect, it } from '@jest/globals';
import { hash } from 'bcryptjs';
import { signIn } from '../../src/accounts/logins.ts';
import { describeRequests } from '../support/site-client.ts';

describeRequests('a failed sign-in', (ask) => {
  /** A hash as WordPress stores it on PHP 8.4 and later, which takes four times as long to compute as before. */
  let slow = '';
  beforeAll(async () => {
    slow = `$wp${(await hash('unknown', 12)).replace(/^\$2[ab]\$/, '$2y$')}`;
  });

  /**
   * Returns the least processor time of three failures, each of which is the first one at its site. The time on the
   * clock also depends on other programs.
   */
  async function timeFor(name: string): Promise<number> {
    const times: number[] = [];
    for (let tries = 0; tries < 3; tries += 1) {
      const site = { ...ask.running().site };
      const asked = { name, password: 'wrong', remember: false, address: '203.0.113.7', agent: undefined };
      const before = process.cpuUsage();
      await expect(signIn(site, await site.settings(), asked)).rejects.toThrow();
      const { user, system } = process.cpuUsage(before);
      times.push(user + system);
    }
    return Math.min(...times);
  }

  it.each([
    ['every user', () => ask.writeRows((db) => db.from('users').update({ user_pass: slow }))],
    ['the first user', () => ask.writeRows((db) => db.from('users').where('ID', 1).update({ user_pass: slow }))],
  ])('takes the same time for unknown users if the hash of %s is slow', async (_, store) => {
    await store();
    const [known, unknown] = [await timeFor('ed'), await timeFor('nobody')];
    expect(Math.max(known, unknown)).toBeLessThan(2 * Math.min(known, unknown));
  });
});

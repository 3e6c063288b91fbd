import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { hash } from 'bcryptjs';
import { isQueueFull, verifyInThread } from '../../src/accounts/slow-passwords.ts';
import { hashPassword } from '../../src/wordpress/passwords.ts';

describe('slow password hashes', () => {
  it.each([
    ['bcrypt of WordPress 6.8', () => hashPassword('pässword')],
    ['bcrypt', () => hash('pässword', 4)],
    ['phpass', async () => '$P$BabcdefghqrpeUHSJ5aCDn/PUuBzOd/'],
    ['Argon2', async () => '$argon2id$v=19$m=64,t=2,p=1$WXYuUGwyamp0Znk0NjNhcA$3WCr/UPTENIiuqb8Zx/dJoLvTnr/pJ341WExtPFtd0w'],
  ])('are verified: %s', async (_, make) => {
    const stored = await make();
    expect(await verifyInThread('pässword', stored)).toBe(true);
    expect(await verifyInThread('wrong', stored)).toBe(false);
  });

  it('do not block the main thread', async () => {
    const stored = await hash('x', 12);
    let over = false;
    const check = verifyInThread('wrong', stored).then(() => {
      over = true;
    });
    let turns = 0;
    for (; !over; turns += 1) await nextTurn();
    await check;
    // Hashing in the main thread would allow only a few turns, one per tenth of a second.
    expect(turns).toBeGreaterThan(1000);
  });

  it('are rejected if they are invalid, without affecting the next one', async () => {
    const stored = await hash('right', 4);
    const answers = await Promise.all([verifyInThread('right', '$2y$99$broken'), verifyInThread('right', stored)]);
    expect(answers).toEqual([false, true]);
  });

  it('are not called wrong if the thread ends, which a failure in it causes here', async () => {
    const stored = await hash('right', 4);
    const broken = verifyInThread('right', undefined as unknown as string);
    const next = verifyInThread('right', stored);
    await expect(broken).rejects.toMatchObject({ cause: expect.any(Error) });
    expect(await next).toBe(true);
  });

  it('wait in a queue of limited length', async () => {
    const stored = await hash('right', 4);
    const first = Array.from({ length: 65 }, () => verifyInThread('right', stored));
    expect(isQueueFull()).toBe(true);
    expect(await verifyInThread('right', stored)).toBe(false);
    expect(new Set(await Promise.all(first))).toEqual(new Set([true]));
    expect(isQueueFull()).toBe(false);
    expect(await verifyInThread('right', stored)).toBe(true);
  });
});

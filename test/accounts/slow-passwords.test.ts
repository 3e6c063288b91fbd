import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { hash } from 'bcryptjs';
import { requireRoomForCheck, verifyInThread } from '../../src/accounts/slow-passwords.ts';
import { hashPassword } from '../../src/wordpress/passwords.ts';

/** A password that a client of its own sends. */
let clients = 0;
function typed(password: string): { readonly password: string; readonly address: string } {
  clients += 1;
  return { password, address: `198.51.100.${clients}` };
}

describe('slow password hashes', () => {
  const isRight = async (password: string, hashes: readonly string[], decoys: readonly string[] = []) =>
    (await verifyInThread(typed(password), hashes, decoys)).matching >= 0;

  it.each([
    ['bcrypt of WordPress 6.8', () => hashPassword('pässword', 'current')],
    ['bcrypt', () => hash('pässword', 4)],
    ['phpass', async () => '$P$BabcdefghqrpeUHSJ5aCDn/PUuBzOd/'],
    ['Argon2', async () => '$argon2id$v=19$m=64,t=2,p=1$WXYuUGwyamp0Znk0NjNhcA$3WCr/UPTENIiuqb8Zx/dJoLvTnr/pJ341WExtPFtd0w'],
  ])('are verified: %s', async (_, make) => {
    const stored = await make();
    expect(await isRight('pässword', [stored])).toBe(true);
    expect(await isRight('wrong', [stored])).toBe(false);
  });

  it('do not block the main thread', async () => {
    const stored = await hash('x', 12);
    let over = false;
    const check = verifyInThread(typed('wrong'), [stored]).then(() => {
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
    const answers = await Promise.all([isRight('right', ['$2y$99$broken']), isRight('right', [stored])]);
    expect(answers).toEqual([false, true]);
  });

  it('are not called wrong if the thread ends, which a failure in it causes here', async () => {
    const stored = await hash('right', 4);
    const broken = verifyInThread(typed('right'), undefined as unknown as string[]);
    const next = isRight('right', [stored]);
    await expect(broken).rejects.toMatchObject({ cause: expect.any(Error) });
    expect(await next).toBe(true);
  });

  it('are found among others, and decoys never match', async () => {
    const stored = await Promise.all(['one', 'two'].map((password) => hash(password, 4)));
    const { matching, durationMs } = await verifyInThread(typed('two'), stored);
    expect([matching, durationMs > 0]).toEqual([1, true]);
    expect(await isRight('two', [], stored)).toBe(false);
    expect(await isRight('two', [stored[0]!], stored)).toBe(false);
  });

  it('wait in a queue of limited length', async () => {
    const stored = await hash('right', 4);
    const first = Array.from({ length: 65 }, () => isRight('right', [stored]));
    const busy = { problem: 'too-many-requests', details: { data: { retry_after: 5 } } };
    expect(() => requireRoomForCheck('203.0.113.7')).toThrow(expect.objectContaining({ problem: busy.problem }));
    await expect(isRight('right', [stored])).rejects.toMatchObject(busy);
    expect(new Set(await Promise.all(first))).toEqual(new Set([true]));
    expect(() => requireRoomForCheck('203.0.113.7')).not.toThrow();
    expect(await isRight('right', [stored])).toBe(true);
  });

  it('of one address leave places in the queue to others', async () => {
    const stored = await hash('right', 4);
    const busy = { problem: 'too-many-requests', details: { data: { retry_after: 5 } } };
    const verifyAt = (address: string) => verifyInThread({ password: 'right', address }, [stored]);
    // One is being checked while sixteen wait.
    const first = Array.from({ length: 17 }, (_, port) => verifyAt(`203.0.113.7:${1024 + port}`));
    await expect(verifyAt('203.0.113.7')).rejects.toMatchObject(busy);
    expect((await verifyAt('203.0.113.8')).matching).toBe(0);
    await Promise.all(first);
    expect((await verifyAt('203.0.113.7')).matching).toBe(0);
  });
});

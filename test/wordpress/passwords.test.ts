import { describe, expect, it } from '@jest/globals';
import {
  costOfHash,
  fastHash,
  hashPassword,
  newApplicationPassword,
  normalizeApplicationPassword,
  verifyPassword,
  verifyTypedPassword,
} from '../../src/wordpress/passwords.ts';

/** Application passwords and their hashes as stored by WordPress 6.8 and later. */
const APPLICATION = [
  ['snjQ49AFs2XO2McIh3SFldu5', '$generic$8v6CezefyVsY7eszod7gAIumfw_852bwrEfFTtMf'],
  ['wFB9QpGiLzhcZIczoGU5AT2q', '$generic$bRCYiQsKSG-aNJWvICr7D3d5gkvzfHOuYV0_i9gL'],
  ['q5pxtsSRChP74ND3ixwhQypZ', '$generic$3WTmj03048Q2ai4XJniUJHagF3gXoGCNAYvZJTs4'],
  ['eiHtf4taKaO0AY17OqMON60V', '$generic$bfAz0c_s8Sx--S4NLHZ7hgFa4700ImTB44JOKH1N'],
  ['w9rQSrh5CdOmooHiO8zHmUoC', '$generic$UM9EIm_CDRi7aY1ykd3yySOdLYZR4gBgA-jXS_Hl'],
] as const;

describe('verifyPassword', () => {
  it.each([
    ...APPLICATION,
    ['p@ss wörd', '$wp$2y$06$0jKrQkDTIa5Ki.mZmzwTKed8evyAfky.HNANnYpuiogSqzjMoG8vS'],
    [' p@ss wörd\n', '$wp$2y$06$0jKrQkDTIa5Ki.mZmzwTKed8evyAfky.HNANnYpuiogSqzjMoG8vS'],
    ['plain one', '$2y$06$bCjO3bmxqopT5Mu4n3nBV.QIGXEQ7fHcqocxjSeqO4Ynr0dX/gIXe'],
    ['pässword', '$P$BabcdefghqrpeUHSJ5aCDn/PUuBzOd/'],
    ['old', '149603e6c03516362a8da23f624db945'],
    // Hashes of PHP's password_hash with low cost.
    ['pässword', '$argon2id$v=19$m=64,t=2,p=1$WXYuUGwyamp0Znk0NjNhcA$3WCr/UPTENIiuqb8Zx/dJoLvTnr/pJ341WExtPFtd0w'],
    ['pässword', '$argon2i$v=19$m=64,t=2,p=1$cE5UU21RRkxRTUQxZUJnTg$kyzNsz6akDSgXyxxOEVvCrQXQgfgmE2GzPQpr/ekiVc'],
    ['pässword', '$argon2id$v=19$m=128,t=1,p=2$NEtOeTU3T01QWS5BZTJJQg$VmadQT0FbSKI6OznhEJL+6Udu9IvoYUmHdhF1PNhMsk'],
  ])('accepts %j for %s', async (plain, stored) => {
    expect(await verifyPassword(plain, stored)).toBe(true);
    expect(await verifyPassword(`${plain}x`, stored)).toBe(false);
    expect(await verifyPassword('', stored)).toBe(false);
  });

  it('accepts the older prefix of phpass hashes', async () =>
    expect(await verifyPassword('pässword', '$H$BabcdefghqrpeUHSJ5aCDn/PUuBzOd/')).toBe(true));

  it.each([
    ['an empty hash', 'x', ''],
    ['a short hash', 'x', 'x'],
    ['the hash itself', '149603e6c03516362a8da23f624db945', '149603e6c03516362a8da23f624db945'],
    ['a cut hash', 'p@ss wörd', '$wp$2y$06$0jKrQkDTIa5Ki'],
    ['an unknown kind of hash', 'x', '$scrypt$ln=4,r=8,p=1$c2FsdHNhbHQ$aGFzaGhhc2g'],
    ['a cut Argon2', 'pässword', '$argon2id$v=19$m=64,t=2,p=1$WXYuUGwyamp0Znk0NjNhcA$3WCr'],
    [
      'Argon2 of another version',
      'pässword',
      '$argon2id$v=16$m=64,t=2,p=1$WXYuUGwyamp0Znk0NjNhcA$3WCr/UPTENIiuqb8Zx/dJoLvTnr/pJ341WExtPFtd0w',
    ],
    ['Argon2 without passes', 'x', '$argon2id$v=19$m=64,t=0,p=1$WXYuUGwyamp0Znk0NjNhcA$3WCr/UPTENIiuqb8Zx/dJoLvTnr/pJ341WExtPFtd0w'],
    [
      'Argon2 with endless memory',
      'x',
      '$argon2id$v=19$m=4194304,t=1,p=1$WXYuUGwyamp0Znk0NjNhcA$3WCr/UPTENIiuqb8Zx/dJoLvTnr/pJ341WExtPFtd0w',
    ],
    [
      'Argon2 with endless passes',
      'x',
      '$argon2id$v=19$m=65536,t=99,p=1$WXYuUGwyamp0Znk0NjNhcA$3WCr/UPTENIiuqb8Zx/dJoLvTnr/pJ341WExtPFtd0w',
    ],
    ['phpass with endless rounds', 'x', '$P$SabcdefghqrpeUHSJ5aCDn/PUuBzOd/'],
    ['phpass without salt', 'x', '$P$B'],
  ])('refuses %s', async (_, plain, stored) => expect(await verifyPassword(plain, stored)).toBe(false));

  it('refuses a password of more than 4096 bytes', async () => {
    const long = 'x'.repeat(4097);
    expect(await verifyPassword(long, fastHash(long))).toBe(false);
  });
});

describe('typed password', () => {
  // Hash that PHP makes as WordPress does: addslashes, trim, phpass.
  const FROM_FORM = '$P$BGhkKvJOnwR1HaXRyvl6b2o.VGVjPt.';
  it.each([` it's "my" \\ password `, `it's "my" \\ password`])(
    'is compared in the form in which WordPress forms send it: %j',
    async (typed) => {
      expect(await verifyTypedPassword(typed, FROM_FORM)).toBe(true);
      expect(await verifyTypedPassword(`${typed}x`, FROM_FORM)).toBe(false);
    },
  );
  it('is also compared unchanged, since programs set passwords so', async () => {
    expect(await verifyTypedPassword("it's", await hashPassword("it's", 'current'))).toBe(true);
    expect(await verifyTypedPassword("it's", await hashPassword("it\\\\'s", 'current'))).toBe(false);
  });
});

describe('hashPassword', () => {
  it('makes a new hash of phpass for WordPress before 6.8, without the white space around the password', async () => {
    const stored = await hashPassword(' correct horse ', 'phpass');
    expect(stored).toMatch(/^\$P\$B[./A-Za-z0-9]{30}$/);
    expect(await verifyPassword('correct horse', stored)).toBe(true);
    expect(await hashPassword('correct horse', 'phpass')).not.toBe(stored);
  });

  it('makes a hash in the format of WordPress', async () => {
    const stored = await hashPassword('correct horse', 'current');
    expect(stored).toMatch(/^\$wp\$2y\$10\$[./A-Za-z0-9]{53}$/);
    expect(await verifyPassword('correct horse', stored)).toBe(true);
  });
});

describe('costOfHash', () => {
  it.each([
    [`$wp$2y$12$${'x'.repeat(53)}`, { algorithm: 'bcrypt', factor: 12 }],
    [`$2a$10$${'x'.repeat(53)}`, { algorithm: 'bcrypt', factor: 10 }],
    ['$wp$2y$12$cut', undefined],
    ['$argon2id$v=19$m=65536,t=4,p=1$c2FsdA$aGFzaA', undefined],
    ['$P$BabcdefghqrpeUHSJ5aCDn/PUuBzOd/', { algorithm: 'phpass', factor: 13 }],
    ['$P$Bcut', undefined],
    ['5f4dcc3b5aa765d61d8327deb882cf99', undefined],
    ['*LOCKED*', undefined],
    ['', undefined],
  ])('of %j is %j', (stored, cost) => expect(costOfHash(stored)).toEqual(cost));
});

describe('application passwords', () => {
  it.each(APPLICATION)('are hashed as WordPress does: %s as %s', (plain, stored) => expect(fastHash(plain)).toBe(stored));
  it('are 24 random letters and digits', () => {
    expect(newApplicationPassword()).toMatch(/^[A-Za-z0-9]{24}$/);
    expect(newApplicationPassword()).not.toBe(newApplicationPassword());
  });
  it('may be typed with spaces and dashes', () =>
    expect(normalizeApplicationPassword(' snjQ 49AF-s2XO\t2McI h3SF ldu5\n')).toBe('snjQ49AFs2XO2McIh3SFldu5'));
});

import { expect, it } from '@jest/globals';
import { isEmail } from '../../src/wordpress/email.ts';

it.each(['a@b.org', "o'neil+x@sub.example.co", 'a.b@x-y.org', '.@x.org'])('isEmail accepts %s', (text) => expect(isEmail(text)).toBe(true));

it.each([
  '',
  'a@b.c',
  '@x.org',
  'a@b',
  'a@b..org',
  'a@-b.org',
  'a@b-.org',
  'a@b.org-',
  'a@b.-org',
  'a b@x.org',
  'é@x.org',
  'a@é.org',
  'a@@x.org',
])('isEmail rejects %j', (text) => expect(isEmail(text)).toBe(false));

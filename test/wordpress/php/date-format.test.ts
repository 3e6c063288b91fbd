import { expect, it } from '@jest/globals';
import { formatDate } from '../../../src/wordpress/php/date-format.ts';

it.each([
  ['2030-03-01 09:05:07', 'F j, Y', 'en', 'March 1, 2030'],
  ['2030-03-01 09:05:07', 'j F Y', 'it', '1 marzo 2030'],
  ['2030-03-01 09:05:07', 'l, D, N, w', 'en', 'Friday, Fri, 5, 5'],
  ['2030-03-01 09:05:07', 'g:i a, G:i:s, h:i A, H', 'en', '9:05 am, 9:05:07, 09:05 AM, 09'],
  ['2030-03-11 00:30:00', 'jS g:i a', 'en', '11th 12:30 am'],
  ['2030-03-22 12:00:00', 'jS m/d/y n t M', 'en', '22nd 03/22/30 3 31 Mar'],
  ['2030-03-22 12:00:00', '\\t\\h\\e jS', 'en', 'the 22nd'],
  ['', 'F j', 'en', ''],
])('%s as %s in %s is %s', (local, format, language, text) => expect(formatDate(local, format, language)).toBe(text));

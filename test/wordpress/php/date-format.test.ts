import { expect, it } from '@jest/globals';
import { formatDate } from '../../../src/wordpress/php/date-format.ts';
import { parseZone, UTC } from '../../../src/wordpress/zones.ts';

it.each([
  ['2030-03-01 09:05:07', 'F j, Y', 'en', 'March 1, 2030'],
  ['2030-03-01 09:05:07', 'j F Y', 'it', '1 marzo 2030'],
  ['2030-03-01 09:05:07', 'l, D, N, w', 'en', 'Friday, Fri, 5, 5'],
  ['2030-03-01 09:05:07', 'g:i a, G:i:s, h:i A, H', 'en', '9:05 am, 9:05:07, 09:05 AM, 09'],
  ['2030-03-11 00:30:00', 'jS g:i a', 'en', '11th 12:30 am'],
  ['2030-03-22 12:00:00', 'jS m/d/y n t M', 'en', '22nd 03/22/30 3 31 Mar'],
  ['2030-03-22 12:00:00', '\\t\\h\\e jS', 'en', 'the 22nd'],
  ['', 'F j', 'en', ''],
])('formatDate writes %s as %s in %s: %s', (local, format, language, text) => expect(formatDate(local, format, language, UTC)).toBe(text));

const OTHERS = 'z W o L B u v e T I P p O Z U | c | r';

// Expected values are output of PHP's DateTime.
it.each([
  [
    '2030-07-01 09:05:07',
    'Europe/Rome',
    '181 27 2030 0 336 000000 000 Europe/Rome CEST 1 +02:00 +02:00 +0200 7200 1909119907 | 2030-07-01T09:05:07+02:00 | Mon, 01 Jul 2030 09:05:07 +0200',
  ],
  [
    '2027-01-01 00:00:00',
    'Europe/Rome',
    '0 53 2026 0 000 000000 000 Europe/Rome CET 0 +01:00 +01:00 +0100 3600 1798758000 | 2027-01-01T00:00:00+01:00 | Fri, 01 Jan 2027 00:00:00 +0100',
  ],
  [
    '2028-12-31 23:59:59',
    'America/New_York',
    '365 52 2028 1 249 000000 000 America/New_York EST 0 -05:00 -05:00 -0500 -18000 1861937999 | 2028-12-31T23:59:59-05:00 | Sun, 31 Dec 2028 23:59:59 -0500',
  ],
  [
    '2030-03-01 09:05:07',
    '+05:30',
    '59 09 2030 0 191 000000 000 +05:30 GMT+0530 0 +05:30 +05:30 +0530 19800 1898566507 | 2030-03-01T09:05:07+05:30 | Fri, 01 Mar 2030 09:05:07 +0530',
  ],
  [
    '2030-03-01 09:05:07',
    'UTC',
    '59 09 2030 0 420 000000 000 UTC UTC 0 +00:00 Z +0000 0 1898586307 | 2030-03-01T09:05:07+00:00 | Fri, 01 Mar 2030 09:05:07 +0000',
  ],
  [
    '2030-12-30 01:00:00',
    'Asia/Kathmandu',
    '363 01 2031 0 843 000000 000 Asia/Kathmandu +0545 0 +05:45 +05:45 +0545 20700 1924802100 | 2030-12-30T01:00:00+05:45 | Mon, 30 Dec 2030 01:00:00 +0545',
  ],
])('formatDate writes %s in %s with all other format letters', (local, zone, text) => {
  expect(formatDate(local, OTHERS, 'it', parseZone(zone)!)).toBe(text);
});

it('formatDate begins a beat at its first second', () => {
  const beatAt = (beat: number) =>
    formatDate(new Date(Date.UTC(2026, 0, 1, 23) + beat * 86_400).toISOString().slice(0, 19).replace('T', ' '), 'B', 'en', UTC);
  const wholeSeconds = Array.from({ length: 200 }, (_, index) => index * 5);
  expect(wholeSeconds.map(beatAt)).toEqual(wholeSeconds.map((beat) => String(beat).padStart(3, '0')));
});

import { expect, it } from '@jest/globals';
import { phpZone } from '../../../src/wordpress/php/zone.ts';

it.each([
  ['Europe/Rome', 3, 'Europe/Rome'],
  ['UTC', 3, 'UTC'],
  ['UTC+2', 3, 'Europe/Helsinki'],
  ['UTC-5.5', 3, 'UTC'],
  ['UTC+5.5', 3, 'Asia/Kolkata'],
  ['EST', 2, 'EST'],
  ['+02:00', 1, '+02:00'],
  ['nowhere', 3, 'UTC'],
])('phpZone returns for %s the type %i and the zone %s', (name, timezone_type, timezone) =>
  expect(phpZone(name)).toEqual({ timezone_type, timezone }),
);

import { describe, expect, it } from '@jest/globals';
import { createProbes } from '../../src/http/probes.ts';

describe('createProbes', () => {
  it.each<[string, readonly number[], number, boolean]>([
    ['nobody', [], 0, false],
    ['a start that is waited for', [0, 200, 400], 500, false],
    ['a load balancer', [0, 10_000, 20_000], 25_000, true],
    ['a load balancer that asks each second', [0, 1000], 1000, true],
    ['a load balancer that has gone', [0, 10_000, 20_000], 50_001, false],
    ['two that ask once, a minute apart', [0, 60_000], 60_000, false],
  ])('decides whether a load balancer follows readiness: %s', (_, asked, now, isFollowed) => {
    let time = 0;
    const probes = createProbes(() => time);
    for (time of asked) probes.record();
    time = now;
    expect(probes.isProbedRegularly()).toBe(isFollowed);
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { settings } from '../src/config.ts';

const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
const dockerfile = read('Dockerfile');
const compose = read('compose.yaml');
/** How long a process may take to end beyond the answers under way, in seconds (docs/operating.md). */
const GRACE_SECONDS = 3;

describe('the container', () => {
  it('is made of images with exact versions', () => {
    const images = [...dockerfile.matchAll(/^FROM (\S+)/gm), ...compose.matchAll(/^\s+image: (\S+)/gm)].map(([, image = '']) => image);
    expect(images.length).toBeGreaterThan(2);
    expect(images.filter((image) => !/:\d+\.\d+\.\d+(-[\w.-]+)?$/.test(image))).toEqual([]);
  });

  it('has no password of its own, and none that is printed', () => {
    const lines = compose.split('\n').filter((line) => /PASSWORD|mysql:/.test(line.replace(/#.*/, '')));
    expect(lines.length).toBeGreaterThan(2);
    expect(lines.filter((line) => !/\$\{\w+:\?/.test(line))).toEqual([]);
    expect(compose).not.toMatch(/^\s+\w+_RANDOM_ROOT_PASSWORD/m);
  });

  it('can be reached from outside of itself, by this machine alone', () => {
    expect(dockerfile).toMatch(/^ENV .*\bHOST=0\.0\.0\.0\b/m);
    expect(/^\s+ports: (.+)$/m.exec(compose)?.[1]).toMatch(/^\["127\.0\.0\.1:/);
  });

  it('has as much time to end as the service may take', () => {
    const seconds = Number(/stop_grace_period: (\d+)s/.exec(compose)?.[1]);
    expect(seconds).toBeGreaterThan(Number(settings.shutdownSeconds.fallback) + GRACE_SECONDS);
  });
});

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { settings } from '../src/config/settings.ts';

const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
const dockerfile = read('Dockerfile');
const compose = read('compose.yaml');
/** Extra time that a process may take to end after the answers under way, in seconds (docs/operating.md). */
const GRACE_SECONDS = 3;

describe('the container', () => {
  it('is made of images with exact versions', () => {
    const images = [...dockerfile.matchAll(/^FROM (\S+)/gm), ...compose.matchAll(/^\s+image: (\S+)/gm)].map(([, image = '']) => image);
    expect(images.length).toBeGreaterThan(2);
    expect(images.filter((image) => !/:\d+\.\d+\.\d+(-[\w.-]+)?$/.test(image))).toEqual([]);
  });

  it('reads its passwords from files, and contains or prints none', () => {
    const lines = compose.split('\n').filter((line) => /^\s+\w*PASSWORD\w*:/.test(line));
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.filter((line) => !/_PASSWORD_FILE: \/secrets\/\w+$/.test(line))).toEqual([]);
    expect(compose).not.toMatch(/RANDOM_ROOT_PASSWORD|mysql:\/\/fasti:(?!%s@)/);
  });

  it('generates the database passwords once, each in files that only its reader can read', () => {
    const folder = mkdtempSync(join(tmpdir(), 'fasti-secrets-'));
    const script = /- \|\n((?: {8}.*\n)+)/.exec(compose)?.[1] ?? '';
    const owners = [...script.matchAll(/chown (\d+):\d+ (.+)/g)].map(([, id, names]) => [id, names]);
    expect(owners).toEqual([
      ['999', 'user root'],
      ['1000', 'url'],
    ]);
    const here = script.replaceAll('$$', '$').replace('/secrets', folder).replaceAll('chown', ': chown');
    const made = () => {
      execFileSync('sh', ['-euc', here]);
      return ['user', 'root', 'url'].map((name) => {
        expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
        return readFileSync(join(folder, name), 'utf8');
      });
    };
    try {
      const [user = '', root = '', url = ''] = made();
      expect([user, root].filter((word) => !/^[0-9a-f]{48}$/.test(word))).toEqual([]);
      expect(user).not.toBe(root);
      expect(url).toBe(`mysql://fasti:${user}@database:3306/fasti`);
      expect(made()).toEqual([user, root, url]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("listens on all its interfaces, but is published on this machine's loopback address only", () => {
    expect(dockerfile).toMatch(/^ENV .*\bHOST=0\.0\.0\.0\b/m);
    expect(/^\s+ports: (.+)$/m.exec(compose)?.[1]).toMatch(/^\["127\.0\.0\.1:/);
  });

  it('gets the settings that it needs behind a proxy, each with its usual default', () => {
    const passed = [...compose.matchAll(/^ {6}(\w+): \$\{(\w+):-(.+)\}$/gm)].map(([, name, from, fallback]) => [name, from, fallback]);
    const { trustProxy, basicAuth } = settings;
    expect(passed).toEqual([
      ['SITE_URL', 'SITE_URL', 'http://localhost:8080'],
      ...[trustProxy, basicAuth].map(({ env, fallback }) => [env, env, fallback]),
    ]);
  });

  it('waits longer before killing the service than the service may take to end', () => {
    const seconds = Number(/stop_grace_period: (\d+)s/.exec(compose)?.[1]);
    expect(seconds).toBeGreaterThan(Number(settings.shutdownSeconds.fallback) + GRACE_SECONDS);
  });
});

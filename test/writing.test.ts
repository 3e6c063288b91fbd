import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Database } from '../src/storage/engine/database.ts';
import { describeDatabases, urlOf } from './support/databases.ts';
import { COMMAND } from './support/program.mjs';
import { passwordOf, type RunningSite, serveDatabase } from './support/running-site.ts';
import { loadSite } from './support/site.ts';

/* docs/writing.md shows the real answers of its commands. The commands are run as written, by a shell with curl. */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGE = readFileSync(join(ROOT, 'docs/writing.md'), 'utf8');
const SCRIPT = [...PAGE.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block).join('\n');
const hasTools = ['bash', 'curl', 'cmp', 'grep'].every((tool) => spawnSync('sh', ['-c', `command -v ${tool}`]).status === 0);

describeDatabases('docs/writing.md', (open) => {
  let db: Database;
  let running: RunningSite;
  const folder = mkdtempSync(join(tmpdir(), 'fasti-writing-'));
  beforeAll(async () => {
    db = await loadSite(await open());
    running = await serveDatabase(db);
    const command = `exec "${process.execPath}" "${COMMAND}" "$@"`;
    writeFileSync(join(folder, 'fasti'), `#!/bin/sh\ncd "${ROOT}"\n${command}\n`);
    chmodSync(join(folder, 'fasti'), 0o755);
  });
  afterAll(async () => {
    await running.close();
    rmSync(folder, { recursive: true, force: true });
  });

  (hasTools ? it : it.skip)('says what its commands answer', async () => {
    const { code, out } = await shell(`set -e\n${SCRIPT}`, folder, {
      API: `${running.base}/wp-json/tribe/events/v1`,
      LOGIN: `admin:${passwordOf('admin')}`,
      DATABASE_URL: urlOf(db),
      TABLE_PREFIX: db.prefix,
    });
    const told = [...SCRIPT.matchAll(/# (\d{3}(?: true)?)(?:$|:)/gm)].map(([, answer]) => answer!);
    expect(told).toEqual(['200', '412', '201', '201 true', '422', '201', '200', '207']);
    expect(out.match(/^\d{3}(?: true)?(?= ?$)/gm)).toEqual(told);
    expect(out).toMatch(/somebody was faster/);
    expect(code).toBe(0);
    expect(await db.from('posts').where('post_title', 'Old mill')).toHaveLength(1);
    expect(out).toContain('"total":1,');
    expect(out).toContain('"stage":{"label":"stage","value":"Garden"}');
    const [event] = await db.from('posts').where('post_title', 'Harvest fair');
    expect(await db.from('postmeta').where({ post_id: event!.ID, meta_key: '_EventCost' })).toMatchObject([{ meta_value: '9' }]);
  });
});

function shell(script: string, cwd: string, env: Record<string, string>): Promise<{ code: number | null; out: string }> {
  const child = spawn('bash', ['-c', script], { cwd, env: { ...process.env, ...env, PATH: `${cwd}:${process.env.PATH}`, LC_ALL: 'C' } });
  let out = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      out += String(chunk);
    });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out })));
}

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from '@jest/globals';
import { runCli } from '../../src/cli/program.ts';
import { openProxy } from '../support/database-proxy.ts';
import { describeMysql, urlOf } from '../support/databases.ts';
import { loadSite } from '../support/site.ts';
import { temporaryFolder } from './command.ts';

/** Returns a port that nobody uses now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describeMysql('fasti start without its database', (open) => {
  const folder = temporaryFolder();

  it('answers that it is alive but not ready until the database is there, and serves then', async () => {
    const proxy = await openProxy(urlOf(await loadSite(await open())));
    await proxy.close();
    const port = await freePort();
    const answers: unknown[] = [];
    const serve = async () => void answers.push('served');
    const err: string[] = [];
    const wait = async () => {
      if (answers.includes('served')) return false;
      for (const path of ['/health/live', '/health/ready', '/wp-json/']) {
        const answer = await fetch(`http://127.0.0.1:${port}${path}`);
        answers.push([path, answer.status, await answer.json()]);
      }
      if (answers.length > 3) await proxy.reopen();
      return true;
    };
    const env = { DATABASE_URL: proxy.url, UPLOADS_DIR: folder, HOST: '127.0.0.1', PORT: String(port), LANG: 'en' };
    const out = () => undefined;
    expect(await runCli(['start'], { env, isTerminal: false, out, err: (text) => err.push(text), serve, wait })).toBe(0);
    const notReady = { status: 'not ready', reason: 'database unreachable' };
    const meanwhile = [
      ['/health/live', 200, { status: 'live' }],
      ['/health/ready', 503, notReady],
      ['/wp-json/', 503, notReady],
    ];
    expect(answers).toEqual([...meanwhile, ...meanwhile, 'served']);
    // The first line is that of the log.
    expect(err.join('').split('\n').slice(1)).toEqual([expect.stringMatching(/^Waiting: the database cannot be reached \(.+\)\.$/), '']);
    await proxy.close();
  });

  it('does not serve a site that it has made, but not completed when the database was lost', async () => {
    const proxy = await openProxy(urlOf(await open()));
    const closing: Promise<void>[] = [];
    const waits: unknown[] = [];
    const served: unknown[] = [];
    const env = { DATABASE_URL: proxy.url, UPLOADS_DIR: folder, HOST: '127.0.0.1', PORT: String(await freePort()), LANG: 'en' };
    const code = await runCli(['start'], {
      env,
      isTerminal: false,
      // The site has been made when it is told.
      out: () => closing.push(proxy.close()),
      err: () => undefined,
      serve: async () => void served.push('served'),
      wait: async () => {
        if (waits.push('wait') === 1) await proxy.reopen();
        return served.length === 0;
      },
    });
    await Promise.all(closing);
    expect([code, closing.length, served]).toEqual([69, 1, []]);
  });

  it('ends at once at a terminal, where the address may be misspelt', async () => {
    const err: string[] = [];
    const env = { DATABASE_URL: `mysql://a:b@127.0.0.1:${await freePort()}/c`, UPLOADS_DIR: folder, LANG: 'en' };
    const io = { env, isTerminal: true, out: () => undefined, err: (text: string) => err.push(text), serve: async () => undefined };
    expect(await runCli(['start'], io)).toBe(69);
    expect(err.join('')).toContain('the database cannot be reached');
  });
});

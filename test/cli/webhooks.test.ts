import { beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { loadSite, snapshotTables } from '../support/site.ts';
import { commandIn, temporaryFolder } from './command.ts';

const URL = 'https://example.org/hook';

describeDatabases('fasti webhook', (open) => {
  const folder = temporaryFolder();
  let db: Database;
  let putBack: () => Promise<void>;
  beforeAll(async () => {
    db = await loadSite(await open());
    putBack = await snapshotTables(db);
  });
  beforeEach(() => putBack());
  const fasti = (...args: string[]) => commandIn({ DATABASE_URL: urlOf(db), UPLOADS_DIR: folder, SHARED_WITH_WORDPRESS: 'off' })(...args);

  it('shows the webhook of a deleted user as off, and does not resume it', async () => {
    await fasti('user', 'create', 'anna', 'anna@example.org', '--role=editor');
    await fasti('webhook', 'add', URL, '--rights-of=anna');
    await fasti('webhook', 'add', URL, '--rights-of=admin');
    await fasti('webhook', 'add', URL);
    const states = async () => (await fasti('webhook', 'list', '--field=state')).out;
    const [id] = (await fasti('webhook', 'list', '--format=ids')).out.split(' ');
    expect(await states()).toBe('active\nactive\nactive\n');
    expect((await fasti('user', 'delete', 'anna')).code).toBe(0);
    expect(await states()).toBe('off\nactive\nactive\n');
    expect(await fasti('webhook', 'resume', id!)).toMatchObject({
      code: 1,
      out: '',
      err: `Error: webhook ${id} has the rights of a user who no longer exists; add a new one with \`fasti webhook add\`.\n`,
    });
    expect(await states()).toBe('off\nactive\nactive\n');
  });

  it('changes the address and the kinds of a webhook', async () => {
    await fasti('webhook', 'add', URL, '--kinds=event');
    const id = (await fasti('webhook', 'list', '--format=ids')).out.trim();
    const shown = async () => JSON.parse((await fasti('webhook', 'list', '--format=json')).out);
    expect((await fasti('webhook', 'update', id, `--url=${URL}/new`)).out).toBe(`Webhook ${id} was changed.\n`);
    expect(await shown()).toMatchObject([{ url: `${URL}/new`, kinds: 'event' }]);
    expect((await fasti('webhook', 'update', id, '--kinds=')).code).toBe(0);
    expect(await shown()).toMatchObject([{ url: `${URL}/new`, kinds: '' }]);
    for (const wrong of [['--url=ftp://example.org'], ['--kinds=event,page'], []])
      expect((await fasti('webhook', 'update', id, ...wrong)).code).not.toBe(0);
    expect(await shown()).toMatchObject([{ url: `${URL}/new`, kinds: '' }]);
  });

  it('reports that messages of a paused webhook wait until it is resumed', async () => {
    await fasti('webhook', 'add', URL);
    const [id = ''] = (await fasti('webhook', 'list', '--format=ids')).out.trim().split(' ');
    expect((await fasti('webhook', 'test', id)).out).toBe(`The server will send a test message to webhook ${id} at once.\n`);
    await fasti('webhook', 'pause', id);
    expect((await fasti('webhook', 'test', id)).out).toBe(
      `A test message to webhook ${id} waits until it is resumed: \`fasti webhook resume ${id}\`.\n`,
    );
    expect((await fasti('webhook', 'retry', id)).out).toBe(
      `2 messages wait until webhook ${id} is resumed: \`fasti webhook resume ${id}\`.\n`,
    );
    await fasti('webhook', 'resume', id);
    expect((await fasti('webhook', 'retry', id, '--language=it')).out).toBe(
      `2 messaggi per il webhook ${id} verranno inviati di nuovo, subito.\n`,
    );
  });

  it('lists nothing if its tables do not exist yet', async () => {
    for (const name of ['hooks', 'hook_messages']) await db.ask(`DROP TABLE ${db.prefix}fasti_${name}`);
    expect(await fasti('webhook', 'list', '--format=json')).toMatchObject({ code: 0, out: '[]\n', err: '' });
    expect(await fasti('webhook', 'deliveries', '1')).toMatchObject({ code: 1, err: 'Error: there is no webhook 1.\n' });
  });
});

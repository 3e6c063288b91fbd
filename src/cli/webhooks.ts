import type { Command } from 'commander';
import { requireUser } from '../accounts/users.ts';
import type { Site } from '../site.ts';
import { addHook, deleteHook, hookMessages, listHooks, readHook, retryHook, setHookActive, testHook } from '../webhooks/hooks.ts';
import { outputShape, parseId, withExamples, withOutputOptions } from './options.ts';
import { formatList, print } from './print.ts';
import { type Session, withSite } from './session.ts';

type Options = Readonly<Record<string, string | undefined>>;

const COLUMNS = ['id', 'url', 'kinds', 'user', 'state', 'created_at'];
const MESSAGE_COLUMNS = ['id', 'subject', 'state', 'attempts', 'status', 'error', 'next_at'];
const MAX_DELIVERIES = 50;

/** Adds `webhook add|list|test|pause|resume|remove|deliveries|retry`. */
export function addWebhookCommands(program: Command, session: Session): void {
  const { say, io } = session;
  const group = program.command('webhook').helpCommand(false).description(say('webhook.group'));
  const verb = (name: string, examples: readonly string[]) =>
    withExamples(group.command(name).description(say(`webhook.${name.split(' ')[0]}`)), say, examples);

  verb('add <url>', [
    'fasti webhook add https://example.org/hook',
    'fasti webhook add https://example.org/hook --kinds=event,venue --porcelain > secret.txt',
  ])
    .option('--kinds <list>', say('webhook.kinds'))
    .option('--rights-of <user>', say('webhook.rights-of'))
    .option('--porcelain', say('webhook.porcelain'))
    .action((url: string, { kinds, rightsOf, porcelain }: Options) =>
      withSite(session, 'write', async (site) => {
        const user = rightsOf === undefined ? 0 : (await requireUser(site.db, rightsOf, [])).row.ID;
        const { id, secret } = await addHook(site, { url, kinds, user });
        print(io, porcelain ? `${secret}\n` : `${say('done.webhook-added', { id, secret })}\n`);
      }),
    );

  withOutputOptions(verb('list', ['fasti webhook list', 'fasti webhook list --format=json']), say).action((given: Options) =>
    withSite(session, 'read', async (site) => {
      const items = (await listHooks(site)).map((hook) => ({ ...hook }));
      print(io, formatList(items, outputShape(given, COLUMNS), io.isTerminal));
    }),
  );

  withOutputOptions(verb('deliveries <id>', ['fasti webhook deliveries 1']), say).action((id: string, given: Options) =>
    withSite(session, 'read', async (site) => {
      const items = (await hookMessages(site, parseId('id', id), MAX_DELIVERIES)).map((one) => ({ ...one }));
      print(io, formatList(items, outputShape(given, MESSAGE_COLUMNS), io.isTerminal));
    }),
  );

  /**
   * Adds a command without options. `later`: sentence to print instead if something is to be sent and the webhook is
   * paused or disabled.
   */
  const simple = (name: string, done: string, work: (site: Site, id: number) => Promise<unknown>, later?: string): void => {
    verb(`${name} <id>`, [`fasti webhook ${name} 1`]).action((given: string) =>
      withSite(session, 'write', async (site) => {
        const id = parseId('id', given);
        const count = await work(site, id);
        const said = later !== undefined && (await readHook(site, id)).state !== 'active' ? later : done;
        print(io, `${say(`done.${said}`, { id, count: Number(count ?? 0) })}\n`);
      }),
    );
  };
  simple('test', 'webhook-tested', testHook, 'webhook-tested-later');
  simple('pause', 'webhook-paused', (site, id) => setHookActive(site, id, 'paused'));
  simple('resume', 'webhook-resumed', (site, id) => setHookActive(site, id, 'active'));
  simple('retry', 'webhook-retried', retryHook, 'webhook-retried-later');
  simple('remove', 'webhook-removed', deleteHook);
}

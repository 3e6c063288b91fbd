import type { Command } from 'commander';
import { requireUser, userReference } from '../accounts/users.ts';
import type { Site } from '../site.ts';
import {
  addHook,
  changeHook,
  deleteHook,
  hookMessages,
  listHooks,
  readHook,
  retryHook,
  setHookActive,
  testHook,
} from '../webhooks/hooks.ts';
import { CliError, EXIT_CODE } from './io.ts';
import { outputShape, parseId, withExamples, withOutputOptions } from './options.ts';
import { formatList, print } from './print.ts';
import { type Session, withSite } from './session.ts';

type Options = Readonly<Record<string, string | undefined>>;

const COLUMNS = ['id', 'url', 'kinds', 'user', 'state', 'created_at'];
const MESSAGE_COLUMNS = ['id', 'subject', 'state', 'attempts', 'status', 'error', 'next_at'];
const MAX_DELIVERIES = 50;

/** Adds `webhook add|update|list|test|pause|resume|remove|deliveries|retry`. */
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
        const user = rightsOf === undefined ? 0 : (await requireUser(site.db, userReference(rightsOf), [])).row.ID;
        const { id, secret } = await addHook(site, { url, kinds, user });
        print(io, porcelain ? `${secret}\n` : `${say('done.webhook-added', { id, secret })}\n`);
      }),
    );

  addUpdate(session, verb('update <id>', ['fasti webhook update 1 --url=https://example.org/new-hook', 'fasti webhook update 1 --kinds=']));

  withOutputOptions(verb('list', ['fasti webhook list', 'fasti webhook list --format=json']), say).action((options: Options) =>
    withSite(session, 'read', async (site) => {
      const items = (await listHooks(site)).map((hook) => ({ ...hook }));
      print(io, formatList(items, outputShape(options, COLUMNS), io.isTerminal));
    }),
  );

  withOutputOptions(verb('deliveries <id>', ['fasti webhook deliveries 1']), say).action((id: string, options: Options) =>
    withSite(session, 'read', async (site) => {
      const items = (await hookMessages(site, parseId('id', id), MAX_DELIVERIES)).map((one) => ({ ...one }));
      print(io, formatList(items, outputShape(options, MESSAGE_COLUMNS), io.isTerminal));
    }),
  );

  /**
   * Adds a command without options. `laterKey`: sentence to print instead if something is to be sent and the webhook is
   * paused or disabled.
   */
  const addSimple = (name: string, doneKey: string, work: (site: Site, id: number) => Promise<unknown>, laterKey?: string): void => {
    verb(`${name} <id>`, [`fasti webhook ${name} 1`]).action((idText: string) =>
      withSite(session, 'write', async (site) => {
        const id = parseId('id', idText);
        const count = await work(site, id);
        const key = laterKey !== undefined && (await readHook(site, id)).state !== 'active' ? laterKey : doneKey;
        print(io, `${say(`done.${key}`, { id, count: Number(count ?? 0) })}\n`);
      }),
    );
  };
  addSimple('test', 'webhook-tested', testHook, 'webhook-tested-later');
  addSimple('pause', 'webhook-paused', (site, id) => setHookActive(site, id, 'paused'));
  addSimple('resume', 'webhook-resumed', (site, id) => setHookActive(site, id, 'active'));
  addSimple('retry', 'webhook-retried', retryHook, 'webhook-retried-later');
  addSimple('remove', 'webhook-removed', deleteHook);
}

/** Adds the options and the action of `webhook update` to its command. */
function addUpdate(session: Session, command: Command): void {
  const { say, io } = session;
  command
    .option('--url <address>', say('webhook.url'))
    .option('--kinds <list>', say('webhook.kinds'))
    .action((id: string, { url, kinds }: Options) =>
      withSite(session, 'write', async (site) => {
        if (url === undefined && kinds === undefined) throw new CliError('nothing-named', {}, EXIT_CODE.usage);
        const hook = await changeHook(site, parseId('id', id), { url, kinds });
        print(io, `${say('done.webhook-updated', { id: hook.id })}\n`);
      }),
    );
}

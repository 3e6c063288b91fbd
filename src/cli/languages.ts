import type { Command } from 'commander';
import { onSite } from '../kinds/custom-fields.ts';
import { kinds, postKindOfType } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { acceptParams } from '../records/input.ts';
import { mayChange } from '../records/posts.ts';
import { addSiteLanguage, assignLanguage, countLanguages, requireLinkable } from '../records/site-languages.ts';
import { changeTerm } from '../records/terms.ts';
import { mayManageTerms } from '../records/visibility.ts';
import { changePost } from '../records/writes/post-writes.ts';
import { lookUpOnce } from '../storage/engine/look-up-once.ts';
import { findPost } from '../storage/rows/posts.ts';
import { CliError } from './io.ts';
import { chosen, shapeOf, userOf, withExamples, withShape } from './options.ts';
import { print, printedList } from './print.ts';
import { actingCaller, type Session, withSite } from './session.ts';

type Options = Readonly<Record<string, unknown>>;

const COLUMNS = ['code', 'name', 'locale', 'default', ...kinds.map(({ path }) => path)];

/** Adds `languages list|add|assign|link`. */
export function addLanguageCommands(program: Command, session: Session): void {
  const { say } = session;
  const group = program.command('languages').helpCommand(false).description(say('languages.group'));
  const verb = (usage: string, examples: string[]) =>
    withExamples(group.command(usage).description(say(`languages.${usage.split(' ', 1)[0]}`)), say, examples);
  addList(verb('list', ['fasti languages list', 'fasti languages list --format=json']), session);
  addAdd(verb('add <code>', ['fasti languages add en', 'fasti languages add it --locale=it_IT --name=Italiano']), session);
  addAssign(verb('assign', ['fasti languages assign --to=en', 'fasti languages assign --to=it --kind=event']), session);
  addLink(verb('link <id> <ids...>', ['fasti languages link 110 111', 'fasti languages link 38 40 --kind=category']), session);
}

function addList(command: Command, session: Session): void {
  const { say, io } = session;
  withShape(command, say).action((given: Options) =>
    withSite(session, 'read', async (site) => {
      const items = (await countLanguages(site)).map(({ language, isDefault, counts }) => ({
        code: language?.code ?? null,
        name: language?.name ?? say('languages.none'),
        locale: language?.locale ?? null,
        default: isDefault,
        ...counts,
      }));
      print(io, printedList(items, shapeOf(given, COLUMNS), io.terminal));
    }),
  );
}

function addAdd(command: Command, session: Session): void {
  const { say, io } = session;
  command
    .option('--locale <locale>', say('languages.locale'))
    .option('--name <text>', say('languages.name'))
    .option('--default', say('languages.default'))
    .action((code: string, given: { readonly locale?: string; readonly name?: string; readonly default?: boolean }) =>
      withSite(session, 'write', async (site) => {
        const count = await addSiteLanguage(site, { code, locale: given.locale, name: given.name, isDefault: given.default });
        print(io, `${say('done.language-added', { code })}\n${count > 0 ? `${say('done.languages-assigned', { count, code })}\n` : ''}`);
      }),
    );
}

function addAssign(command: Command, session: Session): void {
  const { say, io } = session;
  command
    .requiredOption('--to <code>', say('languages.to'))
    .option('--kind <kind>', say('languages.kind'))
    .action(({ to, kind }: { readonly to: string; readonly kind?: string }) =>
      withSite(session, 'write', async (site) => {
        const count = await assignLanguage(site, to, kind === undefined ? kinds : [kindNamed(kind)]);
        print(io, `${say('done.languages-assigned', { count, code: to })}\n`);
      }),
    );
}

function addLink(command: Command, session: Session): void {
  const { say, io } = session;
  command
    .option('--kind <kind>', say('languages.kind-of-terms'))
    .action((first: string, others: string[], given: { readonly kind?: string }, self: Command) =>
      withSite(session, 'write', async (site) => {
        const caller = await actingCaller(site, session, userOf(self));
        if (!caller.settings.contentLanguages) throw new CliError('no-languages');
        const records: { id: number; kind: Kind }[] = [];
        for (const id of [first, ...others].map(idIn))
          records.push({ id, kind: given.kind === undefined ? await kindOfPost(site.db, id) : kindNamed(given.kind) });
        const [source, ...translations] = records;
        const alike = records.filter(({ kind }) => kind === source!.kind);
        await requireLinkable(
          site,
          caller,
          source!.kind,
          alike.map(({ id }) => id),
        );
        for (const { id, kind: declared } of translations) {
          const reference = String(id);
          const kind = onSite(declared, caller.settings);
          const values = await acceptParams(site, caller, kind.fields, { translation_of: source!.id }, 'change');
          if (kind.is === 'term') {
            if (!mayManageTerms(caller, kind)) throw new CliError('not-found', { reference });
            await changeTerm(site, caller, kind, id, values);
          } else {
            if ((await mayChange(lookUpOnce(site.db), caller, kind, id)) !== true) throw new CliError('not-found', { reference });
            await changePost(site, caller, kind, id, values);
          }
        }
        print(io, `${say('done.languages-linked', { ids: [first, ...others].join(', ') })}\n`);
      }),
    );
}

const kindNamed = (name: string): Kind => {
  const known = chosen(
    'kind',
    name,
    kinds.map((kind) => kind.name),
  );
  return kinds.find((kind) => kind.name === known)!;
};

async function kindOfPost(db: Parameters<typeof findPost>[0], id: number): Promise<Kind> {
  const post = await findPost(db, id);
  const kind = post && postKindOfType(post.post_type);
  if (!kind) throw new CliError('not-found', { reference: String(id) });
  return kind;
}

function idIn(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new CliError('not-found', { reference: text });
  return Number(text);
}

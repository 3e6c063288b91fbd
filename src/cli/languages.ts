import type { Command } from 'commander';
import { ApiError } from '../errors.ts';
import { kindOnSite } from '../kinds/custom-fields.ts';
import { kinds, postKindOfType } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Caller } from '../records/caller.ts';
import { acceptParams } from '../records/input.ts';
import { postsOfRecords } from '../records/occurrences.ts';
import { mayChange } from '../records/posts.ts';
import { addSiteLanguage, assignLanguage, countLanguages, requireLinkable } from '../records/site-languages.ts';
import { changeTerm } from '../records/terms.ts';
import { mayManageTerms } from '../records/visibility.ts';
import { changePost } from '../records/writes/post-writes.ts';
import type { Site } from '../site.ts';
import { lookUpOnce } from '../storage/engine/look-up-once.ts';
import { findPost } from '../storage/rows/posts.ts';
import { type RecordWrite, resolveId } from './content-actions.ts';
import { CliError } from './io.ts';
import { actingAsUser, choiceOf, outputShape, userOf, withExamples, withOutputOptions } from './options.ts';
import { formatList, print } from './print.ts';
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
  withOutputOptions(command, say).action((options: Options) =>
    withSite(session, 'read', async (site) => {
      const items = (await countLanguages(site)).map(({ language, isDefault, counts }) => ({
        code: language?.code ?? null,
        name: language?.name ?? say('languages.none'),
        locale: language?.locale ?? null,
        default: isDefault,
        ...counts,
      }));
      print(io, formatList(items, outputShape(options, COLUMNS), io.isTerminal));
    }),
  );
}

function addAdd(command: Command, session: Session): void {
  const { say, io } = session;
  command
    .option('--locale <locale>', say('languages.locale'))
    .option('--name <text>', say('languages.name'))
    .option('--default', say('languages.default'))
    .action((code: string, options: { readonly locale?: string; readonly name?: string; readonly default?: boolean }) =>
      withSite(session, 'write', async (site) => {
        const count = await addSiteLanguage(site, { code, locale: options.locale, name: options.name, isDefault: options.default });
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
        const count = await assignLanguage(site, to, kind === undefined ? kinds : [kindByName(kind)]);
        print(io, `${say('done.languages-assigned', { count, code: to })}\n`);
      }),
    );
}

function addLink(command: Command, session: Session): void {
  const { say, io } = session;
  actingAsUser(command)
    .option('--kind <kind>', say('languages.kind-of-terms'))
    .action((first: string, furtherIds: string[], options: { readonly kind?: string }, self: Command) =>
      withSite(session, 'write', async (site) => {
        const caller = await actingCaller(site, session, userOf(self));
        if (!caller.settings.contentLanguages) throw new CliError('no-languages');
        const ids = await postsNamed(site, caller, [first, ...furtherIds].map(parseId), options.kind);
        const [source, ...translations] = ids;
        if (source === undefined || translations.length === 0) throw new CliError('link-to-itself', { id: first });
        const kind = await commonKind(site, ids, options.kind);
        await requireLinkable(site, caller, kind, ids);
        for (const id of translations) await linkTranslation({ site, caller, kind: kindOnSite(kind, caller.settings) }, source, id);
        print(io, `${say('done.languages-linked', { ids: ids.join(', ') })}\n`);
      }),
    );
}

/** Returns the ids of the records to link, each once. Lists show events by the ids of their dates. */
async function postsNamed(site: Site, caller: Caller, ids: readonly number[], kind: string | undefined): Promise<number[]> {
  const isTerm = kind !== undefined && kindByName(kind).is === 'term';
  const dates = isTerm ? new Map<number, number>() : await postsOfRecords(site.db, caller, ids);
  return [...new Set(ids.map((id) => dates.get(id) ?? id))];
}

/**
 * Returns the common kind of some records: the kind of the posts, or the named one.
 *
 * @throws CliError `not-found`, `link-of-two-kinds`, `wrong-choice`
 */
async function commonKind(site: Site, ids: readonly number[], kindName: string | undefined): Promise<Kind> {
  if (kindName !== undefined) {
    const kind = kindByName(kindName);
    if (kind.is === 'term') for (const id of ids) await resolveId(site, kind, String(id));
    return kind;
  }
  const [first, ...rest] = await Promise.all(ids.map(async (id) => ({ id, kind: await kindOfPost(site.db, id) })));
  const mismatch = rest.find(({ kind }) => kind !== first!.kind);
  if (mismatch)
    throw new CliError('link-of-two-kinds', { id: mismatch.id, kind: mismatch.kind.name, other: first!.id, own: first!.kind.name });
  return first!.kind;
}

/** Makes a record a translation of another one. Throws CliError `not-found`, `link-refused`, ApiError. */
async function linkTranslation({ site, caller, kind }: RecordWrite, source: number, id: number): Promise<void> {
  try {
    const values = await acceptParams(site, caller, kind.fields, { translation_of: source }, 'change');
    if (kind.is === 'term') {
      if (!mayManageTerms(caller, kind)) throw new CliError('not-found', { reference: String(id) });
      await changeTerm(site, caller, kind, id, values);
    } else {
      if ((await mayChange(lookUpOnce(site.db), caller, kind, id)) !== true) throw new CliError('not-found', { reference: String(id) });
      await changePost(site, caller, kind, id, values);
    }
  } catch (error) {
    // The error names a parameter that the user has not typed.
    if (error instanceof ApiError && error.details.faults) throw new CliError('link-refused', { id, source });
    throw error;
  }
}

const kindByName = (name: string): Kind => {
  const validName = choiceOf(
    'kind',
    name,
    kinds.map((kind) => kind.name),
  );
  return kinds.find((kind) => kind.name === validName)!;
};

async function kindOfPost(db: Parameters<typeof findPost>[0], id: number): Promise<Kind> {
  const post = await findPost(db, id);
  const kind = post && postKindOfType(post.post_type);
  if (!kind) throw new CliError('not-found', { reference: String(id) });
  return kind;
}

function parseId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new CliError('not-found', { reference: text });
  return Number(text);
}

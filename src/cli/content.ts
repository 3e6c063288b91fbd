import type { Command } from 'commander';
import { hasTrash } from '../config/config.ts';
import { truthyFlag } from '../kinds/grammars/flags.ts';
import { kinds } from '../kinds/index.ts';
import type { Kind, PostKind } from '../kinds/kind.ts';
import { withLanguages } from '../kinds/language-fields.ts';
import type { Caller } from '../records/caller.ts';
import { shorten } from '../records/explanation.ts';
import { hasLostParent, LOST_PARENT } from '../records/lost-parent.ts';
import { mayTrash, readPost } from '../records/posts.ts';
import { readTerm } from '../records/terms.ts';
import { unknownFields } from '../records/unknown-fields.ts';
import { unknownTerms } from '../records/unknown-terms.ts';
import { versionTag } from '../records/versions.ts';
import { restorePost } from '../records/writes/post-writes.ts';
import { unknownFieldSentence, unknownTermSentence } from '../refusals.ts';
import { lookUpOnce } from '../storage/engine/look-up-once.ts';
import { languageOfCode } from '../wordpress/content-languages.ts';
import {
  change,
  create,
  ifMatchPreconditions,
  listAll,
  listPage,
  remove,
  requireAllowed,
  resolveId,
  resolveIdInTrash,
  upsertOf,
} from './content-actions.ts';
import {
  addParams,
  fieldTexts,
  filterTexts,
  givenValues,
  inContentLanguage,
  type Options,
  type Params,
  placeholder,
  withLanguageFlags,
} from './content-flags.ts';
import { withEach } from './each-record.ts';
import { examplesOf, type Verb } from './examples.ts';
import { CliError, EXIT_CODE } from './io.ts';
import { actingAsUser, languageOf, outputShape, userOf, withExamples, withOutputOptions } from './options.ts';
import { formatItem, formatList, type Item, type OutputShape, oneLine, print } from './print.ts';
import { actingCaller, type Session, withSite } from './session.ts';

/** Columns of a table of records. */
const COLUMNS: Readonly<Record<Kind['name'], readonly string[]>> = {
  event: ['id', 'title', 'start_date', 'end_date', 'status'],
  venue: ['id', 'venue', 'address', 'city', 'status'],
  organizer: ['id', 'organizer', 'email', 'status'],
  category: ['id', 'name', 'slug', 'parent', 'count'],
  tag: ['id', 'name', 'slug', 'count'],
};

/**
 * Adds `list`, `get`, `create`, `update` and `delete` for each kind that `isRequested` accepts; their flags are the
 * kind's filters and fields. Other kinds get only their name.
 */
export function addContentCommands(program: Command, session: Session, isRequested: (name: string) => boolean): void {
  for (const kind of kinds) {
    const command = addKind(program, session, kind);
    if (isRequested(kind.name)) addVerbs(command, session, kind);
  }
}

/** The commands of one kind. `verb` adds a command with its description and examples. */
interface KindCommands {
  readonly session: Session;
  readonly kind: Kind;
  readonly verb: (name: Verb, args?: string) => Command;
  /** Placeholder for a record on the command line. */
  readonly recordPlaceholder: '<id-or-slug>' | '<id-slug-or-name>';
}

const kindPlaceholders = ({ say }: Session, { name }: Kind) => ({ one: say(`nouns.${name}.one`), many: say(`nouns.${name}.many`) });

const addKind = (program: Command, session: Session, kind: Kind): Command =>
  actingAsUser(program.command(kind.name))
    .helpCommand(false)
    .description(session.say('content.group', kindPlaceholders(session, kind)));

function addVerbs(command: Command, session: Session, kind: Kind): void {
  const { say } = session;
  const placeholders = kindPlaceholders(session, kind);
  const verb = (name: Verb, args = '') =>
    withExamples(
      command.command(`${name}${args}`).description(say([`content.${name}-${kind.is}`, `content.${name}`], placeholders)),
      say,
      examplesOf(kind.name, name),
    );
  const recordPlaceholder = kind.is === 'post' ? '<id-or-slug>' : '<id-slug-or-name>';
  for (const add of [addList, addGet, addCreate, addUpdate, addDelete]) add({ session, kind, verb, recordPlaceholder });
  if (kind.is === 'post') addRestore({ session, kind, verb, recordPlaceholder }, kind);
}

function addList({ session, kind, verb }: KindCommands): void {
  const { say, io } = session;
  const list = addParams(verb('list'), session, kind, kind.filters, filterTexts).option(
    '--content-language <code>',
    say('content.only-language'),
  );
  withOutputOptions(list, say).action((options: Options, command: Command) =>
    withSite(session, 'read', async (site) => {
      const shape: OutputShape = { ...outputShape(options, COLUMNS[kind.name]), html: true, optional: Object.keys(kind.fields) };
      const caller = inContentLanguage(await actingCaller(site, session, userOf(command)), options);
      if (shape.format === 'count') {
        const { total } = await listPage(site, caller, kind, { per_page: 1, ...givenValues(caller, kind, kind.filters, options) });
        print(io, `${total}\n`);
      } else
        print(io, formatList(await listAll(site, caller, kind, givenValues(caller, kind, kind.filters, options)), shape, io.isTerminal));
    }),
  );
}

function addGet({ session, kind, verb, recordPlaceholder }: KindCommands): void {
  const { say, io } = session;
  withOutputOptions(verb('get', ` ${recordPlaceholder}`).option('--etag', say('options.etag')), say).action(
    (reference: string, options: Options, command: Command) =>
      withSite(session, 'read', async (site) => {
        const shape: OutputShape = { ...outputShape(options, COLUMNS[kind.name]), html: true, optional: Object.keys(kind.fields) };
        const caller = await actingCaller(site, session, userOf(command));
        const id = await resolveId(site, kind, reference);
        const { record, version = '' } =
          kind.is === 'post' ? await readPost(site, caller, kind, id, { context: 'edit' }) : await readTerm(site, caller, kind, id);
        print(io, options.etag ? `${versionTag(version)}\n` : formatItem(record, shape, io.isTerminal));
      }),
  );
}

function addCreate({ session, kind, verb }: KindCommands): void {
  const command = withLanguageFlags(addParams(verb('create'), session, kind, kind.fields, fieldTexts), session);
  for (const [name, param] of Object.entries(upsertOf(kind)))
    command.option(`--${name} <${placeholder(param)}>`, session.say(filterTexts(kind, name)));
  command.option('--porcelain', session.say('options.porcelain')).action((options: Options, command: Command) =>
    withSite(session, 'write', async (site) => {
      const caller = await actingCaller(site, session, userOf(command));
      const raw = givenValues(caller, kind, { ...kind.fields, ...upsertOf(kind) }, options);
      warnOfUnknownNames(session, kind, raw);
      warnOfMisusedLanguage(session, { caller, kind }, raw, languageOf(command));
      const { id, isNew, record } = await create({ site, caller, kind }, raw);
      warnOfUnknownTerms(session, kind, raw, record);
      printDone(session, options, isNew ? 'created' : 'updated', id);
    }),
  );
}

function addUpdate({ session, kind, verb, recordPlaceholder }: KindCommands): void {
  const { say } = session;
  withLanguageFlags(addParams(verb('update', ` ${severalPlaceholder(recordPlaceholder)}`), session, kind, kind.fields, fieldTexts), session)
    .option('--if-match <tag>', say('options.if-match'))
    .option('--porcelain', say('options.porcelain'))
    .action((references: string[], options: Options, command: Command) =>
      withSite(session, 'write', async (site) => {
        const preconditions = ifMatchPreconditions(options, references);
        const caller = await actingCaller(site, session, userOf(command));
        const raw = givenValues(caller, kind, kind.fields, options);
        if (Object.keys(raw).length === 0) throw new CliError('nothing-named', {}, EXIT_CODE.usage);
        warnOfUnknownNames(session, kind, raw);
        await withEach(references, async (reference) => {
          const id = await resolveId(site, kind, reference);
          const record = await change({ site, caller, kind }, id, raw, preconditions);
          warnOfUnknownTerms(session, kind, raw, record);
          if (hasLostParent(raw.parent, record)) warn(session, say(`reasons:${LOST_PARENT}`));
          printDone(session, options, 'updated', id);
        });
      }),
    );
}

function addDelete({ session, kind, verb, recordPlaceholder }: KindCommands): void {
  const { say } = session;
  const command = verb('delete', ` ${severalPlaceholder(recordPlaceholder)}`);
  if (kind.is === 'post') command.option('--force', say('content.force'));
  command
    .option('--if-match <tag>', say('options.if-match'))
    .option('--porcelain', say('options.porcelain'))
    .action((references: string[], options: Options, command: Command) =>
      withSite(session, 'write', async (site) => {
        const preconditions = ifMatchPreconditions(options, references);
        const caller = await actingCaller(site, session, userOf(command));
        await withEach(references, async (reference) => {
          const id = await resolveId(site, kind, reference);
          await remove({ site, caller, kind }, id, { preconditions, force: options.force === true });
          const isTrashed = kind.is === 'post' && !options.force && hasTrash(site.config);
          printDone(session, options, isTrashed ? 'trashed' : 'deleted', id);
        });
      }),
    );
}

function addRestore({ session, verb, recordPlaceholder }: KindCommands, kind: PostKind): void {
  verb('restore', ` ${severalPlaceholder(recordPlaceholder)}`)
    .option('--porcelain', session.say('options.porcelain'))
    .action((references: string[], options: Options, command: Command) =>
      withSite(session, 'write', async (site) => {
        const caller = await actingCaller(site, session, userOf(command));
        await withEach(references, async (reference) => {
          const id = await resolveIdInTrash(site, kind, reference);
          requireAllowed(await mayTrash(lookUpOnce(site.db), caller, kind, id));
          await restorePost(site, caller, kind, id);
          printDone(session, options, 'restored', id);
        });
      }),
    );
}

/** Returns the placeholder for one or more records. */
const severalPlaceholder = (recordPlaceholder: KindCommands['recordPlaceholder']): string => recordPlaceholder.replace('>', '...>');

/** Prints what was done with a record; with `--porcelain`, only its id. */
const printDone = ({ io, say }: Session, { porcelain }: Options, key: string, id: number): void =>
  print(io, porcelain ? `${id}\n` : `${say(`done.${key}`, { id })}\n`);

/**
 * Warns of unknown names in new records: `--venue='{"venue":"Barn","citty":"Asti"}'`. Unknown flags are rejected
 * anyway.
 */
function warnOfUnknownNames({ io, say }: Session, kind: Kind, raw: Options): void {
  for (const field of unknownFields(kind, { ...kind.fields, ...upsertOf(kind), ...FIELDS_WITH_OWN_FLAGS }, raw))
    warn({ io, say }, unknownFieldSentence(say, { ...field, name: shorten(field.name) }));
}

/** Warns of terms that do not exist and were therefore left out. */
function warnOfUnknownTerms({ io, say }: Pick<Session, 'io' | 'say'>, kind: Kind, raw: Options, record: Item): void {
  for (const term of unknownTerms(kind, raw, record)) warn({ io, say }, unknownTermSentence(say, term));
}

const warn = ({ io, say }: Pick<Session, 'io' | 'say'>, message: string): void => io.err(`${oneLine(say('warning', { message }))}\n`);

/** Warns if `--language` was probably meant as the language of a new record, which gets the site's default language. */
function warnOfMisusedLanguage(
  { io, say }: Session,
  { caller: { settings }, kind }: { readonly caller: Caller; readonly kind: Kind },
  { language: contentLanguage }: Options,
  code: string | undefined,
): void {
  const { contentLanguages: languages } = settings;
  if (!languages || contentLanguage !== undefined || withLanguages(kind, languages) === kind) return;
  if (code === undefined || code === languages.defaultCode || !languageOfCode(languages, code)) return;
  warn({ io, say }, say('content.not-in-language', { code, own: languages.defaultCode }));
}

/** Fields that only some sites have; they have flags of their own. */
const FIELDS_WITH_OWN_FLAGS: Params = Object.fromEntries(
  ['custom_fields', 'language', 'translations', 'translation_of'].map((name) => [name, { grammar: truthyFlag }]),
);

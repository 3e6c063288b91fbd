import type { Command } from 'commander';
import { fail } from '../errors.ts';
import { onSite, takesCustomFields } from '../kinds/custom-fields.ts';
import { flagAnything } from '../kinds/grammar-flags.ts';
import { kinds } from '../kinds/index.ts';
import type { Kind, PostKind, TermKind } from '../kinds/kind.ts';
import { withLanguages } from '../kinds/language-fields.ts';
import type { Param } from '../kinds/param.ts';
import { UPSERT } from '../kinds/post-fields.ts';
import type { Caller } from '../records/caller.ts';
import { explaining, shortened } from '../records/explanation.ts';
import { acceptParams } from '../records/input.ts';
import { changePost, createPost, deletePost, restorePost, trashPost, upsertPost } from '../records/post-writes.ts';
import { type Listing, listPosts, mayChange, mayCreate, mayTrash, postIdOfSlug, readPost } from '../records/posts.ts';
import { discardingImages } from '../records/prepared-images.ts';
import { termLookUp } from '../records/references.ts';
import { changeTerm, createTerm, deleteTerm, listTerms, readTerm } from '../records/terms.ts';
import { unknownFields } from '../records/unknown-fields.ts';
import { lockPostVersion, lockTermVersion, onlyIf, type Preconditions, tagsIn, versionTag } from '../records/versions.ts';
import { mayManageTerms } from '../records/visibility.ts';
import { unknownFieldSentence } from '../refusals.ts';
import type { Site } from '../site.ts';
import { lookUpOnce } from '../storage/engine/look-up-once.ts';
import { languageOfCode } from '../wordpress/content-languages.ts';
import { examplesOf, type Verb } from './examples.ts';
import { CliError, EXIT } from './io.ts';
import { readableDate, shapeOf, userOf, withExamples, withShape } from './options.ts';
import { type Item, oneLine, print, printedItem, printedList } from './print.ts';
import { actingCaller, type Session, withSite } from './session.ts';

/** Members that a table of records shows. */
const COLUMNS: Readonly<Record<Kind['name'], readonly string[]>> = {
  event: ['id', 'title', 'start_date', 'end_date', 'status'],
  venue: ['id', 'venue', 'address', 'city', 'status'],
  organizer: ['id', 'organizer', 'email', 'status'],
  category: ['id', 'name', 'slug', 'parent', 'count'],
  tag: ['id', 'name', 'slug', 'count'],
};

/**
 * Adds `list`, `get`, `create`, `update` and `delete` for each kind of record; their flags are the kind's own filters
 * and fields.
 */
export function addContentCommands(program: Command, session: Session): void {
  for (const kind of kinds) addKind(program, session, kind);
}

/**
 * Arguments with the flags of yes and no written out as `--featured=true` and `--featured=false` (`--no-featured`), so
 * that they don't take the word after them unless it is a yes or no, as in wp-cli. Flags may be written with hyphens:
 * `--start-date`.
 */
export function spellOutFlags(args: readonly string[]): string[] {
  const kind = kinds.find(({ name }) => name === commandIn(args));
  if (!kind) return [...args];
  const params = Object.entries<Param>({ ...kind.filters, ...kind.fields });
  const flags = new Set(params.flatMap(([name, param]) => (isFlag(param) ? [name] : [])));
  const names = new Set(params.map(([name]) => name));
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  return args.map((given, place) => {
    const arg = place < end ? withUnderscores(given, names) : given;
    const [, no, name = ''] = /^--(no-)?(\w+)$/.exec(arg) ?? [];
    const answered = no === undefined && /^(yes|no|true|false|on|off)$/i.test(args[place + 1] ?? '');
    return place < end && flags.has(name) && !answered ? `--${name}=${no === undefined}` : arg;
  });
}

/** `--start_date=…` for `--start-date=…`, where that is a flag. */
function withUnderscores(arg: string, names: ReadonlySet<string>): string {
  const [, no = '', name = ''] = /^--(no-)?([a-z][a-z-]*)/.exec(arg) ?? [];
  const known = name.replaceAll('-', '_');
  const start = `--${no}${name}`;
  return names.has(known) && ['', '='].includes(arg.charAt(start.length)) ? `--${no}${known}${arg.slice(start.length)}` : arg;
}

/** Options of the whole program, which may stand before the command, each with a value behind it. */
const BEFORE_COMMAND = ['--user', '--language'];

/** The command that the arguments begin with: the first that is neither an option nor the value of one. */
const commandIn = (args: readonly string[]): string | undefined =>
  args.find((arg, place) => !arg.startsWith('-') && !BEFORE_COMMAND.includes(args[place - 1] ?? ''));

type Options = Readonly<Record<string, unknown>>;
type Params = Readonly<Record<string, Param>>;

/** The commands of one kind. `verb`: adds one of them, with its description and examples. */
interface Group {
  readonly session: Session;
  readonly kind: Kind;
  readonly verb: (name: Verb, more?: string) => Command;
  /** How one record is named on the command line. */
  readonly reference: '<id-or-slug>' | '<id-slug-or-name>';
}

function addKind(program: Command, session: Session, kind: Kind): void {
  const { say } = session;
  const words = { one: say(`nouns.${kind.name}.one`), many: say(`nouns.${kind.name}.many`) };
  const command = program.command(kind.name).helpCommand(false).description(say('content.group', words));
  const verb = (name: Verb, more = '') =>
    withExamples(
      command.command(`${name}${more}`).description(say([`content.${name}-${kind.is}`, `content.${name}`], words)),
      say,
      examplesOf(kind.name, name),
    );
  const reference = kind.is === 'post' ? '<id-or-slug>' : '<id-slug-or-name>';
  for (const add of [addList, addGet, addCreate, addUpdate, addDelete]) add({ session, kind, verb, reference });
  if (kind.is === 'post') addRestore({ session, kind, verb, reference }, kind);
}

function addList({ session, kind, verb }: Group): void {
  const { say, io } = session;
  const list = addParams(verb('list'), session, kind, kind.filters, filterTexts).option(
    '--content-language <code>',
    say('content.only-language'),
  );
  withShape(list, say).action((given: Options, command: Command) =>
    withSite(session, 'read', async (site) => {
      const shape = shapeOf(given, COLUMNS[kind.name]);
      const caller = inContentLanguage(await actingCaller(site, session, userOf(command)), given);
      if (shape.format === 'count') {
        const { total } = await listPage(site, caller, kind, { per_page: 1, ...rawOf(caller, kind, kind.filters, given) });
        print(io, `${total}\n`);
      } else print(io, printedList(await listAll(site, caller, kind, rawOf(caller, kind, kind.filters, given)), shape, io.terminal));
    }),
  );
}

function addGet({ session, kind, verb, reference: refer }: Group): void {
  const { say, io } = session;
  withShape(verb('get', ` ${refer}`).option('--etag', say('options.etag')), say).action(
    (reference: string, given: Options, command: Command) =>
      withSite(session, 'read', async (site) => {
        const shape = shapeOf(given, COLUMNS[kind.name]);
        const caller = await actingCaller(site, session, userOf(command));
        const id = await idOf(site, kind, reference);
        const { record, version = '' } =
          kind.is === 'post' ? await readPost(site, caller, kind, id, { context: 'edit' }) : await readTerm(site, caller, kind, id);
        print(io, given.etag ? `${versionTag(version)}\n` : printedItem(record, shape, io.terminal));
      }),
  );
}

function addCreate({ session, kind, verb }: Group): void {
  const command = withLanguageFlags(addParams(verb('create'), session, kind, kind.fields, fieldTexts), session);
  for (const [name, param] of Object.entries(upsertOf(kind)))
    command.option(`--${name} <${placeholder(param)}>`, session.say(filterTexts(kind, name)));
  command.option('--porcelain', session.say('options.porcelain')).action((given: Options, command: Command) =>
    withSite(session, 'write', async (site) => {
      const caller = await actingCaller(site, session, userOf(command));
      const raw = rawOf(caller, kind, { ...kind.fields, ...upsertOf(kind) }, given);
      warnOfUnknown(session, kind, raw);
      const { id, isNew } = await create({ site, caller, kind }, raw);
      printDone(session, given, isNew ? 'created' : 'updated', id);
    }),
  );
}

function addUpdate({ session, kind, verb, reference: refer }: Group): void {
  const { say } = session;
  withLanguageFlags(addParams(verb('update', ` ${several(refer)}`), session, kind, kind.fields, fieldTexts), session)
    .option('--if-match <tag>', say('options.if-match'))
    .option('--porcelain', say('options.porcelain'))
    .action((references: string[], given: Options, command: Command) =>
      withSite(session, 'write', async (site) => {
        const only = ifMatchOf(given, references);
        const caller = await actingCaller(site, session, userOf(command));
        const raw = rawOf(caller, kind, kind.fields, given);
        if (Object.keys(raw).length === 0) throw new CliError('nothing-named', {}, EXIT.usage);
        warnOfUnknown(session, kind, raw);
        for (const reference of references) {
          const id = await idOf(site, kind, reference);
          await change({ site, caller, kind }, id, raw, only);
          printDone(session, given, 'updated', id);
        }
      }),
    );
}

function addDelete({ session, kind, verb, reference: refer }: Group): void {
  const { say } = session;
  const command = verb('delete', ` ${several(refer)}`);
  if (kind.is === 'post') command.option('--force', say('content.force'));
  command
    .option('--if-match <tag>', say('options.if-match'))
    .option('--porcelain', say('options.porcelain'))
    .action((references: string[], given: Options, command: Command) =>
      withSite(session, 'write', async (site) => {
        const only = ifMatchOf(given, references);
        const caller = await actingCaller(site, session, userOf(command));
        for (const reference of references) {
          const id = await idOf(site, kind, reference);
          await remove({ site, caller, kind }, id, only, given.force === true);
          const trashed = kind.is === 'post' && !given.force && site.config.emptyTrashDays > 0;
          printDone(session, given, trashed ? 'trashed' : 'deleted', id);
        }
      }),
    );
}

function addRestore({ session, verb, reference: refer }: Group, kind: PostKind): void {
  verb('restore', ` ${several(refer)}`)
    .option('--porcelain', session.say('options.porcelain'))
    .action((references: string[], given: Options, command: Command) =>
      withSite(session, 'write', async (site) => {
        const caller = await actingCaller(site, session, userOf(command));
        for (const reference of references) {
          const id = await idInTrash(site, kind, reference);
          allow(await mayTrash(lookUpOnce(site.db), caller, kind, id));
          await restorePost(site, caller, kind, id);
          printDone(session, given, 'restored', id);
        }
      }),
    );
}

/** One or more of them. */
const several = (refer: Group['reference']): string => refer.replace('>', '...>');

/** Says what was done with a record; with `--porcelain`, its id alone. */
const printDone = ({ io, say }: Session, { porcelain }: Options, key: string, id: number): void =>
  print(io, porcelain ? `${id}\n` : `${say(`done.${key}`, { id })}\n`);

/**
 * Warns of names in new records that no field has: `--venue='{"venue":"Barn","citty":"Asti"}'`. Flags that don't exist
 * are refused anyway.
 */
function warnOfUnknown({ io, say }: Session, kind: Kind, raw: Options): void {
  for (const field of unknownFields(kind, { ...kind.fields, ...KNOWN_ELSEWHERE }, raw))
    io.err(`${oneLine(say('warning', { message: unknownFieldSentence(say, { ...field, name: shortened(field.name) }) }))}\n`);
}

/** Fields that only some sites have, with flags of their own. */
const KNOWN_ELSEWHERE: Params = Object.fromEntries(
  ['custom_fields', 'language', 'translations', 'translation_of'].map((name) => [name, { grammar: flagAnything }]),
);

// ------------------------------------------------------------------------------------------------- flags
const isFlag = ({ grammar }: Param): boolean => {
  const { type } = grammar.json;
  return type === 'boolean' || (Array.isArray(type) && type.includes('boolean')) || grammar === flagAnything;
};

/** Whether a value may be written as JSON: lists and objects, such as a new venue of an event. */
const isCollection = ({ grammar }: Param): boolean => {
  const { type } = grammar.json;
  return type === 'array' || type === undefined;
};

function addParams(command: Command, session: Session, kind: Kind, params: Params, texts: (kind: Kind, name: string) => string[]): Command {
  const { say } = session;
  for (const [name, param] of Object.entries(params)) {
    const flag = isFlag(param) ? `--${name} [yes|no]` : `--${name} <${placeholder(param)}>`;
    const required = param.required && params === kind.fields && command.name() === 'create' ? ` ${say('options.required')}` : '';
    command.option(flag, say(texts(kind, name)) + required);
  }
  return withCustomFields(command, session, kind);
}

function placeholder({ grammar }: Param): string {
  const type = [grammar.json.type ?? 'value'].flat();
  return String(type.includes('integer') && type.length === 1 ? 'number' : type[0])
    .replace('string', 'text')
    .replace('array', 'list');
}

const filterTexts = (kind: Kind, name: string): string[] => [`params:${kind.name}.${name}`, `params:common.${name}`];
const fieldTexts = (kind: Kind, name: string): string[] => [
  `fields:${kind.name}.written.${name}`,
  `fields:common.written.${name}`,
  `fields:${kind.name}.${name}`,
  `fields:common.${name}`,
];

/** What was given of these parameters. Throws CliError `json-invalid`, `no-custom-fields`, `custom-field-form`. */
function rawOf(caller: Caller, kind: Kind, params: Params, given: Options): Record<string, unknown> {
  const named = Object.entries(params).filter(([name]) => given[name] !== undefined);
  const { custom_fields: custom } = given;
  if (custom !== undefined && onSiteOf(caller, kind) === kind) throw new CliError('no-custom-fields', {}, EXIT.usage);
  return {
    ...Object.fromEntries(named.map(([name, param]) => [name, readableDate(caller, param, parsed(name, param, given[name]))])),
    ...(Array.isArray(custom) ? { custom_fields: Object.fromEntries(custom.map(memberIn)) } : {}),
    ...languagesIn(caller, kind, given),
  };
}

/**
 * What was given of the language of a record and its translations. `--language` is the language of the command's own
 * texts.
 */
function languagesIn({ settings }: Caller, kind: Kind, { contentLanguage, translations, translationOf }: Options): Options {
  const named = Object.entries({ language: contentLanguage, translations, translation_of: translationOf }).filter(
    ([, value]) => value !== undefined,
  );
  if (named.length > 0 && withLanguages(kind, settings.contentLanguages) === kind) throw new CliError('no-languages', {}, EXIT.usage);
  return Object.fromEntries(named.map(([name, value]) => [name, name === 'translations' ? json(name, String(value)) : value]));
}

/** Who lists the records of one language alone. Throws CliError `no-languages`, `language-unknown`. */
function inContentLanguage(caller: Caller, { contentLanguage: code }: Options): Caller {
  if (typeof code !== 'string') return caller;
  const { contentLanguages: languages } = caller.settings;
  if (!languages) throw new CliError('no-languages', {}, EXIT.usage);
  if (!languageOfCode(languages, code)) throw new CliError('language-unknown', { code }, EXIT.usage);
  return { ...caller, content: { code, chosen: true } };
}

const withLanguageFlags = (command: Command, { say }: Session): Command =>
  command
    .option('--content-language <code>', say('content.content-language'))
    .option('--translations <json>', say('content.translations'))
    .option('--translation-of <id>', say('content.translation-of'));

/** A kind as the site of this caller has it. */
const onSiteOf = <K extends Kind>({ settings }: Caller, kind: K): K => onSite(kind, settings);

/** Name and value of `accessibility=yes`. Throws CliError `custom-field-form`. */
function memberIn(text: unknown): [string, string] {
  const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(String(text)) ?? [];
  if (name === '') throw new CliError('custom-field-form', { text: String(text) }, EXIT.usage);
  return [name, value];
}

/** Adds the flag for the fields that a site defines; it may be given several times. */
const withCustomFields = (command: Command, { say }: Session, kind: Kind): Command =>
  takesCustomFields(kind)
    ? command.option('--custom_fields <name=value>', say('content.custom_fields'), (one: string, others: string[] = []) => [...others, one])
    : command;

function parsed(name: string, param: Param, given: unknown): unknown {
  return typeof given === 'string' && isCollection(param) && /^\s*[[{]/.test(given) ? json(name, given) : given;
}

/** Throws CliError `json-invalid`. */
function json(name: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new CliError('json-invalid', { name }, EXIT.usage);
  }
}

// ------------------------------------------------------------------------------------------------- verbs
/** One page of a list. Whoever looks at terms here wants to see those that are not in use, too. */
async function listPage(site: Site, caller: Caller, declared: Kind, raw: Options): Promise<Listing> {
  const kind = onSiteOf(caller, declared);
  if (kind.is === 'post') return listPosts(site, caller, kind, await acceptParams(site, caller, kind.filters, raw, 'read'));
  const whole = 'hide_empty' in raw || !('hide_empty' in kind.filters) ? raw : { ...raw, hide_empty: false };
  return listTerms(site, caller, kind, await acceptParams(site, caller, kind.filters, whole, 'read'));
}

/** The page that is asked for; without one, the whole list. */
async function listAll(site: Site, caller: Caller, kind: Kind, raw: Options): Promise<Item[]> {
  if ('page' in raw || 'per_page' in raw) return [...(await listPage(site, caller, kind, raw)).records];
  const items: Item[] = [];
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const listing = await listPage(site, caller, kind, { ...raw, page, per_page: site.config.maxPerPage });
    items.push(...listing.records);
    pages = listing.pages;
  }
  return items;
}

/** Who writes what kind of record. */
interface RecordWrite {
  readonly site: Site;
  readonly caller: Caller;
  readonly kind: Kind;
}

async function create({ site, caller, kind: declared }: RecordWrite, raw: Options): Promise<{ id: number; isNew: boolean }> {
  const kind = onSiteOf(caller, declared);
  const { upsert: by } = await acceptParams(site, caller, UPSERT, raw, 'create');
  const values = await acceptParams(site, caller, kind.fields, raw, 'create');
  const work = async (): Promise<{ record: Item; isNew?: boolean }> => {
    allow(kind.is === 'post' ? mayCreate(caller, kind) : mayManageTerms(caller, kind));
    if (kind.is === 'term') return createTerm(site, caller, kind, values);
    return by === undefined ? createPost(site, caller, kind, values) : upsertPost(site, caller, kind, { by, values });
  };
  const { record, isNew = true } = await explaining(kind.fields, raw, () => discardingImages(values, work));
  return { id: Number(record.id), isNew };
}

/** What says that a record is to be changed if there is one already. */
const upsertOf = (kind: Kind): Params => (kind.is === 'post' ? UPSERT : {});

async function change(writing: RecordWrite, id: number, raw: Options, only: Preconditions | undefined): Promise<void> {
  const { site, caller } = writing;
  const kind = onSiteOf(caller, writing.kind);
  const values = await acceptParams(site, caller, kind.fields, raw, 'change');
  const work = async () => {
    allow(kind.is === 'post' ? await mayChange(lookUpOnce(site.db), caller, kind, id) : mayManageTerms(caller, kind));
    await unlessChanged(writing, id, only, (inside) =>
      kind.is === 'post' ? changePost(inside, caller, kind, id, values) : changeTerm(inside, caller, kind, id, values),
    );
  };
  await explaining(kind.fields, raw, () => discardingImages(values, work));
}

async function remove(writing: RecordWrite, id: number, only: Preconditions | undefined, force: boolean): Promise<void> {
  const { site, caller, kind } = writing;
  allow(kind.is === 'post' ? await mayTrash(lookUpOnce(site.db), caller, kind, id) : mayManageTerms(caller, kind));
  await unlessChanged<unknown>(writing, id, only, (inside) =>
    kind.is === 'post' ? (force ? deletePost : trashPost)(inside, caller, kind, id) : deleteTerm(inside, caller, kind, id),
  );
}

function unlessChanged<Result>(
  { site, caller, kind }: RecordWrite,
  id: number,
  only: Preconditions | undefined,
  write: (site: Site) => Promise<Result>,
): Promise<Result> {
  const lockVersion = kind.is === 'post' ? lockPostVersion(kind) : lockTermVersion(kind);
  return only ? onlyIf(site, caller, lockVersion, { id, conditions: only }, write) : write(site);
}

/** The condition that `--if-match` names. Throws CliError `one-by-one`. */
function ifMatchOf({ ifMatch }: Options, references: readonly string[]): Preconditions | undefined {
  if (typeof ifMatch !== 'string') return undefined;
  if (references.length > 1) throw new CliError('one-by-one', {}, EXIT.usage);
  return { match: tagsIn(ifMatch) };
}

/** Throws rest_forbidden. */
function allow(allowed: boolean): void {
  if (!allowed) fail('rest_forbidden');
}

/**
 * The record that a reference means: digits are an id, or else a slug; terms go by name, too. Throws CliError
 * `not-found`.
 */
async function idOf(site: Site, kind: Kind, reference: string): Promise<number> {
  const found = kind.is === 'post' ? await postIdOf(site, kind, reference) : await termIdOf(site, kind, reference);
  if (found === undefined) throw new CliError('not-found', { reference });
  return found;
}

/** An id is not looked up: what becomes of it is the verb's to say. */
async function postIdOf(site: Site, kind: PostKind, reference: string): Promise<number | undefined> {
  return /^\d{1,15}$/.test(reference) ? Number(reference) : postIdOfSlug(site, kind, reference);
}

/** The same for a record in the trash, where its slug ends in `__trashed`. Throws CliError `not-found`. */
const idInTrash = async (site: Site, kind: PostKind, reference: string): Promise<number> =>
  (await postIdOf(site, kind, `${reference}__trashed`)) ?? idOf(site, kind, reference);

async function termIdOf({ db }: Site, { name }: TermKind, reference: string): Promise<number | undefined> {
  return (await termLookUp(db, name, [reference])).byToken(reference)?.term_id;
}

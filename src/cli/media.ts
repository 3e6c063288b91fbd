import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { fail, type Verdict } from '../errors.ts';
import { MEDIA_FIELDS, MEDIA_FILTERS } from '../kinds/core/media-params.ts';
import type { Params } from '../kinds/param.ts';
import { codeOf } from '../objects.ts';
import { listMedia, mayDeleteMedia, mayUploadMedia, prepareMedia, readMedia, removeMedia, uploadMedia } from '../records/core/media.ts';
import { acceptParams } from '../records/input.ts';
import { withFileCleanup } from '../records/writes/prepared-images.ts';
import { lookUpOnce } from '../storage/engine/look-up-once.ts';
import { withEach } from './each-record.ts';
import { CliError } from './io.ts';
import { actingAsUser, outputShape, parseId, userOf, withExamples, withOutputOptions } from './options.ts';
import { formatList, type Item, print } from './print.ts';
import { actingCaller, type Session, withSite } from './session.ts';

type Options = Readonly<Record<string, string | undefined>> & { readonly porcelain?: boolean };

const COLUMNS = ['id', 'title', 'source_url', 'mime_type', 'date'];
const MAX_PAGE_SIZE = 100;

/** Adds `media list|upload|delete`. */
export function addMediaCommands(program: Command, session: Session): void {
  const media = actingAsUser(program.command('media')).helpCommand(false).description(session.say('media.group'));
  for (const add of [addList, addUpload, addDelete]) add(media, session);
}

function addList(media: Command, session: Session): void {
  const { say, io } = session;
  const examples = ['fasti media list', 'fasti media list --search=poster --format=json'];
  withOutputOptions(withExamples(media.command('list').description(say('media.list')), say, examples), say)
    .option('--search <text>', say('media.search'))
    .action(({ search, ...options }: Options, command: Command) =>
      withSite(session, 'read', async (site) => {
        const caller = await actingCaller(site, session, userOf(command));
        const items: Item[] = [];
        for (let page = 1, pages = 1; page <= pages; page += 1) {
          const raw = { page, per_page: MAX_PAGE_SIZE, context: 'edit', ...(search === undefined ? {} : { search }) };
          const listing = await listMedia(site, caller, await acceptParams(site, caller, MEDIA_FILTERS, raw, 'read'));
          items.push(...listing.records.map((record) => ({ ...record, title: rawTitle(record) })));
          pages = listing.pages;
        }
        print(io, formatList(items, { ...outputShape(options, COLUMNS), html: true }, io.isTerminal));
      }),
    );
}

function addUpload(media: Command, session: Session): void {
  const { say, io } = session;
  withExamples(media.command('upload <file...>').description(say('media.upload')), say, [
    "fasti media upload poster.jpg --title='Summer concert' --alt='A stage under lanterns'",
    'fasti event update 42 --image=$(fasti media upload poster.jpg --porcelain)',
  ])
    .option('--title <text>', say('media.title'))
    .option('--alt <text>', say('media.alt'))
    .option('--post <id>', say('media.post'))
    .option('--porcelain', say('options.porcelain'))
    .action((files: string[], { title, alt, post, porcelain }: Options, command: Command) =>
      withSite(session, 'write', async (site) => {
        const caller = await actingCaller(site, session, userOf(command));
        const raw = { title, alt_text: alt, post: parseId('--post', post) };
        const params = Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== undefined));
        const values = await acceptParams(site, caller, MEDIA_FIELDS satisfies Params, params, 'create');
        await withEach(files, async (file) => {
          requireAllowed(await mayUploadMedia(lookUpOnce(site.db), caller, values));
          const preparedFile = await prepareMedia(site, caller, { name: basename(file), bytes: await readBytes(file) }, values);
          const id = await withFileCleanup(
            site,
            (trackedSite) => uploadMedia(trackedSite, caller, preparedFile, values),
            preparedFile.undo,
          );
          const { record } = await readMedia(site, caller, id, { context: 'edit' });
          print(io, porcelain ? `${id}\n` : `${say('done.media-created', { id, url: String(record.source_url) })}\n`);
        });
      }),
    );
}

function addDelete(media: Command, session: Session): void {
  const { say, io } = session;
  withExamples(media.command('delete <id...>').description(say('media.delete')), say, ['fasti media delete 77'])
    .option('--porcelain', say('options.porcelain'))
    .action((references: string[], { porcelain }: Options, command: Command) =>
      withSite(session, 'write', async (site) => {
        // If an argument is not an id, it is a mistake, and nothing is deleted.
        for (const reference of references) parseId('id', reference);
        const caller = await actingCaller(site, session, userOf(command));
        await withEach(references, async (reference) => {
          const id = Number(reference);
          requireAllowed(await mayDeleteMedia(lookUpOnce(site.db), caller, { id }));
          await (await removeMedia(site, caller, { id, force: true })).afterCommit();
          print(io, porcelain ? `${id}\n` : `${say('done.deleted', { id })}\n`);
        });
      }),
    );
}

/** Reads a file. Throws CliError `file-unreadable`. */
async function readBytes(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new CliError('file-unreadable', { file, reason: codeOf(error) });
  }
}

/** Returns the title as it was written, since the API shows HTML. */
const rawTitle = ({ title }: Readonly<Record<string, unknown>>): unknown => (title as { readonly raw?: string } | undefined)?.raw;

function requireAllowed(verdict: Verdict): void {
  if (verdict !== true) fail(verdict || 'rest_forbidden');
}

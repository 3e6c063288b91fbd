import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { JSX } from 'preact';
import type { CsvSource } from '../exchange/csv/read.ts';
import { importItems } from '../exchange/import/importer.ts';
import { type PreviewedRecord, previewOf } from '../exchange/import/preview.ts';
import { SourceFault } from '../exchange/items/items.ts';
import type { Report } from '../exchange/items/report.ts';
import { type Source, survey } from '../exchange/items/source.ts';
import { openSource } from '../exchange/sources.ts';
import { membersIn, textIn } from '../forms/form-values.ts';
import { OWN_FILE, OWN_FOLDER } from '../host/files.ts';
import { Checkbox, Select } from '../html/form-fields.tsx';
import { eventFields } from '../kinds/event-fields.ts';
import { deskPage, Nonce } from './layout.tsx';
import { at, type Outcome, type Visit, type Writing } from './visit.ts';

/*
 * Importing a file: it is read, what would become of it is shown, and only then it is taken in.
 */

const PREVIEWED = 5;
/** Files that nobody took in are removed after a day. */
const KEPT_MS = 86_400_000;

/** How a file is to be read. */
interface Wishes {
  readonly dateOrder: 'ymd' | 'dmy' | 'mdy' | undefined;
  readonly status: string | undefined;
  readonly skipBadRows: boolean;
  /** What columns are to be taken for. */
  readonly map: ReadonlyMap<string, string>;
}

/** The form to choose a file. */
export async function importPage(visit: Visit, wrong?: string): Promise<Outcome> {
  const { say } = visit.speech;
  const html = deskPage(visit, {
    title: say('desk:parts.import'),
    part: 'import',
    notice: wrong === undefined ? undefined : { tone: 'wrong', text: wrong },
    children: (
      <form method="post" action={at(visit, '/import')} encType="multipart/form-data" class="narrow">
        <p>{say('desk:import.about')}</p>
        <Nonce nonce={visit.nonce} />
        <div class="field">
          <label for="file">{say('desk:import.file')}</label>
          <input type="file" id="file" name="file" accept=".csv,.ics,.ical,.xml,.wxr,.jsonl" required />
        </div>
        <WishFields visit={visit} wishes={{ dateOrder: undefined, status: undefined, skipBadRows: false, map: new Map() }} />
        <button type="submit" class="button-main">
          {say('desk:import.look')}
        </button>
      </form>
    ),
  });
  return { html, ...(wrong === undefined ? {} : { status: 422 }) };
}

function WishFields({ visit, wishes }: { readonly visit: Visit; readonly wishes: Wishes }): JSX.Element {
  const { say } = visit.speech;
  return (
    <>
      <Select
        name="dates"
        label={say('desk:import.dates')}
        value={wishes.dateOrder ?? ''}
        options={['', 'dmy', 'mdy', 'ymd'].map((value) => ({ value, text: say(`desk:import.order${value === '' ? '' : `-${value}`}`) }))}
      />
      <Select
        name="status"
        label={say('desk:import.status')}
        value={wishes.status ?? ''}
        options={['', 'publish', 'pending', 'draft'].map((value) => ({
          value,
          text: value === '' ? say('desk:import.as-it-is') : say(`statuses:${value}`),
        }))}
      />
      <Checkbox name="skip" label={say('desk:import.skip')} checked={wishes.skipBadRows} />
    </>
  );
}

/** Keeps the file that was sent, and shows what would become of it; or takes it in, if that was asked for. */
export async function importByForm(visit: Writing): Promise<Outcome> {
  const { fields, files, speech } = visit;
  const sent = files.get('file');
  const kept = sent && sent.bytes.length > 0 ? await keep(visit, sent) : keptFile(visit, textIn(fields, 'kept'), textIn(fields, 'name'));
  if (kept === undefined) return importPage(visit, speech.say('desk:import.no-file'));
  try {
    return await importFile(visit, kept, textIn(fields, 'run') === '1');
  } catch (error) {
    if (!(error instanceof SourceFault)) throw error;
    return importPage(visit, speech.say(`exchange:faults.${error.fault}`, error.values));
  }
}

interface KeptFile {
  readonly token: string;
  readonly name: string;
  readonly path: string;
}

async function importFile(visit: Writing, file: KeptFile, run: boolean): Promise<Outcome> {
  const { site, caller } = visit;
  const wishes = wishesIn(visit);
  const source = await openSource([file.path], { ...wishes, caller, prefix: site.config.tablePrefix, target: `desk ${file.token}` });
  try {
    const { highestId } = await survey(source);
    const columns = 'mapping' in source ? (source as CsvSource).mapping().flatMap((one) => one.columns) : [];
    const records = await previewOf(source, caller, caller.viewer.can('unfiltered_html'), PREVIEWED);
    const report = await importItems(site, caller, source.entries(), { source: nameOf(source, file), dryRun: !run, highestId });
    if (run) await rm(join(folder(), ownPart(visit, file.token)), { recursive: true, force: true });
    return { html: reportPage(visit, { file, wishes, columns, records, report }) };
  } finally {
    await source.close();
  }
}

/** What the ledger calls a file: the same name when it is sent again. */
const nameOf = (source: Source, { name }: KeptFile): string => {
  const own = source.name();
  return own === 'csv' ? `csv ${name}` : own;
};

function wishesIn({ fields }: Writing): Wishes {
  const order = textIn(fields, 'dates');
  const status = textIn(fields, 'status');
  const map = Object.entries(membersIn(fields.map)).flatMap(([column, field]): [string, string][] => {
    const heading = textIn(membersIn(fields.columns), column);
    return typeof field === 'string' && field !== '' && heading !== '' ? [[heading, field]] : [];
  });
  return {
    dateOrder: (['ymd', 'dmy', 'mdy'] as const).find((one) => one === order),
    status: ['publish', 'pending', 'draft'].includes(status) ? status : undefined,
    skipBadRows: textIn(fields, 'skip') !== '',
    map: new Map(map),
  };
}

// ------------------------------------------------------------------------------------------------- kept files
const folder = (): string => join(tmpdir(), `fasti-imports-${process.getuid?.() ?? 0}`);
const ownPart = ({ caller }: Visit, token: string): string => `${caller.viewer.id}-${token}`;

async function keep(visit: Visit, { name, bytes }: { readonly name: string; readonly bytes: Buffer }): Promise<KeptFile> {
  const token = randomBytes(16).toString('hex');
  await mkdir(folder(), { recursive: true, mode: OWN_FOLDER });
  await forgetOld();
  await mkdir(join(folder(), ownPart(visit, token)), { mode: OWN_FOLDER });
  const kept = keptFile(visit, token, name)!;
  await writeFile(kept.path, bytes, { mode: OWN_FILE, flag: 'wx' });
  return kept;
}

/** A file that this very person sent before. Its name keeps the letters that no path is made of. */
function keptFile(visit: Visit, token: string, sent: string): KeptFile | undefined {
  const name = basename(sent.replaceAll('\\', '/'))
    .replace(/[^\p{L}\p{N} ._-]/gu, '_')
    .slice(-100);
  if (!/^[0-9a-f]{32}$/.test(token) || name === '' || /^\.+$/.test(name)) return undefined;
  return { token, name, path: join(folder(), ownPart(visit, token), name) };
}

async function forgetOld(): Promise<void> {
  const now = Date.now();
  for (const name of await readdir(folder())) {
    const path = join(folder(), name);
    const found = await stat(path).catch(() => undefined);
    if (found && now - found.mtimeMs > KEPT_MS) await rm(path, { recursive: true, force: true });
  }
}

// ------------------------------------------------------------------------------------------------- what it came to
interface Shown {
  readonly file: KeptFile;
  readonly wishes: Wishes;
  readonly columns: ReturnType<CsvSource['mapping']>[number]['columns'];
  readonly records: readonly PreviewedRecord[];
  readonly report: Report;
}

const REPORTED = ['author', 'category', 'tag', 'attachment', 'venue', 'organizer', 'event'] as const;

function reportPage(visit: Visit, { file, wishes, columns, records, report }: Shown): string {
  const { say } = visit.speech;
  const { created, updated, unchanged, lost, losses, dryRun } = report;
  const counts = { created, updated, unchanged, lost };
  const kinds = REPORTED.filter((kind) => Object.values(counts).some((count) => (count[kind] ?? 0) > 0));
  return deskPage(visit, {
    title: say('desk:parts.import'),
    part: 'import',
    notice: dryRun ? undefined : { tone: 'good', text: say('desk:done.imported') },
    children: (
      <>
        <p>{say(dryRun ? 'desk:import.would' : 'desk:import.did', { file: file.name })}</p>
        <table class="list">
          <thead>
            <tr>
              {['kind', ...Object.keys(counts)].map((name) => (
                <th key={name} scope="col">
                  {say(`exchange:columns.${name}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {kinds.map((kind) => (
              <tr key={kind}>
                <th scope="row">{say(`exchange:kinds.${kind}`)}</th>
                {Object.entries(counts).map(([name, count]) => (
                  <td key={name} data-label={say(`exchange:columns.${name}`)}>
                    {count[kind] ?? 0}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {losses.length > 0 && (
          <ul class="losses">
            {losses.map(({ reason, count, examples }) => (
              <li key={reason}>
                {say(`exchange:losses.${reason}`)} ({count})
                <p class="quiet">
                  {examples
                    .slice(0, 5)
                    .map(({ of, place, detail }) => [place, of, detail].filter(Boolean).join(' · '))
                    .join(' | ')}
                </p>
              </li>
            ))}
          </ul>
        )}
        {dryRun && <Preview visit={visit} records={records} />}
        {dryRun && <RunForm visit={visit} file={file} wishes={wishes} columns={columns} />}
      </>
    ),
  });
}

function Preview({ visit, records }: { readonly visit: Visit; readonly records: readonly PreviewedRecord[] }): JSX.Element {
  const { say } = visit.speech;
  return (
    <>
      <h2>{say('desk:import.first')}</h2>
      <ul>
        {records.map(({ place, columns, metas, links }) => (
          <li key={place}>
            <strong>{String(columns.post_title ?? '')}</strong>{' '}
            {metas
              .filter(([key]) => /Date$|Address|City|Email/.test(key) && !key.includes('UTC'))
              .map(([, value]) => value)
              .join(' · ')}{' '}
            {links.map(({ name }) => name).join(', ')}
          </li>
        ))}
      </ul>
    </>
  );
}

function RunForm({ visit, file, wishes, columns }: Omit<Shown, 'records' | 'report'> & { readonly visit: Visit }): JSX.Element {
  const { say } = visit.speech;
  const choices = [
    { value: '', text: say('desk:import.as-found') },
    ...Object.keys(eventFields).map((name) => ({ value: name, text: name })),
  ];
  return (
    <form method="post" action={at(visit, '/import')} encType="multipart/form-data" class="narrow">
      <Nonce nonce={visit.nonce} />
      <input type="hidden" name="kept" value={file.token} />
      <input type="hidden" name="name" value={file.name} />
      {columns.length > 0 && <h2>{say('desk:import.columns')}</h2>}
      {columns.map(({ header, column, example }, place) => (
        <div key={header}>
          <input type="hidden" name={`columns[${place}]`} value={header} />
          <Select
            name={`map[${place}]`}
            id={`map-${place}`}
            label={header}
            hint={`${column ?? say('exchange:import.not-mapped')} · ${example}`}
            value={wishes.map.get(header) ?? ''}
            options={choices}
          />
        </div>
      ))}
      <WishFields visit={visit} wishes={wishes} />
      <button type="submit">{say('desk:import.again')}</button>{' '}
      <button type="submit" name="run" value="1" class="button-main">
        {say('desk:import.run')}
      </button>
    </form>
  );
}

import { setTimeout as sleep } from 'node:timers/promises';
import { Fragment, type JSX } from 'preact';
import { isCsvSource } from '../exchange/csv/read.ts';
import { importItems } from '../exchange/import/importer.ts';
import { previewOf } from '../exchange/import/preview.ts';
import { importProgress } from '../exchange/import/progress.ts';
import { highestIdFor } from '../exchange/import/recurrence.ts';
import { type Undoable, undoableImport, undoImport } from '../exchange/import/undo.ts';
import { SourceFault } from '../exchange/items/items.ts';
import type { Report } from '../exchange/items/report.ts';
import { displayName, type Source, surveySource } from '../exchange/items/source.ts';
import { openSource } from '../exchange/sources.ts';
import { idIn, membersIn, textIn } from '../forms/form-values.ts';
import { Input } from '../html/form-fields.tsx';
import { trustOf } from '../records/clean-text.ts';
import { NOT_IMPORTED } from './import-columns.tsx';
import { fetchImportFile, type ImportFile, importFileOf, removeImportFile, storeImportFile } from './import-files.ts';
import { ImportFileFields, progressPage, ReadingOptionFields, type ReadingOptions, reportPage, sentenceKeys } from './import-report.tsx';
import { ButtonForm, deskPage, Nonce } from './layout.tsx';
import { MAX_BULK_SIZE } from './list-filters.ts';
import { utcMomentInWords } from './moments.ts';
import { removalAction } from './record-actions.ts';
import { deskUrl, type Outcome, type Submission, type Visit } from './visit.ts';

/*
 * Import of a file or of the content of a URL. The file is read, a rehearsal shows the result, and only then it is
 * imported. The last import can be undone.
 */

const PREVIEW_COUNT = 5;
/** Time to wait for an import. One that takes longer continues in the background while its progress is shown. */
const IMPORT_WAIT_MS = 2000;

/** The message above the form, and the input that is kept. */
interface ImportForm {
  readonly errorMessage: string;
  readonly file?: ImportFile | undefined;
  readonly address?: string | undefined;
  readonly readingOptions?: ReadingOptions;
}

/** Returns the form for choosing a file, and a summary of the last import. */
export async function importPage(
  visit: Visit,
  { errorMessage, file, address, readingOptions = DEFAULT_READING_OPTIONS }: Partial<ImportForm> = {},
): Promise<Outcome> {
  const { say } = visit.i18n;
  const lastImport = await undoableImport(visit.site, visit.caller.viewer);
  const html = deskPage(visit, {
    title: say('desk:parts.import'),
    section: 'import',
    ...(errorMessage === undefined ? {} : { notice: { tone: 'wrong', text: errorMessage } }),
    children: (
      <>
        <form method="post" action={deskUrl(visit, '/import')} encType="multipart/form-data" class="narrow">
          <p>{say('desk:import.about')}</p>
          <Nonce nonce={visit.nonce} />
          {file && <ImportFileFields file={file} />}
          <HiddenColumnMap map={readingOptions.map} />
          <div class="field">
            <label for="file">{say(file ? 'desk:import.other-file' : 'desk:import.file')}</label>
            <input
              type="file"
              id="file"
              name="file"
              accept=".csv,.ics,.ical,.xml,.wxr,.jsonl"
              aria-describedby={file ? 'kept-file' : undefined}
            />
            {file && (
              <p id="kept-file" class="hint">
                {say('desk:import.kept', { file: file.name })}
              </p>
            )}
            {readingOptions.map.size > 0 && <p class="hint">{say('desk:import.columns-kept')}</p>}
          </div>
          <Input
            name="address"
            label={say('desk:import.address')}
            hint={say('desk:import.address-hint')}
            value={address}
            autocomplete="off"
          />
          <ReadingOptionFields visit={visit} readingOptions={readingOptions} />
          <button type="submit" class="button-main">
            {say('desk:import.look')}
          </button>
        </form>
        {lastImport && <LastImport visit={visit} lastImport={lastImport} />}
      </>
    ),
  });
  return { html, ...(errorMessage === undefined ? {} : { status: 422 }) };
}

/** Hidden fields that keep the chosen mapping of columns when a file was refused for another reason. */
const HiddenColumnMap = ({ map }: Pick<ReadingOptions, 'map'>): JSX.Element => (
  <>
    {[...map].map(([column, field], index) => (
      <Fragment key={column}>
        <input type="hidden" name={`columns[${index}]`} value={column} />
        <input type="hidden" name={`map[${index}]`} value={field || NOT_IMPORTED} />
      </Fragment>
    ))}
  </>
);

function LastImport({ visit, lastImport }: { readonly visit: Visit; readonly lastImport: Undoable }): JSX.Element {
  const { say } = visit.i18n;
  const { id, run, source, at: moment, counts: countsByKind } = lastImport;
  const isFinal = removalAction(visit) === 'delete';
  const counts = [...countsByKind].map(([kind, count]) => `${say(`exchange:kinds.${kind}`)} ${count}`).join(', ');
  const total = [...countsByKind.values()].reduce((sum, count) => sum + count, 0);
  const wording = total > MAX_BULK_SIZE ? 'first' : 'sure';
  return (
    <section aria-labelledby="last-import">
      <h2 id="last-import">{say('desk:import.last')}</h2>
      <p>{say('desk:import.last-about', { source: displayName(source), at: utcMomentInWords(visit, moment), count: counts })}</p>
      <p class="quiet">{say(isFinal ? 'desk:import.undo-final-about' : 'desk:import.undo-about')}</p>
      <ButtonForm
        visit={visit}
        path="/import/undo"
        text={say('desk:import.undo')}
        danger={say(isFinal ? `desk:import.undo-final-${wording}` : `desk:import.undo-${wording}`, { first: MAX_BULK_SIZE, count: total })}
        fields={{ id: String(id), run: String(run) }}
      />
    </section>
  );
}

/**
 * Moves the records that the last import created to the trash, or deletes them if the site has none; the first ones if
 * there are too many for one request.
 */
export async function undoByForm(visit: Submission): Promise<Outcome> {
  const { site, caller, fields } = visit;
  const { moved: movedCount, kept: keptCount } = await undoImport(site, caller, {
    id: idIn(textIn(fields, 'id')),
    run: idIn(textIn(fields, 'run')),
    most: MAX_BULK_SIZE,
  });
  if (movedCount + keptCount === 0) return importPage(visit, { errorMessage: visit.i18n.say('desk:import.not-undone') });
  return {
    to: deskUrl(visit, '/import', {
      done: removalAction(visit) === 'delete' ? 'deleted' : 'trashed',
      count: movedCount,
      failed: keptCount || undefined,
    }),
  };
}

/** Stores the uploaded or named file, and shows a rehearsal; or imports it if the form says so. */
export async function importByForm(visit: Submission): Promise<Outcome> {
  const { fields, i18n } = visit;
  let file: ImportFile | undefined;
  try {
    file = await receiveFile(visit);
    if (file === undefined) return await importPage(visit, { errorMessage: i18n.say('desk:import.no-file') });
    return textIn(fields, 'run') === '1' ? await runImport(visit, file) : await rehearse(visit, file);
  } catch (error) {
    if (!(error instanceof SourceFault)) throw error;
    // Its sentence names no path of the server, so the log does.
    if (SERVER_FAULTS.has(error.fault))
      visit.site.log.warn({ err: error, ...error.values }, 'a file to be imported cannot be stored or read');
    return importPage(visit, {
      errorMessage: i18n.say(sentenceKeys('faults', error.fault), error.values),
      ...inputAfterFault(visit, error, file),
    });
  }
}

/** Faults of a file that can be read after another choice in the form. */
const READING_FAULTS = new Set(['csv-date-order', 'csv-date', 'csv-no-date', 'csv-time']);
/** Faults of the chosen mapping of columns. */
const MAPPING_FAULTS = new Set(['csv-map-column', 'csv-map-field']);
/** The fault of a kept file that was imported in the meantime, has expired, or is on another host. */
const LOST_FILE_FAULT = 'unreadable';
/** Faults that may be for the administrator to mend. */
const SERVER_FAULTS: ReadonlySet<string> = new Set([LOST_FILE_FAULT, 'folder-not-private']);

/** Returns the input that is kept after a fault. A kept file replaces the address from which it was fetched. */
function inputAfterFault(visit: Submission, { fault }: SourceFault, file: ImportFile | undefined): Omit<ImportForm, 'errorMessage'> {
  const readingOptions = readingOptionsIn(visit);
  if (READING_FAULTS.has(fault)) return { file, readingOptions };
  const withoutMap = { ...readingOptions, map: new Map() };
  if (MAPPING_FAULTS.has(fault)) return { file, readingOptions: withoutMap };
  const address = textIn(visit.fields, 'address').trim();
  return { address, readingOptions: fault === LOST_FILE_FAULT ? readingOptions : withoutMap };
}

async function receiveFile(visit: Submission): Promise<ImportFile | undefined> {
  const { fields, files } = visit;
  const upload = files.get('file');
  if (upload && upload.bytes.length > 0) return storeImportFile(visit, upload);
  const address = textIn(fields, 'address').trim();
  return address === '' ? importFileOf(visit, textIn(fields, 'kept'), textIn(fields, 'name')) : fetchImportFile(visit, address);
}

const openFile = (visit: Submission, file: ImportFile, readingOptions: ReadingOptions): Promise<Source> =>
  openSource([file.path], { ...readingOptions, caller: visit.caller, prefix: visit.site.config.tablePrefix, target: `desk ${file.token}` });

/** Returns the options of an import by hand: its user has seen which deleted events it creates again. */
const importOptions = (source: Source, file: ImportFile) => ({ source: ledgerName(source, file), restoreDeleted: true });

/** Rehearses the import of a file and returns its report. */
async function rehearse(visit: Submission, file: ImportFile): Promise<Outcome> {
  const { site, caller } = visit;
  const readingOptions = readingOptionsIn(visit);
  const source = await openFile(visit, file, readingOptions);
  try {
    const { highestId } = await surveySource(source, highestIdFor(caller.settings));
    const [table] = isCsvSource(source) ? source.mapping() : [];
    const records = await previewOf(source, caller, trustOf(caller.viewer), PREVIEW_COUNT);
    const report = await importItems(site, caller, source.entries(), { ...importOptions(source, file), dryRun: true, highestId });
    return { html: reportPage(visit, { file, readingOptions, table, records, report, hint: source.hint }) };
  } finally {
    await source.close();
  }
}

/** Imports a file. If it takes long, the import continues in the background, and a page shows its progress. */
async function runImport(visit: Submission, file: ImportFile): Promise<Outcome> {
  const { site, caller } = visit;
  const readingOptions = readingOptionsIn(visit);
  const source = await openFile(visit, file, readingOptions);
  const work = async (): Promise<Report> => {
    try {
      const report = await importItems(site, caller, source.entries(), { ...importOptions(source, file), highestId });
      await removeImportFile(visit, file);
      return report;
    } finally {
      await source.close();
    }
  };
  const { entries, highestId } = await surveySource(source, highestIdFor(caller.settings)).catch(async (error: unknown) => {
    await source.close();
    throw error;
  });
  const runningImport = work();
  // An error after the page has been sent is stored in the import's row, and logged here.
  runningImport.catch((error: unknown) => site.log.error({ err: error, file: file.name }, 'an import failed'));
  const report = await Promise.race([runningImport, sleep(IMPORT_WAIT_MS, undefined, { ref: false })]);
  if (report) return { html: reportPage(visit, { file, readingOptions, table: undefined, records: [], report }) };
  return { to: deskUrl(visit, '/import/progress', { source: ledgerName(source, file), total: entries }) };
}

/** Returns the page with the progress of an import, or with its result. */
export async function importProgressPage(visit: Visit): Promise<Outcome> {
  const { site, request } = visit;
  const name = textIn(request.query, 'source');
  const progress = await importProgress(site, name);
  if (!progress) return { to: deskUrl(visit, '/import') };
  if (progress.open) return { html: progressPage(visit, { ...progress, total: idIn(textIn(request.query, 'total')) }) };
  const file: ImportFile = { token: '', name: displayName(name), path: '' };
  return {
    html: reportPage(visit, { file, readingOptions: DEFAULT_READING_OPTIONS, table: undefined, records: [], report: progress.report }),
  };
}

const DEFAULT_READING_OPTIONS: ReadingOptions = { dateOrder: undefined, status: undefined, skipBadRows: false, map: new Map() };

/** Returns the name of a file in the ledger of imports: the same name if the file is sent again. */
const ledgerName = (source: Source, { name }: ImportFile): string => {
  const sourceName = source.name();
  return sourceName === 'csv' ? `csv ${name}` : sourceName;
};

function readingOptionsIn({ fields }: Submission): ReadingOptions {
  const order = textIn(fields, 'dates');
  const status = textIn(fields, 'status');
  const map = Object.entries(membersIn(fields.map)).flatMap(([column, field]): [string, string][] => {
    const heading = textIn(membersIn(fields.columns), column);
    return typeof field === 'string' && field !== '' && heading !== '' ? [[heading, field === NOT_IMPORTED ? '' : field]] : [];
  });
  return {
    dateOrder: (['ymd', 'dmy', 'mdy'] as const).find((one) => one === order),
    status: ['publish', 'pending', 'draft'].includes(status) ? status : undefined,
    skipBadRows: textIn(fields, 'skip') !== '',
    map: new Map(map),
  };
}

import type { JSX } from 'preact';
import { hourCycleOf } from '../calendar/hour-cycle.ts';
import type { HeadingMap } from '../exchange/csv/layout.ts';
import type { TableMapping } from '../exchange/csv/read.ts';
import type { PreviewedRecord } from '../exchange/import/preview.ts';
import { lossParts } from '../exchange/items/loss-text.ts';
import { countsToShow, type Report } from '../exchange/items/report.ts';
import type { Source } from '../exchange/items/source.ts';
import { spanInWords } from '../html/dates.ts';
import { Checkbox, Select } from '../html/form-fields.tsx';
import { Link } from '../html/links.tsx';
import { isAllDay } from '../kinds/events/dates.ts';
import { DATES } from '../kinds/events/metas.ts';
import { ORGANIZER } from '../kinds/organizer.ts';
import { VENUE } from '../kinds/venue.ts';
import { decodeEntities } from '../wordpress/content/entities.ts';
import { ColumnChoices } from './import-columns.tsx';
import type { ImportFile } from './import-files.ts';
import { deskPage, Nonce } from './layout.tsx';
import { deskUrl, type Visit } from './visit.ts';

/*
 * Result of an import or of a rehearsal, as tables and sentences.
 */

/** Options for reading a file. */
export interface ReadingOptions {
  readonly dateOrder: 'ymd' | 'dmy' | 'mdy' | undefined;
  readonly status: string | undefined;
  readonly skipBadRows: boolean;
  /** Fields to which columns are mapped; empty: not imported. */
  readonly map: HeadingMap;
}

/** The inputs for reading a file: order of dates, status of new records, rows with errors. */
export function ReadingOptionFields({
  visit,
  readingOptions,
}: {
  readonly visit: Visit;
  readonly readingOptions: ReadingOptions;
}): JSX.Element {
  const { say } = visit.i18n;
  return (
    <>
      <Select
        name="dates"
        label={say('desk:import.dates')}
        value={readingOptions.dateOrder ?? ''}
        options={['', 'dmy', 'mdy', 'ymd'].map((value) => ({
          value,
          text: say(value === '' ? 'desk:import.order' : `desk:import.order-${value}`),
        }))}
      />
      <Select
        name="status"
        label={say('desk:import.status')}
        value={readingOptions.status ?? ''}
        options={['', 'publish', 'pending', 'draft'].map((value) => ({
          value,
          text: value === '' ? say('desk:import.as-it-is') : say(`statuses:${value}`),
        }))}
      />
      <Checkbox name="skip" label={say('desk:import.skip')} checked={readingOptions.skipBadRows} />
    </>
  );
}

/** The result of an import or a rehearsal. */
export interface ImportOutcome {
  readonly file: ImportFile;
  readonly readingOptions: ReadingOptions;
  /** For a rehearsed CSV file: the fields to which its columns are mapped. */
  readonly table: TableMapping | undefined;
  readonly records: readonly PreviewedRecord[];
  readonly report: Report;
  /** Advice of a rehearsal if records link to others that the file lacks. */
  readonly hint?: Source['hint'];
}

/**
 * Returns the keys of the sentence about a loss or a fault, or of advice. If that of the command line names what the
 * desk does not have (options, commands, several files at once), the desk has its own.
 */
export const sentenceKeys = (group: 'losses' | 'faults' | 'hints', name: string): string[] => [
  `desk:import.${group}.${name}`,
  `exchange:${group}.${name}`,
];

const REPORTED_KINDS = ['author', 'category', 'tag', 'attachment', 'venue', 'organizer', 'event'] as const;

/** Returns the page with the result of an import or a rehearsal. */
export function reportPage(visit: Visit, { file, readingOptions, table, records, report, hint }: ImportOutcome): string {
  const { say } = visit.i18n;
  const { losses, dryRun } = report;
  const counts = countsToShow(report);
  const kinds = REPORTED_KINDS.filter((kind) => Object.values(counts).some((count) => (count[kind] ?? 0) > 0));
  return deskPage(visit, {
    title: say('desk:parts.import'),
    section: 'import',
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
        <Losses visit={visit} losses={losses} hint={hint} />
        {dryRun && <Preview visit={visit} records={records} />}
        {dryRun && <StartImportForm visit={visit} file={file} readingOptions={readingOptions} table={table} />}
      </>
    ),
  });
}

function Losses({ visit, losses, hint }: Pick<ImportOutcome, 'hint'> & Pick<Report, 'losses'> & { readonly visit: Visit }) {
  const { say } = visit.i18n;
  if (losses.length === 0) return null;
  return (
    <>
      <ul class="losses">
        {losses.map(({ reason, count, examples }) => (
          <li key={reason}>
            {say(sentenceKeys('losses', reason))} ({count})
            <p class="quiet">
              {[
                ...examples.map((loss) => lossParts(loss, say).join(' · ')),
                ...(count > examples.length ? [say('exchange:import.more', { count: count - examples.length })] : []),
              ].join(' | ')}
            </p>
          </li>
        ))}
      </ul>
      {hint !== undefined && losses.some(({ reason }) => reason === 'link-missing') && <p>{say(sentenceKeys('hints', hint))}</p>}
    </>
  );
}

function Preview({ visit, records }: { readonly visit: Visit; readonly records: readonly PreviewedRecord[] }): JSX.Element {
  const { say } = visit.i18n;
  return (
    <>
      <h2>{say('desk:import.first')}</h2>
      <ul>
        {records.map(({ place, columns, metas, links }) => (
          <li key={place}>
            <strong>{decodeEntities(String(columns.post_title ?? ''))}</strong>{' '}
            {[datesInWords(visit, metas), ...PREVIEWED_METAS.map((key) => metaIn(metas, key))].filter(Boolean).join(' · ')}{' '}
            {links.map(({ name }) => decodeEntities(name)).join(', ')}
          </li>
        ))}
      </ul>
    </>
  );
}

const PREVIEWED_METAS = [VENUE.address, VENUE.city, ORGANIZER.email];

type Metas = PreviewedRecord['metas'];

const metaIn = (metas: Metas, name: string): string => metas.find(([key]) => key === name)?.[1] ?? '';

const datesInWords = ({ i18n, settings }: Visit, metas: Metas): string =>
  spanInWords(
    i18n,
    { start: metaIn(metas, DATES.start), end: metaIn(metas, DATES.end), allDay: isAllDay(metaIn(metas, DATES.allDay)) },
    hourCycleOf(settings.calendar.formats.time),
  );

function StartImportForm({
  visit,
  file,
  readingOptions,
  table,
}: Omit<ImportOutcome, 'records' | 'report' | 'hint'> & { readonly visit: Visit }): JSX.Element {
  const { say } = visit.i18n;
  return (
    <form method="post" action={deskUrl(visit, '/import')} encType="multipart/form-data" class="narrow">
      <Nonce nonce={visit.nonce} />
      <ImportFileFields file={file} />
      {table && <ColumnChoices visit={visit} map={readingOptions.map} table={table} />}
      <ReadingOptionFields visit={visit} readingOptions={readingOptions} />
      <button type="submit">{say('desk:import.again')}</button>{' '}
      <button type="submit" name="run" value="1" class="button-main">
        {say('desk:import.run')}
      </button>
    </form>
  );
}

/** Hidden fields that name a file that was already sent, so that it need not be sent again. */
export const ImportFileFields = ({ file }: { readonly file: ImportFile }): JSX.Element => (
  <>
    <input type="hidden" name="kept" value={file.token} />
    <input type="hidden" name="name" value={file.name} />
  </>
);

/** Returns the page with the progress of an import. */
export function progressPage(
  visit: Visit,
  { done, total, stopped, source }: { readonly done: number; readonly total: number; readonly stopped: boolean; readonly source: string },
): string {
  const { say } = visit.i18n;
  const url = deskUrl(visit, '/import/progress', { source, total });
  const title = say(stopped ? 'desk:import.stopped-title' : 'desk:import.running');
  return deskPage(visit, {
    title,
    section: 'import',
    notice: stopped ? { tone: 'wrong', text: say('desk:import.stopped', { count: done }) } : undefined,
    children: (
      <div data-refresh={stopped ? undefined : url}>
        <p role="status">{say('desk:import.progress', { done, total: Math.max(done, total) })}</p>
        <progress value={done} max={Math.max(1, done, total)} aria-label={title} />
        <p>
          <Link href={stopped ? deskUrl(visit, '/import') : url} class="button">
            {say(stopped ? 'desk:import.send-again' : 'desk:import.progress-look')}
          </Link>
        </p>
      </div>
    ),
  });
}

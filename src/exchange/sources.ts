import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { type CsvOptions, openCsv } from './csv/read.ts';
import { calendarSource } from './ical/read.ts';
import { formatByExtension, formatOfSource, isFetchedByReader, type ReadFormat } from './items/file-formats.ts';
import { bytesOf } from './items/file-text.ts';
import { SourceFault } from './items/items.ts';
import { openJsonLines } from './items/json-lines.ts';
import { type Overrides, withOverrides } from './items/overrides.ts';
import type { Source } from './items/source.ts';
import { openJsonLdFiles } from './json-ld/source.ts';
import { openWebSource, type WebOptions } from './live/web-sources.ts';
import { openWordpressDatabase } from './wordpress-database.ts';
import { openWxr } from './wxr/read.ts';

/** Options for reading a source, besides its location. */
export interface SourceOptions extends CsvOptions, Omit<WebOptions, 'format'>, Overrides {
  /** The format of the source, if its name does not tell. */
  readonly format?: ReadFormat | undefined;
  readonly prefix: string;
  readonly site?: number | undefined;
}

/**
 * Opens the source that a user named: the address of a database, a site or a feed, or files of one format. Its records
 * get the status and the categories of the options.
 *
 * @throws SourceFault `format`, `several-formats`, `one-at-a-time`, `unreadable`, and those of the readers
 */
export const openSource = async (places: readonly string[], options: SourceOptions): Promise<Source> =>
  withOverrides(await openByName(places, options), options);

/** The type of a source, judged by its name: a database, a web address, or files of a format. */
export type SourceKind = 'database' | 'web' | ReadFormat;

/** Returns the type of a source by its name; undefined if it is unknown. */
export function kindOfSource(place: string, format: ReadFormat | undefined): SourceKind | undefined {
  if (/^(mysql|sqlite):/.test(place)) return 'database';
  if (/^(https?|webcals?):/i.test(place)) return formatOfWebFile(place, format) ?? 'web';
  return format ?? formatByExtension(place);
}

/**
 * Returns the format of a file on the web that has to be fetched before it is opened, because its reader needs a file.
 * Calendars and pages are fetched by their readers. By its extension, an `.xml` file may also be a feed.
 */
export function formatOfWebFile(place: string, format: ReadFormat | undefined): ReadFormat | undefined {
  if (!/^https?:/i.test(place) || !URL.canParse(place)) return undefined;
  const { pathname } = new URL(place);
  const foundFormat = format ?? (/\.xml$/i.test(pathname) ? undefined : formatByExtension(pathname));
  return isFetchedByReader(foundFormat) ? undefined : foundFormat;
}

async function openByName(places: readonly string[], options: SourceOptions): Promise<Source> {
  const [first = ''] = places;
  const kind = kindOfSource(first, options.format);
  if (kind === 'database') {
    if (places.length > 1) throw new SourceFault('one-at-a-time');
    return openWordpressDatabase({ url: first, prefix: options.prefix, site: options.site });
  }
  if (kind === 'web') {
    if (places.length > 1) throw new SourceFault('one-at-a-time');
    const { format } = options;
    return openWebSource(first, { ...options, format: isFetchedByReader(format) ? format : undefined });
  }
  const formats = new Set(places.map((path): ReadFormat => options.format ?? formatOfSource(path)));
  if (formats.size > 1) throw new SourceFault('several-formats', { places: [...formats].join(', ') });
  for (const path of places) {
    const file = await stat(path).catch((cause: NodeJS.ErrnoException) => {
      throw new SourceFault('unreadable', { file: path, what: cause.code ?? '' }, cause);
    });
    if (!file.isFile()) throw new SourceFault('unreadable', { file: path, what: 'EISDIR' });
  }
  switch ([...formats][0]) {
    case 'wxr':
      return openWxr(places);
    case 'csv':
      return openCsv(places, options);
    case 'jsonld':
      return openJsonLdFiles(places, options.caller);
    case 'ical': {
      if (places.length > 1) throw new SourceFault('one-at-a-time');
      const { caller, from, to } = options;
      return calendarSource(() => bytesOf(first), { file: basename(first), settings: caller.settings, now: caller.now, from, to });
    }
    default:
      return openJsonLines(places);
  }
}

import { basename, extname } from 'node:path';
import { tableOf } from '../../wordpress/table.ts';
import { SourceFault } from './items.ts';

/* The formats of files. Databases and sites are recognised by their address, files by their extension. */

/** Formats that can be read and written. */
export const FILE_FORMATS = ['wxr', 'jsonl', 'csv', 'ical'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

/** Formats that can be read: those above, and pages with events in JSON-LD. */
export const READABLE_FORMATS = [...FILE_FORMATS, 'jsonld'] as const;
export type ReadFormat = (typeof READABLE_FORMATS)[number];

/** Formats whose readers can fetch from the web themselves. The readers of the others need a file. */
export type FetchedFormat = Extract<ReadFormat, 'ical' | 'jsonld'>;
/** Whether the reader of a format fetches addresses itself. */
export const isFetchedByReader = (format: ReadFormat | undefined): format is FetchedFormat => format === 'ical' || format === 'jsonld';

const FORMATS_BY_EXTENSION: ReadonlyMap<string, FileFormat> = tableOf({
  '.xml': 'wxr',
  '.wxr': 'wxr',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.csv': 'csv',
  '.ics': 'ical',
  '.ical': 'ical',
  '.icalendar': 'ical',
  '.vcs': 'ical',
});

/** Extensions of files that can be read. */
const READABLE_EXTENSIONS: ReadonlyMap<string, ReadFormat> = new Map<string, ReadFormat>([
  ...FORMATS_BY_EXTENSION,
  ...['.jsonld', '.html', '.htm'].map((extension) => [extension, 'jsonld'] as const),
]);

/** Returns the format for the name of a file to be written. Throws SourceFault `format`. */
export const formatOf = (path: string): FileFormat => formatAmong(path, FORMATS_BY_EXTENSION);

/** Returns the format of a file to be read, by its name. Throws SourceFault `format`. */
export const formatOfSource = (path: string): ReadFormat => formatAmong(path, READABLE_EXTENSIONS);

/** Returns the same, or undefined if it is unknown. */
export const formatByExtension = (path: string): ReadFormat | undefined => READABLE_EXTENSIONS.get(extname(path).toLowerCase());

/** Returns an extension that files of a format have, such as `.csv`. */
export const extensionOf = (format: ReadFormat): string | undefined =>
  [...READABLE_EXTENSIONS].find(([, ofExtension]) => ofExtension === format)?.[0];

function formatAmong<Format>(path: string, endings: ReadonlyMap<string, Format>): Format {
  const format = endings.get(extname(path).toLowerCase());
  if (format === undefined) throw new SourceFault('format', { file: basename(path), endings: [...endings.keys()].join(' ') });
  return format;
}

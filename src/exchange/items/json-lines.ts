import { basename } from 'node:path';
import { z } from 'zod';
import { CUSTOM_FIELD_TYPES } from '../../calendar/custom-fields.ts';
import { durationInRow } from '../../calendar/dates.ts';
import { SERIES_COLUMNS } from '../../storage/rows/recurrences.ts';
import { jsonExcess } from '../../wordpress/json.ts';
import { isRealDate, ZERO_DATE } from '../../wordpress/time.ts';
import { linesOf } from './file-text.ts';
import { type Entry, type Item, isPostItem, SourceFault, withNotedLinks } from './items.ts';
import { type Source, siteName } from './source.ts';

/*
 * Items as JSON, one on each line. The first line states the format and the site, the last one the number of items, so
 * that a truncated file is noticed.
 */

const VERSION = 1;
/** Limits for one line. Items are nested four levels deep, and each meta counts as three values. */
const LIMITS = { depth: 8, values: 200_000 };

/** Yields the lines of a file. */
export async function* writeJsonLines(home: string, items: AsyncIterable<Item>): AsyncGenerator<string> {
  yield toLine({ format: 'fasti', version: VERSION, home });
  let count = 0;
  for await (const item of items) {
    count += 1;
    yield toLine(item);
  }
  yield toLine({ end: true, items: count });
}

/** Opens files that `writeJsonLines` made. Throws SourceFault naming file and line. */
export function openJsonLines(paths: readonly string[]): Source {
  let name: string | undefined;
  return {
    name: () => name ?? '',
    close: async () => undefined,
    entries: async function* (): AsyncGenerator<Entry> {
      for (const path of paths) {
        const file = basename(path);
        let count = 0;
        let hasEnded = false;
        let last = 0;
        for await (const { line: number, text } of linesOf(path)) {
          last = number;
          const place = { file, line: number };
          if (text.trim() === '') continue;
          const value = parseLine(text, place);
          if (number === 1) {
            name = siteInHeader(value, name, place);
            continue;
          }
          if (hasEnded) throw new SourceFault('after-end', place);
          const end = END_LINE.safeParse(value);
          if (end.success) {
            if (end.data.items !== count) throw new SourceFault('wrong-number', { ...place, items: end.data.items, count });
            hasEnded = true;
            continue;
          }
          count += 1;
          yield { ...itemOf(value, place), place: `${file}:${number}` };
        }
        if (last === 0) throw new SourceFault('empty', { file });
        if (!hasEnded) throw new SourceFault('truncated', { file, line: last });
      }
    },
  };
}

const toLine = (value: object): string => `${JSON.stringify(value)}\n`;

const HEADER = z.object({ format: z.literal('fasti'), version: z.literal(VERSION), home: z.string() });
const END_LINE = z.strictObject({ end: z.literal(true), items: z.int() });

const languageMembers = { language: z.string().optional(), translation_group: z.string().optional() };
const nameMembers = { sourceId: z.string().min(1), id: z.int().min(1).optional(), place: z.string().optional() };
const pairs = z.array(z.tuple([z.string(), z.string()]));
const customField = z.strictObject({
  ...texts('meta', 'name', 'label'),
  type: z.enum([...CUSTOM_FIELD_TYPES, 'textarea']),
  choices: z.array(z.string()),
});
const termKind = z.enum(['category', 'tag']);
const linkKind = z.enum(['venue', 'organizer', 'attachment']);
const columns = z
  .strictObject({
    ...texts(
      'post_date', 'post_date_gmt', 'post_content', 'post_title', 'post_excerpt', 'post_status', 'comment_status', 'ping_status', 'post_password', 'post_name',
      'to_ping', 'pinged', 'post_modified', 'post_modified_gmt', 'post_content_filtered', 'guid', 'post_mime_type',
    ), // biome-ignore format: a list of names
    menu_order: z.int(),
  })
  .partial();

const moment = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  .refine((text) => text === ZERO_DATE || isRealDate(text));
const date = z.strictObject({
  id: z.int().min(1),
  start: moment,
  end: moment,
  startUtc: moment,
  endUtc: moment,
  duration: z.int().min(0).transform(durationInRow),
  sequence: z.int().min(0),
  listed: z.boolean(),
});

/** Whether no two dates have the same id or are the same: the tables hold each only once. */
function areDistinct(dates: readonly z.output<typeof date>[]): boolean {
  const ids = new Set(dates.map(({ id }) => id));
  const moments = new Set(dates.map(({ id: _id, sequence: _sequence, listed: _listed, ...moment }) => JSON.stringify(moment)));
  return ids.size === dates.length && moments.size === dates.length;
}

/** Older files do not contain passwords. */
const seriesColumns = z.strictObject({ ...texts(...SERIES_COLUMNS), post_password: z.string().default('') });

const ITEM = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.enum(['event', 'venue', 'organizer', 'attachment']),
    ...nameMembers,
    ...languageMembers,
    columns,
    author: z.string().optional(),
    parent: z.string().optional(),
    metas: pairs,
    links: z.array(
      z.union([
        z.strictObject({ key: z.string(), kind: linkKind, sourceId: z.string() }),
        z.strictObject({ key: z.string(), kind: linkKind, name: z.string() }),
      ]),
    ),
    terms: z
      .array(z.strictObject({ kind: termKind, sourceId: z.string(), name: z.string().optional(), slug: z.string().optional() }))
      .optional(),
    complete: z.boolean(),
    absent: z.array(z.string()).optional(),
    unshown: z.array(z.string()).optional(),
    initial: z.array(z.string()).optional(),
    match: z.literal('name').optional(),
    url: z.string().optional(),
    recurrence: z
      .strictObject({ recurs: z.boolean(), rule: z.string(), base: z.int().min(1), dates: z.array(date).refine(areDistinct) })
      .optional(),
    series: z.strictObject({ id: z.int().min(1), columns: seriesColumns, metas: pairs }).optional(),
  }),
  z.strictObject({
    kind: termKind,
    ...nameMembers,
    ...languageMembers,
    name: z.string(),
    slug: z.string(),
    namesake: z.int().min(1).optional(),
    description: z.string(),
    parent: z.string().optional(),
    metas: pairs.optional(),
    taxonomyId: z.int().min(1).optional(),
  }),
  z.strictObject({
    kind: z.literal('author'),
    ...nameMembers,
    login: z.string(),
    email: z.string(),
    displayName: z.string(),
    columns: z.record(z.string(), z.string()).optional(),
    metas: pairs,
  }),
  z.strictObject({
    kind: z.literal('settings'),
    ...nameMembers,
    options: z.record(z.string(), z.string()),
    fields: z.array(customField).optional(),
  }),
]);

function texts<Name extends string>(...names: Name[]): Record<Name, z.ZodString> {
  return Object.fromEntries(names.map((name) => [name, z.string()])) as Record<Name, z.ZodString>;
}

type LinePlace = Readonly<Record<'file' | 'line', string | number>>;

/** Parses a line. Checks its size first, since nested brackets take fifty times their length when parsed. */
function parseLine(text: string, place: LinePlace): unknown {
  const excess = jsonExcess(text, LIMITS);
  if (excess) throw new SourceFault(excess === 'depth' ? 'too-deep' : 'too-long', place);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SourceFault('not-json', place, cause);
  }
}

/** Returns the site that a file belongs to. Files of several sites cannot be imported as one source. */
function siteInHeader(value: unknown, before: string | undefined, place: LinePlace): string {
  const head = HEADER.safeParse(value);
  if (!head.success) throw new SourceFault('not-json-lines', place, head.error);
  const name = siteName(head.data.home);
  if (before !== undefined && before !== name) throw new SourceFault('several-sites', { ...place, one: before, other: name });
  return name;
}

function itemOf(value: unknown, place: LinePlace): Item {
  const item = ITEM.safeParse(value);
  if (item.success) {
    const data = item.data as Item;
    // Earlier versions exported drafts to be published with a record among its metas.
    return isPostItem(data) ? withNotedLinks(data) : data;
  }
  const [issue] = item.error.issues;
  // For an unknown member, report the member itself, not its parent.
  const path = [...(issue?.path ?? []), ...(issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [])];
  throw new SourceFault('no-item', { ...place, what: path.join('.') || 'kind' }, item.error);
}

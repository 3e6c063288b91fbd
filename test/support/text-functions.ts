import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from '@swc/core';
import { costOf, offerPrice } from '../../src/calendar/cost.ts';
import { costOnPages } from '../../src/calendar/cost-on-pages.ts';
import { writeCalendar } from '../../src/exchange/ical/write.ts';
import { NEWS_FORMATS, type NewsFormat } from '../../src/exchange/rss.ts';
import { restUrl } from '../../src/wordpress/links.ts';
import { UTC } from '../../src/wordpress/zones.ts';

/*
 * Every exported function, in the source folders that work on texts, that can be called with a text. The functions are
 * found in the source, so that later additions are included.
 */

const SOURCE = join(dirname(fileURLToPath(import.meta.url)), '../../src');
export const SOURCE_FOLDERS = ['wordpress', 'calendar', 'kinds', 'exchange', 'upkeep'] as const;

/** A function that takes a text, with its other arguments already bound. */
export interface TextFunction {
  /** `wordpress/slug.ts sanitizeTitle` */
  readonly name: string;
  readonly call: (text: string) => unknown;
}

const STORED_EVENT = {
  row: { ID: 1, post_type: 'tribe_events', post_status: 'publish', post_name: 'a', post_date: '2031-01-01', post_parent: 0 },
  metas: new Map(),
};

/** Arguments for the other parameters, by the name of their type. */
const ARGUMENTS_BY_TYPE: Readonly<Record<string, unknown>> = {
  string: 'a',
  number: 1,
  boolean: false,
  Date: new Date(0),
  Zone: UTC,
  Line: { name: 'RDATE', zone: undefined, value: '' },
  HashFormat: 'phpass',
  ImageLookup: () => undefined,
  Say: () => 'a',
  RenderOptions: { smilies: true, images: () => undefined, attachedImages: () => [] },
  ShortcodeSources: { images: () => undefined },
  Readonly: {},
  StoredPost: STORED_EVENT,
  LinkedEvent: STORED_EVENT,
  SiteSettings: { home: '', permalinkStructure: '/%postname%/', calendar: { singleEventSlug: 'event' } },
  AvatarOptions: { defaultPicture: 'mystery', rating: 'G' },
  BlockAttributes: {},
  TakenSlugs: new Set(),
  Salt: 'salt',
  NonceSubject: { user: 1, token: 'a' },
  Roles: new Map(),
  DateOrder: 'ymd',
  ColumnPlace: { file: 'a', line: 1, column: 'a' },
  LabelOptions: { linked: false, hierarchical: false },
  // A readonly list of names.
  TsTypeOperator: ['title', 'start_date'],
  Buffer: Buffer.from('a'),
  TsFunctionType: () => undefined,
  JsonLimits: { depth: 512, values: 100_000 },
  QueryLimits: { variables: 1000, depth: 20 },
  ReadonlyMap: new Map(),
  ShowCost: () => 'a',
  TimeContext: { zone: UTC, now: new Date(0) },
  Metas: new Map([['_EventCost', ['1']]]),
  TsTypeLiteral: { zone: UTC, now: new Date(0), parents: [], takenInTaxonomy: new Set(), takenOnSite: new Set() },
  TsIntersectionType: { file: 'a', line: 1, column: 'a' },
};

/** Functions whose text never comes from outside, by file or name, with the reason. */
export const NOT_FROM_OUTSIDE: Readonly<Record<string, string>> = {
  'kinds/fields.ts': 'declarations give names of metas',
  'kinds/index.ts': 'names of kinds',
  'kinds/linked-list.ts': 'declarations give names of metas',
  'kinds/core/post.ts isViewable': 'the type of a post',
  'kinds/core/post.ts revisionLinks': 'an address of the site',
  'kinds/grammars/lists.ts listStatus': 'declarations name a capability',
  'calendar/custom-fields.ts readCustomFields': 'options of the site',
  'calendar/settings.ts settingNames': 'the prefix of the tables',
  'upkeep/backup-lines.ts': 'names of tables',
  'upkeep/doctor/findings.ts': 'names of sentences',
  'exchange/ical/places.ts': 'the path of a file',
  'exchange/ical/write-line.ts line': 'a part of `writeCalendar`, which is measured as a whole',
  'exchange/import/incomplete.ts': 'digests',
  'exchange/items/atomic-file.ts faultOfFile': 'the path of a file',
  'exchange/items/file-formats.ts formatOf': 'the path of a file',
  'exchange/sources.ts kindOfSource': 'a path or an address, as typed',
  'exchange/sources.ts formatOfWebFile': 'a path or an address, as typed',
  'exchange/items/report.ts reportOf': 'the name of a source',
  'wordpress/record-version.ts': 'a secret of the site',
  'exchange/verify/compare.ts': 'texts of two sites that are compared for whoever owns them',
};

interface Declared {
  readonly file: string;
  readonly name: string;
  readonly isAsync: boolean;
  /** The types of the mandatory parameters. */
  readonly types: readonly string[];
}

/** All exported functions that a source file declares. */
function exportedFunctions(file: string): Declared[] {
  // biome-ignore lint/suspicious/noExplicitAny: a tree of syntax, of which only a few members matter
  const typeOf = (annotation: any): string =>
    annotation?.kind ??
    annotation?.typeName?.value ??
    (annotation?.type === 'TsUnionType' ? annotation.types.map(typeOf).join('|') : annotation?.type);
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const toDeclared = (name: string, node: any): Declared => ({
    file,
    name,
    isAsync: node.async || node.generator,
    types: node.params
      .map((param: { pat?: object }) => param.pat ?? param)
      .filter((pattern: { type: string; optional?: boolean }) => pattern.type !== 'AssignmentPattern' && !pattern.optional)
      .map((pattern: { typeAnnotation?: { typeAnnotation: object } }) => typeOf(pattern.typeAnnotation?.typeAnnotation)),
  });
  const { body } = parseSync(readFileSync(join(SOURCE, file), 'utf8'), { syntax: 'typescript', target: 'es2022' });
  return body.flatMap((item): Declared[] => {
    if (item.type !== 'ExportDeclaration') return [];
    const { declaration } = item;
    if (declaration.type === 'FunctionDeclaration') return [toDeclared(declaration.identifier.value, declaration)];
    if (declaration.type !== 'VariableDeclaration') return [];
    return declaration.declarations.flatMap(({ id, init }): Declared[] => {
      const name = id.type === 'Identifier' ? id.value : '';
      if (init?.type === 'ArrowFunctionExpression') return [toDeclared(name, init)];
      const isMemoized = init?.type === 'CallExpression' && init.callee.type === 'Identifier' && /^memoize(Text)?$/.test(init.callee.value);
      return isMemoized ? [{ file, name, isAsync: false, types: ['string'] }] : [];
    });
  });
}

const TEXT = /\b(string|unknown)\b/;

/** Finds all functions. `unknown` names those with a parameter for which this file has no argument. */
export async function findTextFunctions(): Promise<{ takers: TextFunction[]; unknown: string[] }> {
  const takers: TextFunction[] = [];
  const unknown: string[] = [];
  const files = SOURCE_FOLDERS.flatMap((folder) =>
    readdirSync(join(SOURCE, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  );
  for (const { file, name, isAsync, types } of files.filter((file) => file.endsWith('.ts')).flatMap(exportedFunctions)) {
    const [first = '', ...rest] = types;
    const label = `${file} ${name}`;
    if (!TEXT.test(first) || isAsync || Object.keys(NOT_FROM_OUTSIDE).some((excluded) => label === excluded || file === excluded)) continue;
    const argumentTypes = rest.map((type) => type.split('|').find((one) => one in ARGUMENTS_BY_TYPE));
    if (argumentTypes.includes(undefined)) {
      unknown.push(`${label}: ${rest.join(', ')}`);
      continue;
    }
    const call = (await import(`../../src/${file}`))[name] as (...args: unknown[]) => unknown;
    takers.push({
      name: label,
      call: (text) => {
        try {
          return call(text, ...argumentTypes.map((type) => ARGUMENTS_BY_TYPE[type ?? '']));
        } catch (error) {
          // An error for the text is a valid result; a wrong call would hide the cost to measure.
          if (error instanceof TypeError && !('code' in error)) throw error;
          return undefined;
        }
      },
    });
  }
  return { takers, unknown };
}

/** All values, in a list. */
export async function allOf<T>(values: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const value of values) list.push(value);
  return list;
}

/** Functions that take texts as part of something else: exports of records. */
export function textCarriers(): TextFunction[] {
  const record = (text: string) =>
    ({
      id: 1,
      title: text,
      description: text,
      excerpt: text,
      cost: text,
      website: text,
      url: text,
      date_utc: '2031-05-01 20:00:00',
      modified_utc: '2031-05-01 20:00:00',
      all_day: false,
      start_date: '2031-05-01 20:00:00',
      end_date: '2031-05-01 22:00:00',
      utc_start_date: '2031-05-01 20:00:00',
      utc_end_date: '2031-05-01 22:00:00',
      timezone: 'UTC',
      image: { url: text },
      categories: [{ name: text }],
      tags: [{ name: text }],
      custom_fields: { note: { value: text } },
      venue: { id: 2, venue: text, address: text, city: text, country: text },
      organizer: [{ id: 3, organizer: text, phone: text, website: text, email: text }],
    }) as const;
  const cost = { symbol: '', position: '', code: '' };
  const costOptions = { defaultCurrencySymbol: '€', reverseCurrencyPosition: false, freeText: 'Free' };
  return [
    {
      name: 'writeCalendar',
      call: (text) =>
        allOf(
          writeCalendar([record(text)], { name: text, description: text, url: text, zone: UTC, clock: 'event', language: 'en', host: 'a' }),
        ),
    },
    ...(Object.keys(NEWS_FORMATS) as NewsFormat[]).map((form) => ({
      name: `news as ${form}`,
      call: (text: string) =>
        NEWS_FORMATS[form].write(
          [
            {
              record: record(text),
              title: text,
              guid: text,
              author: text,
              start: '2026-01-01 10:00:00',
              tags: [{ name: text }],
              excerpt: text,
              content: text,
            },
          ],
          { title: text, description: text, home: 'http://a', self: text, language: 'en', zone: UTC, clock: UTC, changed: undefined },
        ),
    })),
    { name: 'costOf', call: (text) => costOf([text], cost, costOptions) },
    { name: 'offerPrice', call: (text) => offerPrice([text]) },
    { name: 'costOnPages', call: (text) => costOnPages([text], cost, costOptions) },
    { name: 'restUrl', call: (text) => restUrl({ home: 'http://a', settings: { permalinkStructure: '' } }, text, [[text, text]]) },
  ];
}

import { readFileSync } from 'node:fs';
import type { Connection, RowDataPacket } from 'mysql2/promise';
import type { Answer } from './running-site.ts';

/*
 * Statements that a real WordPress with the calendar plugin executed while editors worked, and its responses to
 * anonymous visitors after each operation (test/fixtures/wordpress-writes.jsonl). The operations build on each other
 * and start from the sample site.
 */

type Ids = readonly number[];
type List = { readonly total: number; readonly ids: Ids } | { readonly status: number; readonly code: string };
type Link = readonly [id: number, ...texts: string[]];
type Shown = Readonly<Record<string, unknown>> & { readonly venue?: readonly Link[]; readonly organizer?: readonly Link[] };

export interface Operation {
  readonly name: string;
  readonly what: string;
  /** Time of the operation, in Unix seconds. */
  readonly clock: number;
  readonly statements: readonly string[];
  readonly touched: { readonly events?: Ids; readonly venues?: Ids; readonly organizers?: Ids };
  /** Anonymous responses after the operation. */
  readonly after: {
    readonly all: List;
    readonly default: List;
    readonly featured: List;
    readonly venues: List;
    readonly organizers: List;
    readonly categories: Readonly<Record<string, readonly [slug: string, count: number, parent: number]>>;
    readonly tags: Readonly<Record<string, readonly [slug: string, count: number, parent: number]>>;
    readonly by_category?: Readonly<Record<string, List>>;
    readonly by_tag?: Readonly<Record<string, List>>;
    readonly by_venue?: Readonly<Record<string, List>>;
    readonly by_organizer?: Readonly<Record<string, List>>;
    readonly records: { readonly [Kind in 'events' | 'venues' | 'organizers']?: Readonly<Record<string, Shown>> };
  };
}

export const recordedWrites: readonly Operation[] = readFileSync(new URL('../fixtures/wordpress-writes.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Operation);

/** The current time of the lists that begin today. */
export const RECORDED_ON = new Date('2026-11-22T12:00:00Z');

/** The first statement of the connection that writes. */
export const WRITER_SESSION =
  "SET NAMES utf8mb4; SET SESSION sql_mode = 'ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00'";

/** Executes the statements of an operation, each of which commits by itself. `between` runs after each statement. */
export async function replay(
  writer: Connection,
  { clock, statements }: Operation,
  between: () => Promise<unknown> = async () => undefined,
) {
  await writer.query('SET TIMESTAMP = ?', [clock]);
  for (const statement of statements) {
    await writer.query(statement);
    await between();
  }
}

const ROOT = '/wp-json/tribe/events/v1';
const EVERYTHING = 'start_date=2019-01-01&end_date=2035-12-31&per_page=50';
const FILTERS = { by_category: 'categories', by_tag: 'tags', by_venue: 'venue', by_organizer: 'organizer' } as const;

/** One check: the paths, the expected value, and how to extract it from the responses (of all pages). */
export interface Check {
  readonly name: string;
  readonly paths: readonly string[];
  readonly expected: unknown;
  readonly shown: (answers: readonly Answer[]) => unknown;
}

/**
 * All checks after an operation. Intentional differences of Fasti (decisions D15 and D35) are derived from the rows at
 * that time.
 */
export async function checksOf({ after, touched }: Operation, writer: Connection): Promise<Check[]> {
  const [rows] = await writer.query<RowDataPacket[]>('SELECT ID AS id, post_status AS status, post_password AS password FROM wp_posts');
  const posts = new Map(rows.map(({ id, status, password }) => [Number(id), { status: String(status), locked: password !== '' }]));
  const isPublic = (id: number) => posts.get(id)?.status === 'publish';
  /** Protected records are not found through fields that they hide. */
  const withoutLocked = (list: List): List => {
    if ('status' in list) return list;
    const ids = list.ids.filter((id) => !posts.get(id)?.locked);
    return { total: list.total - (list.ids.length - ids.length), ids };
  };
  const byLink = (id: number, list: List): List => (isPublic(id) ? withoutLocked(list) : { status: 400, code: 'rest_invalid_param' });
  const withPublicLinks = ({ venue, organizer, ...record }: Shown): Shown => ({
    ...record,
    ...(venue ? { venue: venue.filter(([id]) => isPublic(id)) } : {}),
    ...(organizer ? { organizer: organizer.filter(([id]) => isPublic(id)) } : {}),
  });
  const events = (name: string, query: string, expected: List): Check => listCheck(name, 'events', query, expected);

  const filterChecks = (Object.keys(FILTERS) as (keyof typeof FILTERS)[]).flatMap((group) =>
    Object.entries(after[group] ?? {}).map(([id, list]) => {
      const expected = group === 'by_venue' || group === 'by_organizer' ? byLink(Number(id), list) : withoutLocked(list);
      return events(`${group} ${id}`, `${EVERYTHING}&${FILTERS[group]}=${id}`, expected);
    }),
  );
  const records = (['events', 'venues', 'organizers'] as const).flatMap((kind) =>
    (touched[kind] ?? []).map((id): Check => recordCheck(kind, id, withPublicLinks(after.records[kind]?.[id] ?? {}))),
  );
  return [
    events('all', EVERYTHING, after.all),
    events('featured', `${EVERYTHING}&featured=true`, after.featured),
    events('default', 'per_page=50', after.default),
    listCheck('venues', 'venues', 'per_page=50', after.venues),
    listCheck('organizers', 'organizers', 'per_page=50', after.organizers),
    termCheck('categories', after.categories),
    termCheck('tags', after.tags),
    ...filterChecks,
    ...records,
  ];
}

const PAGE = 50;

function listCheck(name: string, kind: 'events' | 'venues' | 'organizers', query: string, expected: List): Check {
  const pages = 'ids' in expected ? Math.max(1, Math.ceil(expected.ids.length / PAGE)) : 1;
  const path = `${ROOT}/${kind}?${query}`;
  return {
    name,
    paths: Array.from({ length: pages }, (_, index) => (index === 0 ? path : `${path}&page=${index + 1}`)),
    expected,
    shown: (answers) => {
      const [{ status, body } = { status: 0, body: {} }] = answers;
      if (status !== 200) return { status, code: body.code };
      return { total: body.total, ids: answers.flatMap((answer) => (answer.body[kind] ?? []).map(({ id }: { id: number }) => id)) };
    },
  };
}

function termCheck(kind: 'categories' | 'tags', expected: Operation['after']['categories']): Check {
  return {
    name: kind,
    paths: [`${ROOT}/${kind}?per_page=50&hide_empty=false`],
    expected,
    shown: ([answer]) =>
      Object.fromEntries(
        (answer?.body[kind] ?? []).map((term: { id: number; slug: string; count: number; parent?: number }) => [
          term.id,
          [term.slug, term.count, term.parent ?? 0],
        ]),
      ),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the record of an answer
type Body = any;

const COMMON = (body: Body, title: string) => ({ status: body.status, title, modified: body.modified, slug: body.slug });
const idsIn = (list: Body) => (list ?? []).map(({ id }: { id: number }) => id).sort((one: number, other: number) => one - other);

/** The recorded members of a record, by kind. */
const SHOWN: Readonly<Record<'events' | 'venues' | 'organizers', (body: Body) => object>> = {
  events: (body) => ({
    ...COMMON(body, body.title),
    start_date: body.start_date,
    end_date: body.end_date,
    timezone: body.timezone,
    all_day: body.all_day,
    cost: body.cost,
    featured: body.featured,
    hidden: body.hide_from_listings,
    sticky: body.sticky,
    venue: [body.venue].flat().map(({ id, venue, city }: Body) => [id, venue, city ?? null]),
    organizer: body.organizer.map(({ id, organizer }: Body) => [id, organizer]),
    categories: idsIn(body.categories),
    tags: idsIn(body.tags),
    image: body.image ? body.image.id : null,
  }),
  venues: (body) => ({ ...COMMON(body, body.venue), city: body.city ?? null }),
  organizers: (body) => ({ ...COMMON(body, body.organizer), email: body.email ?? null, phone: body.phone ?? null }),
};

function recordCheck(kind: 'events' | 'venues' | 'organizers', id: number, expected: Shown): Check {
  return {
    name: `${kind} ${id}`,
    paths: [`${ROOT}/${kind}/${id}`],
    expected,
    shown: ([answer]) =>
      answer?.status === 200 ? { http: 200, ...SHOWN[kind](answer.body) } : { http: answer?.status, code: answer?.body?.code },
  };
}

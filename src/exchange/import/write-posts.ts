import { eventDates } from '../../calendar/dates.ts';
import { storedDates } from '../../kinds/event-dates.ts';
import { termKind } from '../../kinds/index.ts';
import { hasRules } from '../../kinds/occurrence.ts';
import { imageIdAt } from '../../media/images.ts';
import {
  addToCounts,
  highestPostId,
  insertMetas,
  insertPosts,
  insertTermLinks,
  removeRemains,
  takenPostIds,
} from '../../storage/lists/many-posts.ts';
import { insertOccurrences } from '../../storage/rows/bulk.ts';
import { insertPost, updatePost } from '../../storage/rows/posts.ts';
import { loadTerms } from '../../storage/rows/terms.ts';
import { postUrl } from '../../wordpress/links.ts';
import type { Post } from '../../wordpress/rows.ts';
import { isFloating } from '../../wordpress/status.ts';
import { nowLocal, nowUtc } from '../../wordpress/time.ts';
import { type CleanPost, cleanPost, completeDates } from '../items/clean.ts';
import { nameOf, type PostItem } from '../items/items.ts';
import { metaMap } from '../items/metas.ts';
import { count, lose } from '../items/report.ts';
import { typeOf } from '../items/site-items.ts';
import { digestOf, ledgerKey } from './ledger.ts';
import { takeRecurrence } from './recurrence.ts';
import { resolvePost } from './resolve.ts';
import type { Work } from './run.ts';
import { slugsFor } from './slugs.ts';
import { type Existing, updatePosts } from './update-posts.ts';
import { termFromReference } from './write-terms.ts';

/** Metas that say when an event is. */
const START = '_EventStartDate';
const END = '_EventEndDate';

/** A post on its way in. */
interface Arrival {
  readonly item: PostItem;
  readonly key: string;
  readonly digest: string;
  readonly clean: CleanPost;
}

/** Takes in events, venues, organizers and files of the library: new ones with a few statements for all, known ones where they have changed. */
export async function writePosts(work: Work, items: readonly PostItem[]): Promise<void> {
  const { run, db, ledger, tally } = work;
  const coming = items
    .map((item) => ({ item, key: ledgerKey('post', item.sourceId), digest: digestOf(work.originals.get(item) ?? item) }))
    .map((named) => ({ ...named, entry: ledger.entry(named.key) }))
    .filter(({ entry, digest }) => entry?.run !== run.number || entry.digest !== digest);
  const ids = coming.flatMap(({ item, entry }) => [...(item.id === undefined ? [] : [item.id]), ...(entry ? [entry.target] : [])]);
  const taken = await takenPostIds(db, ids);

  const fresh: Arrival[] = [];
  const existing: Existing[] = [];
  for (const { item, key, digest, entry } of coming) {
    const there = entry !== undefined && ((run.dry && run.overlay.has(key)) || taken.get(entry.target)?.post_type === typeOf(item.kind));
    if (there && entry.digest === digest) {
      ledger.add({ ...entry, run: run.number });
      count(tally.unchanged, item.kind);
      continue;
    }
    if (item.kind === 'attachment' && !item.metas.some(([name]) => name === '_wp_attached_file')) {
      await useLibrary(work, item, key, digest);
      continue;
    }
    await nameTerms(work, item);
    const arrival: Arrival = { item, key, digest, clean: cleaned(work, item) };
    const target = there ? entry.target : await sameRecord(work, arrival, taken);
    if (target === undefined) fresh.push(arrival);
    else {
      ledger.add({ item: key, kind: item.kind, target, digest, run: run.number });
      existing.push({ item, key, clean: arrival.clean, target });
    }
  }
  await insertNew(work, fresh, taken);
  await updatePosts(work, existing);
}

/** An address of a file that was not fetched is worth something only where the library knows it. */
async function useLibrary({ run, db, ledger, tally }: Work, item: PostItem, key: string, digest: string): Promise<void> {
  const known = item.url === undefined ? undefined : await imageIdAt(db, item.url, run.caller);
  if (known === undefined) {
    count(tally.lost, 'attachment');
    lose(tally, { reason: 'file-missing', kind: 'attachment', of: item.url ?? item.sourceId, place: item.place });
    return;
  }
  ledger.add({ item: key, kind: 'attachment', target: known, digest, run: run.number });
  count(tally.unchanged, 'attachment');
}

/** Terms of sources that know nothing but their names are what is called so here, or new ones. */
async function nameTerms(work: Work, { terms = [] }: PostItem): Promise<void> {
  for (const term of terms) {
    if (term.slug === undefined && term.name !== undefined && work.ledger.target(term.kind, term.sourceId) === undefined)
      await termFromReference(work, term);
  }
}

/** What a post's row can hold, with what had to go noted. */
function cleaned({ run, tally }: Work, item: PostItem): CleanPost {
  const clean = cleanPost(item, run.trusted);
  for (const { reason, detail } of clean.losses) lose(tally, { reason, kind: item.kind, of: nameOf(item), place: item.place, detail });
  if (item.kind !== 'event') return clean;
  // In the old form of recurrence each date is a post, which comes by itself.
  if (!item.recurrence?.recurs && !item.parent && hasRules(metaMap(clean.metas))) {
    lose(tally, { reason: 'recurrence', kind: 'event', of: nameOf(item), place: item.place });
  }
  return { ...clean, metas: withDates(clean.metas, run.caller) };
}

/** Old events know neither zone nor UTC: both follow from the clock on the wall and the zone of the site. */
function withDates(metas: CleanPost['metas'], { settings, now }: Work['run']['caller']): CleanPost['metas'] {
  const given = new Map(metas);
  const [start, end] = [given.get(START), given.get(END)];
  if (!start || !end || (given.get('_EventStartDateUTC') && given.get('_EventEndDateUTC') && given.get('_EventTimezone'))) return metas;
  const allDay = /^(yes|1|true)$/i.test(given.get('_EventAllDay') ?? '');
  const dates = eventDates({ start, end, timezone: given.get('_EventTimezone') || undefined, allDay }, undefined, {
    siteZone: settings.timezone,
    cutoff: settings.calendar.cutoff,
    now,
  });
  if ('problem' in dates) return metas;
  const missing: [string, string][] = [
    ['_EventStartDateUTC', dates.startUtc],
    ['_EventEndDateUTC', dates.endUtc],
    ['_EventTimezone', dates.timezone],
    ['_EventTimezoneAbbr', dates.abbreviation],
    ...(dates.duration === null ? [] : [['_EventDuration', String(dates.duration)] as [string, string]]),
  ];
  const added = missing.filter(([key]) => !given.get(key));
  return [...metas.filter(([key]) => !added.some(([name]) => name === key)), ...added];
}

/** A record that was here before the import and is the one that comes: the same id and address of origin, or the same name where names count. */
async function sameRecord(
  { run, db }: Work,
  { item, clean }: Arrival,
  taken: ReadonlyMap<number, Pick<Post, 'post_type' | 'guid'>>,
): Promise<number | undefined> {
  const holder = item.id === undefined ? undefined : taken.get(item.id);
  if (holder && holder.post_type === typeOf(item.kind) && holder.guid !== '' && holder.guid === clean.columns.guid) return item.id;
  if (item.match !== 'name' || item.kind === 'attachment') return undefined;
  return run.names.find(db, item.kind, clean.columns.post_title ?? '', startOf(clean));
}

const startOf = ({ metas }: CleanPost): string => metas.find(([key]) => key === START)?.[1] ?? '';

async function insertNew(work: Work, arrivals: readonly Arrival[], taken: ReadonlyMap<number, unknown>): Promise<void> {
  if (arrivals.length === 0) return;
  const { run, db, ledger, tally, named, touched } = work;
  const { settings, now } = run.caller;
  const slugs = await slugsFor(work, arrivals);
  const moment = { local: nowLocal(now, settings.zone), utc: nowUtc(now) };
  const place = {
    home: settings.home,
    permalinkStructure: settings.permalinkStructure,
    singleEventSlug: settings.calendar.singleEventSlug,
  };

  // First all get an id, so that they can name each other.
  const ids = new Map<Arrival, number>();
  const rows: Partial<Post>[] = [];
  for (const arrival of arrivals) {
    const { item, key, digest, clean } = arrival;
    const wished = item.id !== undefined && Number.isSafeInteger(item.id) && item.id > 0 ? item.id : undefined;
    const row: Partial<Post> = {
      post_status: item.kind === 'attachment' ? 'inherit' : 'publish',
      ...clean.columns,
      ...completeDates(clean.columns, settings.zone, moment),
      post_author: run.caller.viewer.id,
      post_name: slugs.get(arrival) ?? '',
      post_type: typeOf(item.kind),
    };
    const free = wished !== undefined && !taken.has(wished);
    const id = free ? wished : run.dry ? run.nextDryId() : await insertPost(db, { ...(await aboveSource(work, wished)), ...row });
    if (free) rows.push({ ID: id, ...row });
    if (wished !== undefined && !free)
      lose(tally, { reason: 'id-taken', kind: item.kind, of: nameOf(item), place: item.place, detail: `${wished} -> ${id}` });
    const settled = { ...row, ID: id, post_name: row.post_name || (isFloating(row.post_status ?? '') ? '' : String(id)) } as Post;
    const late: Partial<Post> = {
      ...(settled.post_name === row.post_name ? {} : { post_name: settled.post_name }),
      ...(row.guid ? {} : { guid: item.kind === 'attachment' ? (item.url ?? '') : postUrl(place, settled) }),
    };
    if (free) Object.assign(rows.at(-1)!, late);
    else if (!run.dry) await updatePost(db, id, late);
    ids.set(arrival, id);
    ledger.add({ item: key, kind: item.kind, target: id, digest, run: run.number });
    named.push({ kind: item.kind, title: clean.columns.post_title ?? '', start: startOf(clean), id });
    count(tally.created, item.kind);
  }

  const metas: { post_id: number; meta_key: string; meta_value: string }[] = [];
  const links: { object_id: number; term_taxonomy_id: number }[] = [];
  const counts = new Map<number, number>();
  const rowsById = new Map(rows.map((row) => [row.ID!, row]));
  const termIds = await termTaxonomyIds(work, arrivals);
  for (const arrival of arrivals) {
    const { item, key, clean } = arrival;
    const id = ids.get(arrival)!;
    const resolved = await resolvePost(work, item, key, id);
    const above = {
      ...(resolved.author === undefined ? {} : { post_author: resolved.author }),
      ...(resolved.parent === undefined ? {} : { post_parent: resolved.parent }),
    };
    const row = rowsById.get(id);
    if (row) Object.assign(row, above);
    else if (!run.dry) await updatePost(db, id, above);
    for (const [meta_key, meta_value] of [...clean.metas, ...resolved.links]) metas.push({ post_id: id, meta_key, meta_value });
    for (const term of new Set(resolved.terms.map((name) => termIds.get(name)))) {
      if (term === undefined) continue;
      links.push({ object_id: id, term_taxonomy_id: term });
      if ((clean.columns.post_status ?? 'publish') === 'publish' && item.kind !== 'attachment')
        counts.set(term, (counts.get(term) ?? 0) + 1);
    }
  }
  const events = new Map(
    arrivals.flatMap((arrival) =>
      arrival.item.kind === 'event' ? [[ids.get(arrival)!, storedDates({ metas: metaMap(arrival.clean.metas) })] as const] : [],
    ),
  );
  touched.any = true;
  if (run.dry) return;
  await removeRemains(db, [...rowsById.keys()], settings.occurrenceTables);
  await insertPosts(db, rows);
  await insertMetas(db, metas);
  await insertTermLinks(db, links);
  await addToCounts(db, counts);
  work.events.push(...events.keys());
  if (!settings.occurrenceTables) return;
  const unsound = new Set(await insertOccurrences(db, events, moment.utc));
  for (const arrival of arrivals) {
    const { item } = arrival;
    if (unsound.has(ids.get(arrival)!)) lose(tally, { reason: 'dates-unsound', kind: 'event', of: nameOf(item), place: item.place });
    else await takeRecurrence(work, item, ids.get(arrival)!, { anew: true });
  }
}

/**
 * An id above all of the source, for the first record that can't keep its own: the ids that the others are going to keep stay free. Later ones follow
 * by themselves.
 */
async function aboveSource({ run, db }: Work, wished: number | undefined): Promise<{ ID?: number }> {
  if (wished === undefined || run.highestId === 0) return {};
  return (await highestPostId(db)) > run.highestId ? {} : { ID: run.highestId + 1 };
}

/** Rows of taxonomies by `kind:term_id`, of all terms that these posts carry. */
async function termTaxonomyIds({ run, db, ledger }: Work, arrivals: readonly Arrival[]): Promise<Map<string, number>> {
  const rows = new Map<string, number>();
  for (const kind of ['category', 'tag'] as const) {
    const references = arrivals.flatMap(({ item }) => (item.terms ?? []).filter((term) => term.kind === kind));
    const ids = new Set(references.flatMap(({ sourceId }) => ledger.target(kind, sourceId) ?? []));
    if (run.dry) continue;
    for (const term of (await loadTerms(db, termKind(kind).taxonomy, [...ids])).values())
      rows.set(`${kind}:${term.term_id}`, term.term_taxonomy_id);
  }
  return rows;
}

import type { z } from 'zod';
import type { SiteSettings } from '../../calendar/settings.ts';
import { DATES } from '../../kinds/events/metas.ts';
import { postKind } from '../../kinds/index.ts';
import { imageIdsIn } from '../../wordpress/content/render.ts';
import { type Entry, isItem, isPostItem, SourceFault } from '../items/items.ts';
import { asWholeRecord, type LossEntry, type ReportedKind } from '../items/report.ts';
import { type Source, siteName } from '../items/source.ts';
import { eventItem, imageItem, type LiveItem, organizerItem, termItem, venueItem, withCoreMetas } from './items.ts';
import {
  type CoreMedia,
  type CoreRecord,
  coreMedia,
  corePerson,
  coreRecord,
  isHiddenByPassword,
  type LiveImage,
  type LiveTerm,
  liveTerm,
  RECORDS,
} from './records.ts';
import { codeOf, isJsonObject, type Query, type RemoteSite, type SiteAnswer } from './site-client.ts';
import { openSpool, type Spool } from './spool.ts';

export interface LiveOptions {
  readonly settings: Pick<SiteSettings, 'smilies' | 'calendar' | 'contentLanguages'>;
  /** Words for "free" in the languages that a site may have. */
  readonly freeWords: readonly string[];
  readonly now: Date;
  /** The target of the import (database, prefix, dry run or not). Walks for different targets are kept apart. */
  readonly target: string;
  /** Resumes the walk of an interrupted import, however old it is. */
  readonly resume: boolean;
  /**
   * Folder for the state of the walk; defaults to a folder of this user below the system's folder for temporary files.
   */
  readonly folder?: string | undefined;
  /** Called after each page with the number of entries so far. */
  readonly onProgress?: (entries: number) => void;
}

/** Maximum age of an interrupted walk that is resumed. Later, old and current data would be mixed. */
const MAX_RESUME_AGE_MS = 24 * 3600 * 1000;

/**
 * Opens a running site as a source: its categories, tags, venues, organizers, events and images through its public API,
 * completed with data from WordPress's own routes. With an application password, this includes drafts, private records,
 * and texts as they are stored.
 *
 * @throws SourceFault `import-running` while another import walks through the site for the same target
 */
export async function openLiveSite(site: RemoteSite, options: LiveOptions): Promise<Source> {
  const spool = await openSpool({ source: siteName(site.home), identity: [site.credentials ?? '', options.target] }, options.folder);
  try {
    const { mark, writtenAt } = await spool.state();
    const isOld = mark !== undefined && !options.resume && (mark.done || Date.now() - writtenAt > MAX_RESUME_AGE_MS);
    if (isOld) await spool.remove();
  } catch (error) {
    spool.close();
    throw error;
  }
  let readings = 0;
  return {
    name: () => siteName(site.home),
    entries: async function* () {
      yield* walkSite(site, spool, options);
      readings += 1;
    },
    close: async () => {
      try {
        // After the survey and the import, the spool is no longer needed.
        if (readings > 1) await spool.remove();
      } finally {
        spool.close();
      }
    },
  };
}

/** Stages of a walk, in such an order that records only refer to earlier stages. */
const STAGES = ['categories', 'tags', 'venues', 'organizers', 'events', 'hidden'] as const;
type Stage = (typeof STAGES)[number];
const PAGE_SIZE = 50;

/** State of a walk, collected from earlier pages. */
interface Walk {
  readonly site: RemoteSite;
  readonly options: LiveOptions;
  /** Names of users by id; undefined for users that the site does not show. */
  readonly people: Map<number, string | undefined>;
  /** Ids of images that were yielded already, and of events. */
  readonly images: Set<number>;
  readonly events: Set<string>;
  /** Slugs and starts of events, because each date of a recurring event comes with its own id. */
  readonly dates: Set<string>;
  /** Records that were read, as `stage/id`, including those that could not be used. */
  readonly seenRecords: Set<string>;
  /** Routes of WordPress that the site lacks or denies us. */
  readonly unavailableRoutes: Set<string>;
}

async function* walkSite(site: RemoteSite, spool: Spool, options: LiveOptions): AsyncGenerator<Entry> {
  const { mark } = await spool.state();
  const walk: Walk = {
    site,
    options,
    people: new Map(),
    images: new Set(),
    events: new Set(),
    dates: new Set(),
    seenRecords: new Set(),
    unavailableRoutes: new Set(),
  };
  let count = 0;
  const note = (entry: Entry): Entry => {
    count += 1;
    const place = entry.kind === 'loss' ? entry.loss.place : isItem(entry) && isPostItem(entry) ? entry.place : undefined;
    if (place !== undefined) walk.seenRecords.add(place);
    if (entry.kind === 'attachment' && entry.id !== undefined) walk.images.add(entry.id);
    if (entry.kind === 'event') {
      walk.events.add(entry.sourceId);
      walk.dates.add(nameOfDate(entry.columns.post_name, new Map(entry.metas).get(DATES.start)));
    }
    if (entry.kind === 'author' && entry.id !== undefined) walk.people.set(entry.id, entry.sourceId);
    return entry;
  };
  for await (const entry of spool.entries()) yield note(entry);
  if (mark?.done) return;
  const from = mark === undefined ? 0 : STAGES.indexOf(mark.stage as Stage) + (mark.last ? 1 : 0);
  for (const stage of STAGES.slice(from)) {
    let [page, before, steps] = stage === mark?.stage ? [mark.page + 1, mark.total, 0] : [1, undefined, 0];
    for (;;) {
      const pageResult = await pageOf(walk, stage, page);
      const stepsBack = steps < MAX_STEPS_BACK ? pagesMissed(pageResult, page, before) : 0;
      const nextPage = stepsBack === 0 ? page + 1 : Math.max(1, page - stepsBack);
      const isEnd = pageResult.isLast && stepsBack === 0;
      before = pageResult.total ?? before;
      await spool.add(pageResult.entries, {
        stage,
        page: nextPage - 1,
        last: isEnd,
        done: isEnd && stage === STAGES.at(-1),
        total: before,
      });
      for (const entry of pageResult.entries) yield note(entry);
      options.onProgress?.(count);
      if (isEnd) break;
      [page, steps] = [nextPage, steps + Math.sign(stepsBack)];
    }
  }
}

interface Page {
  readonly entries: readonly Entry[];
  readonly isLast: boolean;
  /** Whether the list has become so short that this page no longer exists. */
  readonly isGone?: true;
  /** Number of records in the list, if the site reports it, and on this page. */
  readonly total?: number;
  readonly length?: number;
}

/**
 * Maximum number of times that earlier pages of a list are read again, so that the walk ends even if the list keeps
 * changing.
 */
const MAX_STEPS_BACK = 20;

/**
 * Returns the number of earlier pages to which records from this page may have moved, given that the list has become
 * shorter since `before`.
 */
function pagesMissed({ isGone, total, length = 0 }: Page, page: number, before: number | undefined): number {
  if (page === 1) return 0;
  if (isGone) return 1;
  return total === undefined || before === undefined || total >= before ? 0 : Math.ceil((before - total) / Math.max(1, length));
}

function pageOf(walk: Walk, stage: Stage, page: number): Promise<Page> {
  if (stage === 'categories' || stage === 'tags') return readTerms(walk, stage, page);
  if (stage === 'hidden') return hiddenEventsPage(walk, page);
  return readRecords(walk, stage, page);
}

const EMPTY_PAGE: Page = { entries: [], isLast: true };

/**
 * Requests all languages. By default, WPML and Fasti list only one. Polylang lists all by default, and would take
 * `lang=all` for its default language; it ignores this parameter.
 */
const IN_ALL_LANGUAGES: Query = { wpml_language: 'all' };

// ------------------------------------------------------------------------------------------------- categories, tags
/** Reads all terms at once, since they reference their parents by id. */
async function readTerms({ site }: Walk, stage: 'categories' | 'tags', first: number): Promise<Page> {
  if (first > 1) return EMPTY_PAGE;
  const termsById = new Map<number, LiveTerm>();
  let [before, steps] = [0, 0];
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const answer = await site.get(stage, { ...IN_ALL_LANGUAGES, per_page: PAGE_SIZE, page, hide_empty: 'false' });
    const isGone = answer.status === 404 && page > 1;
    const body = isGone ? {} : bodyOf(site, answer);
    for (const term of validEntries(liveTerm, listIn(body, stage))) termsById.set(term.id, term);
    const total = Number(body.total ?? 0);
    const isShorter = total < before && steps < MAX_STEPS_BACK;
    [before, pages] = [total, isShorter ? 1 : Number(body.total_pages ?? 0)];
    if (isShorter) [page, steps] = [0, steps + 1];
  }
  const kind = stage === 'tags' ? 'tag' : 'category';
  return { entries: Array.from(termsById.values(), (term) => termItem(kind, term, termsById.get(term.parent)?.slug)), isLast: true };
}

// ------------------------------------------------------------------------------------------ venues, organizers, events
type PostStage = 'venues' | 'organizers' | 'events';
const KINDS = { venues: 'venue', organizers: 'organizer', events: 'event' } as const satisfies Record<PostStage, ReportedKind>;
/** Parameters for whole lists. Events after this period come with the hidden ones (`hiddenEventsPage`). */
const WHOLE_LIST_QUERIES: Readonly<Record<PostStage, Query>> = {
  venues: {},
  organizers: {},
  events: { start_date: '1001-01-01', end_date: '2999-12-31' },
};

async function readRecords(walk: Walk, stage: PostStage, page: number): Promise<Page> {
  const { site, seenRecords } = walk;
  const answer = await site.get(stage, { ...WHOLE_LIST_QUERIES[stage], ...IN_ALL_LANGUAGES, per_page: PAGE_SIZE, page });
  if (answer.status === 404 && page > 1) return { ...EMPTY_PAGE, isGone: true };
  const body = bodyOf(site, answer);
  const list = listIn(body, stage);
  const unseenRecords = list.filter(({ id }) => !seenRecords.has(`${stage}/${String(id)}`));
  const isLast = page >= Number(body.total_pages ?? 0);
  return {
    entries: await entriesOf(walk, stage, unseenRecords),
    isLast,
    length: list.length,
    ...(body.total === undefined ? {} : { total: Number(body.total) }),
  };
}

type Raw = Readonly<Record<string, unknown>>;

/** Returns the records of a page as items, preceded by new images and authors that they reference. */
async function entriesOf(walk: Walk, stage: PostStage, list: readonly Raw[]): Promise<Entry[]> {
  const core = await coreRecords(walk, stage, list);
  const detailedRecords = await Promise.all(list.map((raw) => withDetails(walk, stage, raw, core.get(Number(raw.id)))));
  const results = detailedRecords.map(({ raw, isChild }) => ({ isChild, record: raw && RECORDS[stage].safeParse(raw) }));
  const images = results.flatMap(({ record }) => (record?.success && record.data.image !== false ? [record.data.image] : []));
  const texts = results.flatMap(({ record }) =>
    record?.success ? [core.get(record.data.id)?.content?.raw ?? record.data.description] : [],
  );
  const media = await newMedia(walk, images, texts.flatMap(imageIdsIn));
  const authorEntries = await newAuthors(walk, [
    ...results.flatMap(({ record }) => (record?.success ? [Number(record.data.author)] : [])),
    ...media.map(({ core: mediaRecord }) => mediaRecord?.author ?? 0),
  ]);

  const entries: Entry[] = [...authorEntries];
  for (const { image, core: mediaRecord } of media)
    entries.push(
      imageItem(image, mediaRecord, mediaRecord ? walk.people.get(mediaRecord.author) : undefined, `${walk.site.home} image ${image.id}`),
    );
  for (const [place, { record, isChild }] of results.entries()) {
    const id = String(list[place]?.id);
    const recordPath = `${stage}/${id}`;
    if (record === undefined) entries.push(asWholeRecord(lossEntry(stage, 'protected', nameOf(list[place]!), recordPath)));
    else if (!record.success)
      entries.push(
        asWholeRecord(lossEntry(stage, 'site-record-unreadable', nameOf(list[place]!), recordPath, record.error.issues[0]?.path.join('.'))),
      );
    else {
      const { item, guessedMembers } = itemOf(walk, stage, record.data, core.get(Number(id)), recordPath);
      entries.push(withCoreMetas(item, core.get(Number(id))));
      if (isChild) entries.push(lossEntry(stage, 'site-parent-unknown', nameOf(list[place]!), recordPath));
      if (guessedMembers.length > 0)
        entries.push(lossEntry(stage, 'site-text-differs', nameOf(list[place]!), recordPath, guessedMembers.join(', ')));
    }
  }
  return entries;
}

function itemOf(
  { site, options, people }: Walk,
  stage: PostStage,
  record: { author: string },
  core: CoreRecord | undefined,
  place: string,
): LiveItem {
  const context = {
    settings: options.settings,
    home: site.home,
    freeWords: options.freeWords,
    place,
    author: people.get(Number(record.author)),
    core,
  };
  if (stage === 'events') return eventItem(record as Parameters<typeof eventItem>[0], context);
  return stage === 'venues'
    ? venueItem(record as Parameters<typeof venueItem>[0], context)
    : organizerItem(record as Parameters<typeof organizerItem>[0], context);
}

/** A record as its own URL returns it, if that was requested. */
interface DetailedRecord {
  /** Undefined if a password hides too much of it to be imported. */
  readonly raw: Raw | undefined;
  /** Whether its slug leads to another record. It then has a parent, which no route reveals. */
  readonly isChild: boolean;
}

/**
 * Completes a record with details that only its own URL returns: whether an event is cancelled, which matters until it
 * is over, and data that a password protects, if we know the password.
 */
async function withDetails({ site, options }: Walk, stage: PostStage, raw: Raw, core: CoreRecord | undefined): Promise<DetailedRecord> {
  const isBlanked = isHiddenByPassword(raw);
  if (isBlanked && !core?.password) return { raw: undefined, isChild: false };
  const end = String(raw.utc_end_date ?? '');
  if (!isBlanked && (stage !== 'events' || end < options.now.toISOString().slice(0, 19).replace('T', ' '))) return { raw, isChild: false };
  const query = isBlanked ? { password: core!.password! } : {};
  const [hasSlug, isPublic] = [typeof raw.slug === 'string' && raw.slug !== '', raw.status === 'publish'];
  const bySlug = hasSlug && isPublic && !isBlanked ? await site.get(`${stage}/by-slug/${String(raw.slug)}`, query) : undefined;
  const isIt = bySlug?.status === 200 && isJsonObject(bySlug.body) && bySlug.body.id === raw.id;
  const { status, body } = isIt ? bySlug : await site.get(`${stage}/${String(raw.id)}`, query);
  return { raw: status === 200 && isJsonObject(body) ? body : isBlanked ? undefined : raw, isChild: bySlug !== undefined && !isIt };
}

// ---------------------------------------------------------------------------------------- what WordPress adds
const CORE_PAGE_SIZE = 100;

/**
 * Requests records with these ids from one of WordPress's own lists. If the site lacks the list or denies it to us, it
 * is not requested again; after other failures, the next ids are tried.
 */
async function coreList({ site, unavailableRoutes }: Walk, route: string, ids: readonly number[], query: Query): Promise<unknown[]> {
  if (ids.length === 0) return [];
  const views = ['edit', 'view']
    .map((context) => [context, `${route} ${context}`] as const)
    .filter(([context, name]) => !unavailableRoutes.has(name) && (context === 'view' || site.credentials !== undefined));
  for (const [context, name] of views) {
    const answer = await site.request(`wp/v2/${route}`, {
      include: ids.join(','),
      per_page: CORE_PAGE_SIZE,
      context,
      ...query,
      ...(context === 'edit' && route.startsWith('tribe') ? { status: 'any' } : {}),
    });
    if (answer.status === 200 && Array.isArray(answer.body)) return answer.body;
    if (answer.status >= 400 && answer.status < 500) unavailableRoutes.add(name);
  }
  return [];
}

async function coreRecords(walk: Walk, stage: PostStage, list: readonly Raw[]): Promise<Map<number, CoreRecord>> {
  const route = postKind(KINDS[stage]).postType;
  const query = { _fields: 'id,guid,title,content,excerpt,password,meta,comment_status,ping_status' };
  const ids = list.map(({ id }) => Number(id));
  const listed = await coreList(walk, route, ids, query);
  const found = new Map(validEntries(coreRecord, listed).map((record) => [record.id, record]));
  for (const record of await pastRecords(
    walk,
    route,
    list.filter(({ id }) => !found.has(Number(id))),
    query,
  ))
    found.set(record.id, record);
  return found;
}

/** More than the difference of two zones, since the plugin compares in the zone of the site. */
const DAY_MS = 24 * 3600 * 1000;

/**
 * Requests each event that is over from its own URL, as somebody who may edit it: the plugin leaves past events out of
 * WordPress's list, even if they are named.
 */
async function pastRecords({ site, options, unavailableRoutes }: Walk, route: string, list: readonly Raw[], query: Query) {
  const tomorrow = new Date(options.now.getTime() + DAY_MS).toISOString().slice(0, 19).replace('T', ' ');
  const past = list.filter(({ utc_end_date: end }) => typeof end === 'string' && end !== '' && end < tomorrow);
  if (site.credentials === undefined || unavailableRoutes.has(`${route} edit`)) return [];
  const answers = await Promise.all(past.map(({ id }) => site.request(`wp/v2/${route}/${String(id)}`, { context: 'edit', ...query })));
  return validEntries(
    coreRecord,
    answers.flatMap(({ status, body }, place) => (status === 200 && isJsonObject(body) && body.id === past[place]?.id ? [body] : [])),
  );
}

/** Maximum number of images in the texts of one page of records, so that a hostile text causes few requests. */
const MAX_TEXT_IMAGES = 1000;

/** Returns images that were not yielded yet. `ids`: images in texts, of which only WordPress's own list knows more. */
async function newMedia(
  walk: Walk,
  shown: readonly LiveImage[],
  ids: readonly number[],
): Promise<{ image: LiveImage; core?: CoreMedia }[]> {
  const images = new Map(shown.map((one) => [one.id, one]));
  const newImages = [...new Set([...images.keys(), ...ids.slice(0, MAX_TEXT_IMAGES)])].filter((id) => !walk.images.has(id));
  const list: unknown[] = [];
  for (let at = 0; at < newImages.length; at += CORE_PAGE_SIZE)
    list.push(...(await coreList(walk, 'media', newImages.slice(at, at + CORE_PAGE_SIZE), {})));
  const mediaById = new Map(validEntries(coreMedia, list).map((media) => [media.id, media]));
  return newImages.flatMap((id) => {
    const core = mediaById.get(id);
    const image =
      images.get(id) ?? (core?.mime_type.startsWith('image/') ? { id, url: core.source_url, width: 0, height: 0, sizes: {} } : undefined);
    return image === undefined ? [] : [{ image, ...(core ? { core } : {}) }];
  });
}

/**
 * Yields authors that were not yielded yet. If the site does not show an author, this is reported, because the author's
 * records will belong to the user who imports.
 */
async function newAuthors(walk: Walk, ids: readonly number[]): Promise<Entry[]> {
  const newIds = [...new Set(ids)].filter((id) => id > 0 && !walk.people.has(id));
  const list = await coreList(walk, 'users', newIds, {});
  const entries: Entry[] = [];
  for (const { id, name, slug, username, email } of validEntries(corePerson, list)) {
    const login = username || slug;
    walk.people.set(id, login);
    entries.push({ kind: 'author', sourceId: login, id, login, email: email ?? '', displayName: name, metas: [] });
  }
  for (const id of newIds) {
    if (walk.people.has(id)) continue;
    walk.people.set(id, undefined);
    entries.push({ kind: 'loss', loss: { reason: 'site-author-unknown', kind: 'author', of: String(id) } });
  }
  return entries;
}

// ------------------------------------------------------------------------------------------------- hidden events

/** Returns events that WordPress's own list contains and the lists of the calendar do not. */
async function hiddenEventsPage(walk: Walk, page: number): Promise<Page> {
  const { site, events, dates } = walk;
  const answer = await site.request('wp/v2/tribe_events', {
    per_page: CORE_PAGE_SIZE,
    page,
    orderby: 'id',
    order: 'asc',
    _fields: 'id',
    ...(site.credentials === undefined ? {} : { status: 'any' }),
  });
  if (answer.status !== 200 || !Array.isArray(answer.body))
    return isListExhausted(walk, answer, page) ? EMPTY_PAGE : { ...EMPTY_PAGE, entries: [unreadListLoss(site, answer)] };
  const ids = answer.body.flatMap((one) => (isJsonObject(one) ? [Number(one.id)] : [])).filter((id) => !events.has(String(id)));
  const answers = await Promise.all(ids.map((id) => site.get(`events/${id}`)));
  const records = answers.flatMap(({ status, body }) => (status === 200 && isJsonObject(body) ? [body] : []));
  const failures = answers.flatMap(({ status }, place) =>
    status >= 500
      ? [asWholeRecord(lossEntry('events', 'site-record-unreadable', String(ids[place]), `events/${ids[place]}`, String(status)))]
      : [],
  );
  // WordPress's list contains the post of a recurring event, the calendar's lists contain its dates.
  const list = records.filter(({ slug, start_date: start }) => !dates.has(nameOfDate(slug, start)));
  return { entries: [...(await entriesOf(walk, 'events', list)), ...failures], isLast: answer.body.length < CORE_PAGE_SIZE };
}

/**
 * Whether a response means that WordPress's list of events has no more events for us: the page is beyond the last one,
 * or the site lacks the list or denies it to anonymous clients.
 */
const isListExhausted = ({ site }: Walk, { status }: SiteAnswer, page: number): boolean =>
  status === 404 || (status === 400 && page > 1) || (status >= 400 && status < 500 && site.credentials === undefined);

const unreadListLoss = ({ home }: RemoteSite, { status, body }: SiteAnswer): LossEntry => ({
  kind: 'loss',
  loss: { reason: 'site-list-unread', kind: 'source', of: home, detail: `${status} ${codeOf(body)}`.trim() },
});

const nameOfDate = (slug: unknown, start: unknown): string => `${String(slug)} ${String(start)}`;

// ------------------------------------------------------------------------------------------------- answers
/**
 * Returns the body of a list. An empty list is 404 in older versions of the plugin. Throws SourceFault `site-refused`,
 * `site-not-json`.
 */
function bodyOf(site: RemoteSite, { status, body }: SiteAnswer): Raw {
  if (status === 200 && isJsonObject(body)) return body;
  if (status === 404 && codeOf(body).endsWith('-archive-page-not-found')) return {};
  if (status === 200) throw new SourceFault('site-not-json', { site: site.home });
  throw new SourceFault('site-refused', { site: site.home, status, code: codeOf(body) });
}

/** Returns the valid entries of a list; others are ignored. */
const validEntries = <Value>(shape: z.ZodType<Value>, list: readonly unknown[]): Value[] =>
  list.flatMap((one) => {
    const { success, data } = shape.safeParse(one);
    return success ? [data] : [];
  });

const listIn = (body: Raw, name: string): Raw[] => (Array.isArray(body[name]) ? body[name].filter(isJsonObject) : []);

function nameOf({ title, venue, organizer, id }: Raw): string {
  const name = [title, organizer, venue].find((text) => typeof text === 'string' && text !== '');
  return String(name ?? id);
}

const lossEntry = (stage: PostStage, reason: string, of: string, place: string, detail?: string): LossEntry => ({
  kind: 'loss',
  loss: { reason, kind: KINDS[stage], of, place, ...(detail === undefined ? {} : { detail }) },
});

import { parseEventTime } from '../calendar/dates.ts';
import { fail, failParam, type ProblemName } from '../errors.ts';
import { storedDates } from '../kinds/event.ts';
import type { TermWish } from '../kinds/grammar.ts';
import { termKind } from '../kinds/index.ts';
import type { Before, Field, PostKind, Rows, Values } from '../kinds/kind.ts';
import { insertPrepared, type PreparedImage } from '../media/images.ts';
import type { Site } from '../site.ts';
import { loadMetas } from '../storage/bundle.ts';
import { noteEdges } from '../storage/calendar-edges.ts';
import { noteChange } from '../storage/changes.ts';
import { foldText } from '../storage/collation.ts';
import { type Database, lockNames } from '../storage/database.ts';
import { removeOccurrence, writeOccurrence } from '../storage/occurrences.ts';
import { findByTitle, insertPost, lockPost, removePost, slugsLike, updatePost, writeMetas } from '../storage/posts.ts';
import { keepRevision } from '../storage/revisions.ts';
import { recount, setTermsOf, termTaxonomyIdsOf } from '../storage/terms.ts';
import { postUrl } from '../wordpress/links.ts';
import { hasVisibleText } from '../wordpress/plain-text.ts';
import { metaOf, type Post } from '../wordpress/rows.ts';
import { settleSlug, uniqueSlug } from '../wordpress/slug.ts';
import { type SettledDates, settleDates, settleStatus } from '../wordpress/status.ts';
import { nowLocal, nowUtc, toLocal, toUtc, UTC, unixFromDate } from '../wordpress/time.ts';
import type { Caller } from './caller.ts';
import { keepIndexOf } from './list-index.ts';
import { fieldRows } from './post-rows.ts';
import { mayCreate, renderPost } from './posts.ts';
import type { LinkPlan } from './references.ts';
import { resolveTermWishes } from './term-wishes.ts';
import { mayDelete, mayEdit, seen } from './visibility.ts';

/** Rows that a write names beside the kind's own fields, already clean. `anew`: a venue or organizer is made even where one of its name exists. */
export interface Besides {
  readonly columns?: Partial<Post>;
  readonly metas?: Rows['metas'];
  readonly anew?: boolean;
}

/** Creates a record from accepted values. One transaction: all of it, with what it brings along, or nothing (decision D9). */
export async function createPost(site: Site, caller: Caller, kind: PostKind, values: Values): Promise<Record<string, unknown>> {
  return renderPost(site, caller, kind, await insertRecord(site, caller, kind, values));
}

/** The same, giving the id alone. */
export const insertRecord = (site: Site, caller: Caller, kind: PostKind, values: Values, besides: Besides = {}): Promise<number> =>
  written(site, values, (db) => writeNew(site, db, caller, kind, values, besides));

/** Changes what the values name of a record, and nothing else (decision D1). */
export async function changePost(site: Site, caller: Caller, kind: PostKind, id: number, values: Values): Promise<Record<string, unknown>> {
  await changeRecord(site, caller, kind, id, values);
  return renderPost(site, caller, kind, id);
}

/** The same without showing it. */
export async function changeRecord(
  site: Site,
  caller: Caller,
  kind: PostKind,
  id: number,
  values: Values,
  besides: Besides = {},
): Promise<void> {
  const rows = Object.keys({ ...besides.columns, ...besides.metas }).length > 0 || values.slug !== undefined;
  if (namesNothing(kind, values) && !rows) await existing(site.db, kind, id);
  else await written(site, values, (db) => writeChange(site, db, caller, kind, id, values, besides));
}

/** Deletes a record for good, whether it is in the trash or not. */
export async function deletePost(site: Site, caller: Caller, kind: PostKind, id: number): Promise<void> {
  await site.db.transaction(async (db) => deleteForGood(db, caller, kind, await existing(db, kind, id)));
}

/**
 * Puts a record into the trash, or deletes it for good where the site has no trash.
 *
 * @throws `{kind}-is-in-trash`
 */
export async function trashPost(site: Site, caller: Caller, kind: PostKind, id: number): Promise<Record<string, unknown>> {
  const record = await site.db.transaction(async (db) => {
    const row = await existing(db, kind, id);
    if (row.post_status === 'trash') return fail(`${kind.name}-is-in-trash` as ProblemName);
    if (site.config.emptyTrashDays > 0) {
      const metas = (await loadMetas(db, [id])).get(id) ?? new Map();
      await applyChange(db, caller, kind, { row, metas }, { status: 'trash' }, trashMetas(kind, row, caller.now));
    } else await deleteForGood(db, caller, kind, row);
    return null;
  });
  return record ?? renderPost(site, caller, kind, id);
}

// ------------------------------------------------------------------------------------------------- transactions
/** Runs a write as one transaction; files that were fetched for it are taken back when it fails. */
async function written(site: Site, values: Values, work: (db: Database) => Promise<number>): Promise<number> {
  try {
    return await site.db.transaction(work);
  } catch (error) {
    await Promise.all(preparedImages(values).map((image) => image.undo()));
    throw error;
  }
}

/** Images on disk that wait for their rows, in the values and in those of new linked records. */
const preparedImages = (values: Values): PreparedImage[] =>
  Object.values(values).flatMap((value) => {
    if (isPrepared(value)) return [value];
    return Array.isArray(value) ? value.flatMap((plan: LinkPlan) => (isPlan(plan) ? preparedImages(plan.values) : [])) : [];
  });

const isPrepared = (value: unknown): value is PreparedImage => value !== null && typeof value === 'object' && 'undo' in value;
const isPlan = (plan: unknown): plan is Extract<LinkPlan, { values: Values }> =>
  plan !== null && typeof plan === 'object' && 'values' in plan;

const namesNothing = (kind: PostKind, values: Values) => !Object.keys(values).some((name) => name in kind.fields);

/** The row of a record that is to be changed, kept from other writers. */
async function existing(db: Database, kind: PostKind, id: number): Promise<Post> {
  const row = await lockPost(db, id);
  if (row?.post_type === kind.postType) return row;
  if (kind.name !== 'event') return failParam('id');
  return fail(row ? 'rest-invalid-event-id' : 'rest-event-not-found');
}

// ------------------------------------------------------------------------------------------------- create
async function writeNew(site: Site, db: Database, caller: Caller, kind: PostKind, values: Values, besides: Besides = {}): Promise<number> {
  const { viewer } = caller;
  const image = await imageId(db, caller, values);
  const links = await linkRows(site, db, caller, kind, values);
  const own = fieldRows(kind, values, viewer.can('unfiltered_html'));
  const title = own.columns.post_title ?? '';
  if (!hasVisibleText(title)) fail(kind.name === 'event' ? 'empty_content' : (`could-not-create-${kind.name}` as ProblemName));

  mayGiveTo(caller, kind, own.columns.post_author, viewer.id);

  if (kind.name !== 'event' && !besides.anew) {
    const known = await knownByTitle(db, caller, kind, title, own.columns.post_content);
    if (known) {
      await applyMetas(db, caller, kind, known, values, { ...own, columns: {} }, { ...links, ...thumbnail(values, image) });
      return known.row.ID;
    }
  }

  const follows = kind.follows(values, undefined, caller);
  const dates = settledDates(caller, kind, values, undefined);
  const { slug, unique } = settleSlug({
    sent: sentSlug(values),
    title,
    status: dates.status,
    canPublish: viewer.can(`publish_${kind.capabilities}`),
    draftsToo: kind.name !== 'event',
  });
  const columns: Partial<Post> = {
    post_author: viewer.id,
    ...own.columns,
    ...follows.columns,
    ...besides.columns,
    ...dateColumns(dates),
    post_type: kind.postType,
    post_name: unique ? await freeSlug(db, kind, slug, 0) : slug,
  };
  const id = await insertPost(db, columns);
  const row = {
    post_content: '',
    post_excerpt: '',
    ...columns,
    ID: id,
    post_name: columns.post_name || (unique ? String(id) : ''),
  } as Post;
  await updatePost(db, id, {
    guid: postUrl(guidPlace(caller), row),
    ...(row.post_name === columns.post_name ? {} : { post_name: row.post_name }),
  });
  await writeMetas(db, id, { ...own.metas, ...follows.metas, ...links, ...thumbnail(values, image), ...besides.metas });
  // WordPress sets the place of a sticky event by a second save, which keeps the texts.
  if (row.menu_order) await keepRevision(db, row, viewer.id, caller.settings.home);
  await afterWrite(db, caller, kind, { row, metas: new Map() }, dates, values, follows);
  return id;
}

/**
 * A venue or organizer of this name that the caller may edit: it is used instead of making a second one (decision D8; contract 4.5). Two
 * requests at once find each other's.
 */
async function knownByTitle(
  db: Database,
  { viewer }: Caller,
  kind: PostKind,
  title: string,
  content: string | undefined,
): Promise<Before | undefined> {
  await lockNames(db, [`${kind.postType}:title:${foldText(title)}`]);
  for (const id of await findByTitle(db, kind.postType, title, content || undefined)) {
    const row = await lockPost(db, id);
    const metas = (await loadMetas(db, [id])).get(id) ?? new Map();
    if (row && mayEdit(viewer, seen(row, metas))) return { row, metas };
  }
  return undefined;
}

// ------------------------------------------------------------------------------------------------- change
async function writeChange(
  site: Site,
  db: Database,
  caller: Caller,
  kind: PostKind,
  id: number,
  values: Values,
  besides: Besides = {},
): Promise<number> {
  const row = await existing(db, kind, id);
  const metas = (await loadMetas(db, [id])).get(id) ?? new Map<string, string[]>();
  const image = await imageId(db, caller, values);
  const links = await linkRows(site, db, caller, kind, values);
  await applyChange(db, caller, kind, { row, metas }, values, { ...links, ...thumbnail(values, image), ...besides.metas }, besides.columns);
  return id;
}

/** Writes what the values come to on an existing record. `extra`: metas that were resolved before; `beside`: columns that are no fields. */
async function applyChange(
  db: Database,
  caller: Caller,
  kind: PostKind,
  before: Before,
  values: Values,
  extra: Rows['metas'] = {},
  beside: Partial<Post> = {},
): Promise<void> {
  const { viewer } = caller;
  const { row, metas } = before;
  const own = fieldRows(kind, values, viewer.can('unfiltered_html'));
  if (own.columns.post_title !== undefined && !hasVisibleText(own.columns.post_title))
    failParam(kind.titleField, { stage: 'value', reason: 'title-without-text' });
  mayGiveTo(caller, kind, own.columns.post_author, row.post_author);

  const dates = settledDates(caller, kind, values, before);
  const { slug, unique } = settleSlug({
    sent: sentSlug(values),
    title: own.columns.post_title ?? row.post_title,
    status: dates.status,
    before: { status: row.post_status, slug: row.post_name },
    desired: metaOf(metas, '_wp_desired_post_slug'),
    canPublish: viewer.can(`publish_${kind.capabilities}`),
    draftsToo: kind.name !== 'event',
  });
  const post_name = (unique && slug !== row.post_name ? await freeSlug(db, kind, slug, row.ID) : slug) || (unique ? String(row.ID) : '');
  const columns = { ...own.columns, ...beside, ...dateColumns(dates), post_name };
  await updatePost(db, row.ID, columns);
  await keepRevision(db, { ...row, ...columns }, viewer.id, caller.settings.home);
  await applyMetas(
    db,
    caller,
    kind,
    { row: { ...row, ...columns }, metas },
    values,
    own,
    { ...extra, ...slugMetas(before, columns.post_name, dates.status) },
    before,
    dates,
  );
}

/** Metas of an existing record, and what depends on them. */
async function applyMetas(
  db: Database,
  caller: Caller,
  kind: PostKind,
  after: Before,
  values: Values,
  own: Rows,
  extra: Rows['metas'],
  before = after,
  dates?: SettledDates,
): Promise<void> {
  const follows = kind.follows(values, before, caller);
  await writeMetas(db, after.row.ID, { ...own.metas, ...follows.metas, ...extra });
  await afterWrite(db, caller, kind, after, dates, values, follows, before.row.post_status);
}

/** What WordPress and the calendar note of a post that is deleted into the trash (`wp_trash_post`); one whose status merely becomes `trash` gets none of it. */
const trashMetas = (kind: PostKind, row: Post, now: Date): Rows['metas'] => ({
  _wp_trash_meta_status: [row.post_status],
  _wp_trash_meta_time: [String(unixFromDate(now))],
  ...(kind.name === 'event' ? { _tribe_ignored_event_previous_status: [row.post_status] } : {}),
});

/** WordPress's bookkeeping about slugs: the one to come back to from the trash, and those that old links still use. */
function slugMetas({ row, metas }: Before, slug: string, status: string): Rows['metas'] {
  const changed: Record<string, readonly string[]> = {};
  if (status === 'trash' && row.post_status !== 'trash' && row.post_name !== '') changed._wp_desired_post_slug = [row.post_name];
  if (status !== 'trash' && row.post_status === 'trash') changed._wp_desired_post_slug = [];
  if (status === 'publish' && row.post_status === 'publish' && slug !== row.post_name && row.post_name !== '') {
    changed._wp_old_slug = [...(metas.get('_wp_old_slug') ?? []).filter((old) => old !== slug && old !== row.post_name), row.post_name];
  }
  return changed;
}

async function deleteForGood(db: Database, caller: Caller, kind: PostKind, row: Post): Promise<void> {
  const counted = await termTaxonomyIdsOf(db, [row.ID], taxonomiesOf(kind));
  await removePost(db, row.ID);
  if (kind.dated && caller.settings.occurrenceTables) await removeOccurrence(db, row.ID);
  await recount(db, counted);
  if (kind.dated) await keepIndexOf(db, caller, [row.ID]);
  await noteChange(db, caller.now);
}

// ------------------------------------------------------------------------------------------------- pieces
/** Status and dates that the request comes to (decisions D1, D33, D36). */
function settledDates({ viewer, settings, now }: Caller, kind: PostKind, values: Values, before: Before | undefined): SettledDates {
  const requested = typeof values.status === 'string' ? values.status : undefined;
  const canDelete = before ? mayDelete(viewer, seen(before.row, before.metas)) : viewer.can(`delete_${kind.capabilities}`);
  const settled = settleStatus({ requested, before: before?.row.post_status, canPublish: viewer.can('publish_tribe_events'), canDelete });
  if ('problem' in settled) return settled.problem === 'status-needs-delete' ? forbidden(viewer.id) : failParam('status');
  const local = (name: string) =>
    values[name] === undefined ? undefined : (parseEventTime(values[name] as string, { zone: settings.zone, now }) ?? failParam(name));
  const zone = settings.zone;
  return settleDates({
    ...settled,
    date: local('date'),
    dateUtc: utcDate(values.date_utc, now),
    before: before && { status: before.row.post_status, date: before.row.post_date, dateUtc: before.row.post_date_gmt },
    now: { local: nowLocal(now, zone), utc: nowUtc(now) },
    toUtc: (text) => toUtc(text, zone),
    toLocal: (text) => toLocal(text, zone),
  });
}

const utcDate = (sent: unknown, now: Date) =>
  sent === undefined ? undefined : (parseEventTime(sent as string, { zone: UTC, now }) ?? failParam('date_utc'));

const dateColumns = ({ status, post_date, post_date_gmt, post_modified, post_modified_gmt }: SettledDates) => ({
  post_status: status,
  post_date,
  post_date_gmt,
  post_modified,
  post_modified_gmt,
});

const sentSlug = (values: Values) => (typeof values.slug === 'string' ? values.slug : undefined);

/** A record may be given to somebody else only by those who edit other people's (decision D34). */
function mayGiveTo({ viewer }: Caller, kind: PostKind, author: number | undefined, present: number): void {
  if (author !== undefined && author !== present && author !== viewer.id && !viewer.can(`edit_others_${kind.capabilities}`))
    forbidden(viewer.id);
}

const forbidden = (viewer: number): never => fail('rest_forbidden', { status: viewer === 0 ? 401 : 403 });

/** A slug that no other post of the type has. Requests at the same time wait for each other. */
async function freeSlug(db: Database, kind: PostKind, slug: string, id: number): Promise<string> {
  if (slug === '') return '';
  await lockNames(db, [`${kind.postType}:slug:${slug}`]);
  return uniqueSlug(slug, await slugsLike(db, kind.postType, slug, id));
}

const guidPlace = ({ settings }: Caller) => ({
  home: settings.home,
  permalinkStructure: settings.permalinkStructure,
  singleEventSlug: settings.calendar.singleEventSlug,
});

/** Id of the image to link, inserting one that was fetched; null clears; undefined: none was named. */
async function imageId(db: Database, { viewer, now, settings }: Caller, { image }: Values): Promise<number | null | undefined> {
  return isPrepared(image) ? insertPrepared(db, image, viewer.id, now, settings.zone) : (image as number | null | undefined);
}

const thumbnail = (values: Values, image: number | null | undefined): Rows['metas'] =>
  'image' in values ? { _thumbnail_id: image ? [String(image)] : [] } : {};

/** Metas of the named links; new venues and organizers are written first, in the same transaction. */
async function linkRows(site: Site, db: Database, caller: Caller, kind: PostKind, values: Values): Promise<Rows['metas']> {
  const rows: Record<string, string[]> = {};
  for (const [name, field] of Object.entries<Field>(kind.fields)) {
    if (field.place.in !== 'links' || !(name in values)) continue;
    const ids: number[] = [];
    for (const plan of (values[name] ?? []) as readonly LinkPlan[]) {
      if (isPlan(plan) && !mayCreate(caller, plan.kind)) forbidden(caller.viewer.id);
      ids.push(isPlan(plan) ? await writeNew(site, db, caller, plan.kind, plan.values) : plan.id);
    }
    rows[field.place.key] = [...new Set(ids)].map(String);
  }
  return rows;
}

const taxonomiesOf = (kind: PostKind) => kind.terms.map((name) => termKind(name).taxonomy);

/** Terms and their counts, the calendar's rows, the change counter. */
async function afterWrite(
  db: Database,
  caller: Caller,
  kind: PostKind,
  { row }: Before,
  dates: SettledDates | undefined,
  values: Values,
  follows: Rows,
  statusBefore = '',
): Promise<void> {
  const changed: number[] = [];
  for (const [name, field] of Object.entries<Field>(kind.fields)) {
    if (field.place.in !== 'terms' || !(name in values)) continue;
    const ids = await resolveTermWishes(db, caller, field.place.kind, (values[name] ?? []) as readonly TermWish[]);
    changed.push(...(await setTermsOf(db, row.ID, termKind(field.place.kind).taxonomy, ids)));
  }
  const status = dates?.status ?? row.post_status;
  const published = (status === 'publish') !== (statusBefore === 'publish');
  const counted = published ? [...changed, ...(await termTaxonomyIdsOf(db, [row.ID], taxonomiesOf(kind)))] : changed;
  await recount(db, counted);

  if (kind.dated && Object.keys(follows.metas).some((key) => DATE_METAS.has(key))) {
    const metas = (await loadMetas(db, [row.ID])).get(row.ID) ?? new Map();
    if (caller.settings.occurrenceTables) await writeOccurrence(db, row.ID, storedDates({ metas }), nowUtc(caller.now));
  }
  if (kind.dated && caller.settings.occurrenceTables) await noteEdges(db, row.ID);
  if (kind.dated) await keepIndexOf(db, caller, [row.ID]);
  await noteChange(db, caller.now);
}

/** Metas whose change makes the calendar write its rows anew. */
const DATE_METAS = new Set([
  '_EventStartDate',
  '_EventEndDate',
  '_EventStartDateUTC',
  '_EventEndDateUTC',
  '_EventDuration',
  '_EventTimezone',
  '_EventAllDay',
]);

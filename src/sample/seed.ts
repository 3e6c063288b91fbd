import { postKind, termKind } from '../kinds/index.ts';
import type { PostKindName, TermKindName } from '../kinds/kind.ts';
import { drawnPicture } from '../media/drawing.ts';
import { insertPrepared, type PreparedImage, prepareUpload } from '../media/images.ts';
import { createBlogPost } from '../records/blog-posts.ts';
import type { Caller } from '../records/caller.ts';
import { acceptParams } from '../records/input.ts';
import { createPost } from '../records/post-writes.ts';
import { withFiles } from '../records/prepared-images.ts';
import { createTerm } from '../records/terms.ts';
import { type Site, withinTransaction } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import { lockNames } from '../storage/rows/locks.ts';
import { readOptions, writeOption } from '../storage/rows/options.ts';
import { addSeconds, nowLocal, nowUtc } from '../wordpress/time.ts';
import { dayOf, shifted } from './days.ts';
import type { SampleEvent } from './event.ts';
import { sampleEvents } from './events.ts';
import { type PictureName, pictures } from './pictures.ts';
import { blog, categories, organizers, type SampleTerm, tags, venues } from './places.ts';

/** Runs the writing while it shows how far it is, of `total` steps. */
export type Watched = (total: number, work: (done: (steps: number) => void) => Promise<void>) => Promise<void>;

/**
 * Writes the sample calendar, a year in a small Italian town around the present day, through the verbs of the API. All
 * of it in one transaction, or nothing.
 *
 * @returns how many events it has; 0 where it was there already
 */
export async function seedSample(site: Site, caller: Caller, watched: Watched = (_total, work) => work(() => undefined)): Promise<number> {
  if (await isSeeded(site.db)) return 0;
  let count = 0;
  await watched(Object.keys(pictures).length + sampleEvents.length, async (done) => {
    const images = await drawImages(site, caller, done);
    const undo = () => undoAll(images);
    count = await withFiles(() => site.db.transaction((db) => writeSample(withinTransaction(site, db), caller, images, done)), undo);
    if (count === 0) await undo();
  });
  return count;
}

/** Whether the sample calendar is in the database, or was. */
const isSeeded = async (db: Database): Promise<boolean> => (await readOptions(db, [OPTION])).has(OPTION);

/** Says when the sample calendar was written. */
const OPTION = 'fasti_sample';

type Images = ReadonlyMap<PictureName, PreparedImage>;
type Ids = ReadonlyMap<string, number>;

// ------------------------------------------------------------------------------------------------- pictures
async function drawImages(site: Site, caller: Caller, done: (steps: number) => void): Promise<Images> {
  const images = new Map<PictureName, PreparedImage>();
  try {
    for (const [name, { alt, svg }] of Object.entries(pictures) as [PictureName, (typeof pictures)[PictureName]][]) {
      const prepared = await prepareUpload(await drawnPicture(svg()), `selvachiara-${name}.jpg`, site, caller);
      if (prepared) images.set(name, described(prepared, alt));
      done(1);
    }
  } catch (error) {
    await undoAll(images);
    throw error;
  }
  return images;
}

const undoAll = (images: Images) => Promise.all([...images.values()].map((image) => image.undo()));

/** With a title and the text for those who cannot see it. */
const described = (image: PreparedImage, alt: string): PreparedImage => ({
  ...image,
  attachment: { ...image.attachment, title: alt, metas: { ...image.attachment.metas, _wp_attachment_image_alt: [alt] } },
});

// ------------------------------------------------------------------------------------------------- records
async function writeSample(site: Site, caller: Caller, images: Images, done: (steps: number) => void): Promise<number> {
  await lockNames(site.db, [OPTION]);
  if (await isSeeded(site.db)) return 0;
  const imageIds = new Map<string, number>();
  for (const [name, image] of images)
    imageIds.set(name, await insertPrepared(site.db, image, caller.viewer.id, caller.now, caller.settings.zone));

  await writeTerms(site, caller, 'category', categories);
  const tagIds = await writeTerms(site, caller, 'tag', tags);
  const ids = new Map<string, number>();
  for (const { key, picture, fields } of venues)
    ids.set(key, await write(site, caller, 'venue', { ...fields, ...imageField(picture, imageIds) }));
  for (const { key, fields } of organizers) ids.set(key, await write(site, caller, 'organizer', fields));
  for (const [place, event] of sampleEvents.entries()) {
    await write(site, caller, 'event', {
      ...eventFields(event, caller, ids),
      ...imageField(event.picture, imageIds),
      date: writtenAt(caller, place),
    });
    done(1);
  }
  await writeBlog(site.db, caller, tagIds);
  await writeOption(site.db, OPTION, nowUtc(caller.now), 'off');
  return sampleEvents.length;
}

async function write(site: Site, caller: Caller, name: PostKindName, raw: Readonly<Record<string, unknown>>): Promise<number> {
  const kind = postKind(name);
  const { record } = await createPost(site, caller, kind, await acceptParams(site, caller, kind.fields, raw, 'create'));
  return Number(record.id);
}

/** Writes the terms that are not there yet, children below their parents. Gives the ids by slug. */
async function writeTerms(site: Site, caller: Caller, name: TermKindName, terms: readonly SampleTerm[], parent = 0): Promise<Ids> {
  const ids = new Map<string, number>();
  for (const { slug, name: words, description = '', children = [] } of terms) {
    const raw = { name: words, slug, description, ...(parent > 0 ? { parent } : {}) };
    const { id } = await createTerm(site, caller, termKind(name), await acceptParams(site, caller, termKind(name).fields, raw, 'create'));
    ids.set(slug, id);
    for (const [below, its] of await writeTerms(site, caller, name, children, id)) ids.set(below, its);
  }
  return ids;
}

const imageField = (picture: PictureName | undefined, ids: Ids) => (picture && ids.has(picture) ? { image: ids.get(picture) } : {});

function eventFields(event: SampleEvent, { now, settings }: Caller, ids: Ids): Record<string, unknown> {
  const { at, until = '23:59', days = 1 } = event;
  const first = dayOf(event.when, nowLocal(now, settings.zone).slice(0, 10));
  const last = shifted(first, days - 1 + (at !== undefined && until < at ? 1 : 0));
  return {
    title: event.title,
    description: event.text,
    ...(at === undefined
      ? { all_day: true, start_date: first, end_date: last }
      : { start_date: `${first} ${at}:00`, end_date: `${last} ${until}:00` }),
    ...(event.venue === undefined ? {} : { venue: ids.get(event.venue) }),
    organizer: event.by.map((key) => ids.get(key)),
    categories: [...event.in],
    tags: [...(event.tags ?? [])],
    show_map: true,
    show_map_link: true,
    ...(event.cost === undefined ? {} : { cost: event.cost }),
    ...event.more,
  };
}

/** One was written some hours before the other. */
const SECONDS_BETWEEN = 7 * 3600;
const writtenAt = ({ now, settings }: Caller, place: number): string =>
  addSeconds(nowLocal(now, settings.zone), -SECONDS_BETWEEN * (place + 1));

/** Posts of the blog carry the same tags: their counts are of both. */
async function writeBlog(db: Database, caller: Caller, tagIds: Ids): Promise<void> {
  const date = addSeconds(nowLocal(caller.now, caller.settings.zone), -SECONDS_BETWEEN);
  for (const { title, text, tags: slugs } of blog) {
    const tags = slugs.map((slug) => tagIds.get(slug)!);
    await createBlogPost(db, caller, { title, text, date, tags });
  }
}

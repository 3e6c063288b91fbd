import { ApiError } from '../errors.ts';
import { kindOnSite } from '../kinds/custom-fields.ts';
import { postKind, termKind } from '../kinds/index.ts';
import type { TermKind } from '../kinds/kind.ts';
import type { PostKindName, TermKindName } from '../kinds/kind-names.ts';
import { renderDrawing } from '../media/drawing.ts';
import { insertPrepared, type PreparedImage, prepareUpload } from '../media/images.ts';
import type { Caller } from '../records/caller.ts';
import { acceptParams } from '../records/input.ts';
import { addSiteLanguage } from '../records/site-languages.ts';
import { termsInLanguage } from '../records/term-languages.ts';
import { createTerm } from '../records/terms.ts';
import { createPost } from '../records/writes/post-writes.ts';
import { withFileCleanup } from '../records/writes/prepared-images.ts';
import { type Site, withinTransaction } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import { publishedIds } from '../storage/lists/posts-of-type.ts';
import { lockNames } from '../storage/rows/locks.ts';
import { readOptions, writeOption } from '../storage/rows/options.ts';
import { typedEntries } from '../typed-keys.ts';
import { storedText } from '../wordpress/php/serialized.ts';
import { addDaysTo, addSeconds, utcFromDate } from '../wordpress/time.ts';
import { localFromDate } from '../wordpress/zones.ts';
import { createBlogPost } from './blog-post.ts';
import { dayOf } from './days.ts';
import { LANGUAGES, type SampleEvent, type SampleLanguage } from './event.ts';
import { sampleEvents } from './events.ts';
import { type PictureName, pictures } from './pictures.ts';
import { blog, categories, organizers, type SampleTerm, tags, venues } from './places.ts';

/** Runs a task of `total` steps and shows its progress. */
export type WithProgress = (total: number, work: (advance: (steps: number) => void) => Promise<void>) => Promise<void>;

/**
 * Writes the sample calendar: a year in a small Italian town around the current day, with each record in English and in
 * Italian. It uses the functions behind the API, in one transaction.
 *
 * @returns the number of events; 0 if the sample calendar exists already
 */
export async function seedSample(
  site: Site,
  caller: Caller,
  withProgress: WithProgress = (_total, work) => work(() => undefined),
): Promise<number> {
  if (await isSeeded(site.db)) return 0;
  let count = 0;
  await withProgress(Object.keys(pictures).length + sampleEvents.length, async (advance) => {
    const images = await drawImages(site, caller, advance);
    const undo = () => undoAll(images);
    const work = (trackedSite: Site) =>
      trackedSite.db.transaction((db) => writeSample(withinTransaction(trackedSite, db), caller, images, advance));
    count = await withFileCleanup(site, work, undo);
    if (count === 0) await undo();
  });
  return count;
}

/** Whether the sample calendar was written to this database, even if it was deleted since. */
const isSeeded = async (db: Database): Promise<boolean> => (await readOptions(db, [SAMPLE_OPTION])).has(SAMPLE_OPTION);

/** Option with the time at which the sample calendar was written. */
const SAMPLE_OPTION = 'fasti_sample';

type Images = ReadonlyMap<PictureName, PreparedImage>;
type Ids = ReadonlyMap<string, number>;

// ------------------------------------------------------------------------------------------------- pictures
/** Draws all pictures at once, and returns them in their order. If one cannot be stored, none remains. */
async function drawImages(site: Site, caller: Caller, advance: (steps: number) => void): Promise<Images> {
  const drawings = typedEntries(pictures);
  const images = new Map<PictureName, PreparedImage>();
  const draw = async ([name, { alt, svg }]: (typeof drawings)[number]) => {
    const image = await prepareUpload(site, caller, { bytes: await renderDrawing(svg()), name: `selvachiara-${name}.jpg` });
    if (image) images.set(name, withTitleAndAlt(image, alt));
    advance(1);
  };
  // The first one creates the folder, from which the files of the others take their permissions.
  const outcomes = await Promise.allSettled(drawings.slice(0, 1).map(draw));
  outcomes.push(...(await Promise.allSettled(drawings.slice(1).map(draw))));
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure) {
    await undoAll(images);
    throw failure.reason;
  }
  const order = drawings.map(([name]) => name);
  return new Map([...images].sort(([one], [other]) => order.indexOf(one) - order.indexOf(other)));
}

const undoAll = (images: Images) => Promise.all([...images.values()].map((image) => image.undo()));

/** Adds a title and the alternative text. */
const withTitleAndAlt = (image: PreparedImage, alt: string): PreparedImage => ({
  ...image,
  attachment: { ...image.attachment, title: alt, metas: { ...image.attachment.metas, _wp_attachment_image_alt: [storedText(alt)] } },
});

// ------------------------------------------------------------------------------------------------- records
async function writeSample(site: Site, caller: Caller, images: Images, advance: (steps: number) => void): Promise<number> {
  await lockNames(site.db, [SAMPLE_OPTION]);
  if (await isSeeded(site.db)) return 0;
  const imageIds = new Map<string, number>();
  for (const [name, image] of images) imageIds.set(name, await insertPrepared(site.db, image, caller));

  const writing = await createWriteContext(site, caller);
  const categoryIds = await writeTerms(writing, 'category', categories);
  const tagIds = await writeTerms(writing, 'tag', tags);
  const ids = new Map<string, number>();
  for (const { key, picture, fields, italian } of venues) {
    const texts = { en: fields, it: { ...fields, ...italian } };
    ids.set(key, await writeInLanguages(writing, 'venue', texts, imageField(picture, imageIds)));
  }
  for (const { key, fields, italian } of organizers)
    ids.set(key, await writeInLanguages(writing, 'organizer', { en: fields, it: { ...fields, ...italian } }));
  for (const [index, event] of sampleEvents.entries()) {
    const terms = { categories: idsOf(event.categories, categoryIds), tags: idsOf(event.tags ?? [], tagIds) };
    const fields = {
      ...eventFields(event, caller, ids),
      ...terms,
      ...imageField(event.picture, imageIds),
      date: publicationDate(caller, index),
    };
    await writeInLanguages(writing, 'event', textsOf(event), fields, event.language);
    advance(1);
  }
  await writeBlog(site.db, caller, tagIds);
  await writeOption(site.db, SAMPLE_OPTION, storedText(utcFromDate(caller.now)), 'off');
  return sampleEvents.length;
}

/** Context of writing. `codes`: languages in which records are written; empty if content has no languages. */
interface WriteContext {
  readonly site: Site;
  readonly caller: Caller;
  readonly codes: readonly SampleLanguage[];
}

/**
 * Returns the context. A calendar without events gets the languages of the sample; in others, only those of its
 * languages are used.
 */
async function createWriteContext(site: Site, caller: Caller): Promise<WriteContext> {
  const { contentLanguages, shared } = await site.settings();
  const mayAddLanguages = !contentLanguages && !shared && site.config.contentLanguages !== 'off';
  if (mayAddLanguages && (await publishedIds(site.db, postKind('event').postType, 1)).length === 0)
    for (const code of LANGUAGES) await addSiteLanguage(site, { code });
  const settings = await site.settings();
  const siteCodes = settings.contentLanguages?.languages.map(({ code }) => code) ?? [];
  return { site, caller: { ...caller, settings }, codes: LANGUAGES.filter((code) => siteCodes.includes(code)) };
}

/** Texts of a record by language. */
type TextsByLanguage = Readonly<Record<SampleLanguage, Readonly<Record<string, unknown>>>>;

/**
 * Writes a record in each language; all others are translations of the first. Returns the id of the first one. `first`:
 * its original language.
 */
async function writeInLanguages(
  writing: WriteContext,
  name: PostKindName,
  texts: TextsByLanguage,
  fields: Fields = {},
  first: SampleLanguage = 'en',
): Promise<number> {
  const { site, caller, codes } = writing;
  const kind = kindOnSite(postKind(name), caller.settings);
  const create = async (raw: Fields) => {
    const { record } = await createPost(site, caller, kind, await acceptParams(site, caller, kind.fields, raw, 'create'));
    return Number(record.id);
  };
  if (codes.length === 0) return create({ ...fields, ...texts[first] });
  const [original, ...otherLanguages] = codes.toSorted((one, other) => Number(other === first) - Number(one === first));
  const id = await create({ ...fields, ...texts[original!], language: original });
  for (const language of otherLanguages) await create({ ...fieldsOfTranslation(fields), ...texts[language], language, translation_of: id });
  return id;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Removes the fields that a translation takes from its original: its venue, organizers and terms, in its own language.
 */
const fieldsOfTranslation = ({ venue: _, organizer: __, categories: ___, tags: ____, ...fields }: Fields): Fields => fields;

/**
 * Writes terms that do not exist yet, children below their parents. Returns ids by slug, including those of existing
 * terms.
 */
async function writeTerms(writing: WriteContext, name: TermKindName, terms: readonly SampleTerm[], parents: Parents = {}): Promise<Ids> {
  const { caller, codes } = writing;
  const kind = kindOnSite(termKind(name), caller.settings);
  const ids = new Map<string, number>();
  for (const { slug, name: english, description, italian, children } of terms) {
    const texts: TextsByLanguage = { en: { name: english, slug, description }, it: italian };
    const termIds: Parents = {};
    let existingId: number | undefined;
    for (const language of codes.length === 0 ? ([undefined] as const) : codes) {
      const parent = parents[language ?? 'en'];
      const [source] = Object.values(termIds);
      const raw = {
        ...texts[language ?? 'en'],
        ...(parent === undefined ? {} : { parent }),
        ...(language === undefined ? {} : { language }),
        ...(source === undefined ? {} : { translation_of: source }),
      };
      const { id, isNew } =
        existingId === undefined ? await writeTerm(writing, kind, raw) : await translationOfTerm(writing, kind, existingId, language!);
      if (!isNew) existingId = id;
      termIds[language ?? 'en'] = id;
      if (!ids.has(slug)) ids.set(slug, id);
    }
    for (const [childSlug, childId] of await writeTerms(writing, name, children, termIds)) ids.set(childSlug, childId);
  }
  return ids;
}

interface WrittenTerm {
  readonly id: number;
  /** Whether it was created. */
  readonly isNew: boolean;
}

/** Creates a term, or returns the existing one with the same name and slug. */
async function writeTerm({ site, caller }: WriteContext, kind: TermKind, raw: Fields): Promise<WrittenTerm> {
  try {
    const { id } = await createTerm(site, caller, kind, await acceptParams(site, caller, kind.fields, raw, 'create'));
    return { id, isNew: true };
  } catch (error) {
    if (error instanceof ApiError && error.problem === 'term_exists') return { id: Number(error.details.data?.term_id), isNew: false };
    throw error;
  }
}

/** Returns the translation of an existing term, or the term itself if it needs none. */
async function translationOfTerm({ site, caller }: WriteContext, kind: TermKind, id: number, code: SampleLanguage): Promise<WrittenTerm> {
  const language = caller.settings.contentLanguages?.languages.find((one) => one.code === code);
  const [translation = id] = await termsInLanguage(site.db, caller, kind, [id], language);
  return { id: translation, isNew: false };
}

/** Returns ids for keys, since a slug may belong to another term of the site. */
const idsOf = (keys: readonly string[], ids: Ids) => keys.map((key) => ids.get(key));

/** A term in each language. */
type Parents = { [Language in SampleLanguage]?: number };

const imageField = (picture: PictureName | undefined, ids: Ids) => (picture && ids.has(picture) ? { image: ids.get(picture) } : {});

function eventFields(event: SampleEvent, { now, settings }: Caller, ids: Ids): Record<string, unknown> {
  const { startTime, endTime = '23:59', days = 1 } = event;
  const first = dayOf(event.day, localFromDate(now, settings.zone).slice(0, 10));
  const last = addDaysTo(first, days - 1 + (startTime !== undefined && endTime < startTime ? 1 : 0));
  return {
    ...(startTime === undefined
      ? { all_day: true, start_date: first, end_date: last }
      : { start_date: `${first} ${startTime}:00`, end_date: `${last} ${endTime}:00` }),
    ...(event.venue === undefined ? {} : { venue: ids.get(event.venue) }),
    organizer: idsOf(event.organizers, ids),
    show_map: true,
    show_map_link: true,
    ...(event.cost === undefined ? {} : { cost: event.cost }),
    ...event.extraFields,
  };
}

const textsOf = ({ language, title, description: originalDescription, extraFields, translation }: SampleEvent): TextsByLanguage => {
  const originalTexts = {
    title,
    description: originalDescription,
    ...(extraFields?.excerpt === undefined ? {} : { excerpt: extraFields.excerpt }),
  };
  const { description, ...otherTexts } = translation;
  return language === 'en'
    ? { en: originalTexts, it: { ...otherTexts, description } }
    : { it: originalTexts, en: { ...otherTexts, description } };
};

/** Time between the publication dates of two events. */
const PUBLICATION_INTERVAL_S = 7 * 3600;
const publicationDate = ({ now, settings }: Caller, place: number): string =>
  addSeconds(localFromDate(now, settings.zone), -PUBLICATION_INTERVAL_S * (place + 1));

/** Writes the blog posts. They have the same tags, so that the tags' counts include both. */
async function writeBlog(db: Database, caller: Caller, tagIds: Ids): Promise<void> {
  const date = addSeconds(localFromDate(caller.now, caller.settings.zone), -PUBLICATION_INTERVAL_S);
  for (const { title, text, tags: slugs } of blog) {
    const tags = slugs.map((slug) => tagIds.get(slug)!);
    await createBlogPost(db, caller, { title, text, date, tags });
  }
}

import { imageIdsIn } from '../../wordpress/content/render.ts';
import { type Entry, titleOf } from '../items/items.ts';
import { asWholeRecord, lossEntry } from '../items/report.ts';
import { newAuthors } from './authors.ts';
import { coreRecords } from './core-lists.ts';
import { imageItem } from './image-items.ts';
import { newMedia, type ShownImage } from './images.ts';
import { eventItem, keepingStored, type LiveContext, type LiveItem, organizerItem, venueItem, withCoreMetas } from './items.ts';
import { withDetails } from './record-details.ts';
import { nameOf, type PostStage, recordLoss } from './record-losses.ts';
import { type LiveEvent, type LivePost, RECORDS } from './records.ts';
import type { JsonObject } from './site-client.ts';
import type { SiteFacts } from './site-facts.ts';
import type { Walk } from './walk.ts';

/** Returns the records of a page as items, preceded by new images and authors that they reference. */
export async function entriesOf(walk: Walk, stage: PostStage, list: readonly JsonObject[]): Promise<Entry[]> {
  const { byId: core, withoutStored, losses } = await coreRecords(walk, stage, list);
  const detailedRecords = await Promise.all(list.map((raw) => withDetails(walk, stage, raw, core.get(Number(raw.id)))));
  const results = detailedRecords.map(({ raw, isChild }) => ({ isChild, record: raw && RECORDS[stage].safeParse(raw) }));
  const records = results.flatMap(({ record }) => (record?.success ? [record.data] : []));
  const images = records.flatMap(({ image }) => (image === false ? [] : [image]));
  const texts = records.map(({ id, description }) => core.get(id)?.content?.raw ?? description);
  const media = await newMedia(walk, images, texts.flatMap(imageIdsIn));
  const authorEntries = await newAuthors(walk, [
    ...records.map(({ author }) => Number(author)),
    ...media.images.map(({ core: mediaRecord }) => mediaRecord?.author ?? 0),
  ]);
  const facts = await factsWith(walk, records);

  const entries: Entry[] = [...losses, ...media.losses, ...authorEntries, ...media.images.flatMap((image) => imageEntries(walk, image))];
  for (const [index, { record, isChild }] of results.entries()) {
    const [name, id] = [nameOf(list[index]!), Number(list[index]!.id)];
    const recordPath = `${stage}/${String(list[index]!.id)}`;
    if (record === undefined) entries.push(asWholeRecord(recordLoss(stage, 'protected', name, recordPath), String(id)));
    else if (!record.success) {
      const detail = record.error.issues[0]?.path.join('.');
      entries.push(asWholeRecord(recordLoss(stage, 'site-record-unreadable', name, recordPath, detail), String(id)));
    } else {
      const context = { core: core.get(id), place: recordPath, facts };
      const { item, guessedMembers, lostFields = [] } = itemOf(walk, stage, record.data, context);
      const completeItem = withCoreMetas(item, core.get(id));
      entries.push(withoutStored.has(id) ? keepingStored(completeItem) : completeItem);
      if (isChild) entries.push(recordLoss(stage, 'site-parent-unknown', name, recordPath));
      for (const { reason, detail } of lostFields) entries.push(recordLoss(stage, reason, name, recordPath, detail));
      if (guessedMembers.length > 0) entries.push(recordLoss(stage, 'site-text-differs', name, recordPath, guessedMembers.join(', ')));
    }
  }
  return entries;
}

/** Returns the facts about the site, with the custom fields that events have shown until now. */
async function factsWith(walk: Walk, records: readonly LivePost[]): Promise<SiteFacts> {
  for (const record of records)
    if ('custom_fields' in record)
      for (const [name, { label }] of Object.entries(record.custom_fields as LiveEvent['custom_fields'])) walk.shownFields.set(name, label);
  const { params, customFields } = await walk.facts();
  return { params, customFields: new Map([...customFields, ...walk.shownFields]) };
}

function imageEntries({ site, options, people }: Walk, { image, core, hidesStored }: ShownImage): Entry[] {
  const place = `${site.home} image ${image.id}`;
  const author = core && people.get(core.author);
  const { item, guessedMembers } = imageItem(image, core, { settings: options.settings, author, place, hidesStored });
  const loss = { reason: 'site-text-differs', kind: 'attachment', of: titleOf(item), place, detail: guessedMembers.join(', ') } as const;
  return [item, ...(guessedMembers.length > 0 ? [lossEntry(loss)] : [])];
}

function itemOf(
  { site, options, people, termNames }: Walk,
  stage: PostStage,
  record: { author: string },
  { core, place, facts }: Pick<LiveContext, 'core' | 'place' | 'facts'>,
): LiveItem {
  const context = {
    settings: options.settings,
    home: site.home,
    freeWords: options.freeWords,
    place,
    author: people.get(Number(record.author)),
    core,
    facts,
    termNames,
  };
  if (stage === 'events') return eventItem(record as Parameters<typeof eventItem>[0], context);
  return stage === 'venues'
    ? venueItem(record as Parameters<typeof venueItem>[0], context)
    : organizerItem(record as Parameters<typeof organizerItem>[0], context);
}

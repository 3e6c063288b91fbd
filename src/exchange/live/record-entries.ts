import { imageIdsIn } from '../../wordpress/content/render.ts';
import type { Entry } from '../items/items.ts';
import { asWholeRecord } from '../items/report.ts';
import { newAuthors } from './authors.ts';
import { coreRecords } from './core-lists.ts';
import { imageItem } from './image-items.ts';
import { newMedia } from './images.ts';
import { eventItem, type LiveContext, type LiveItem, organizerItem, venueItem, withCoreMetas } from './items.ts';
import { withDetails } from './record-details.ts';
import { nameOf, type PostStage, recordLoss } from './record-losses.ts';
import { type LiveEvent, RECORDS } from './records.ts';
import type { JsonObject } from './site-client.ts';
import type { SiteFacts } from './site-facts.ts';
import type { Walk } from './walk.ts';

/** Returns the records of a page as items, preceded by new images and authors that they reference. */
export async function entriesOf(walk: Walk, stage: PostStage, list: readonly JsonObject[]): Promise<Entry[]> {
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

  const { params, customFields } = await walk.facts();
  for (const { record } of results)
    if (record?.success && 'custom_fields' in record.data)
      for (const [name, { label }] of Object.entries(record.data.custom_fields as LiveEvent['custom_fields']))
        walk.shownFields.set(name, label);
  const facts: SiteFacts = { params, customFields: new Map([...customFields, ...walk.shownFields]) };

  const entries: Entry[] = [...authorEntries];
  for (const { image, core: mediaRecord } of media)
    entries.push(
      imageItem(image, mediaRecord, mediaRecord ? walk.people.get(mediaRecord.author) : undefined, `${walk.site.home} image ${image.id}`),
    );
  for (const [index, { record, isChild }] of results.entries()) {
    const id = String(list[index]?.id);
    const recordPath = `${stage}/${id}`;
    if (record === undefined) entries.push(asWholeRecord(recordLoss(stage, 'protected', nameOf(list[index]!), recordPath)));
    else if (!record.success)
      entries.push(
        asWholeRecord(
          recordLoss(stage, 'site-record-unreadable', nameOf(list[index]!), recordPath, record.error.issues[0]?.path.join('.')),
        ),
      );
    else {
      const {
        item,
        guessedMembers,
        lostFields = [],
      } = itemOf(walk, stage, record.data, { core: core.get(Number(id)), place: recordPath, facts });
      entries.push(withCoreMetas(item, core.get(Number(id))));
      if (isChild) entries.push(recordLoss(stage, 'site-parent-unknown', nameOf(list[index]!), recordPath));
      for (const { reason, detail } of lostFields) entries.push(recordLoss(stage, reason, nameOf(list[index]!), recordPath, detail));
      if (guessedMembers.length > 0)
        entries.push(recordLoss(stage, 'site-text-differs', nameOf(list[index]!), recordPath, guessedMembers.join(', ')));
    }
  }
  return entries;
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

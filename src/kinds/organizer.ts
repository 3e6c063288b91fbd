import { z } from 'zod';
import { organizerJsonLd } from '../calendar/json-ld.ts';
import { storedText } from '../wordpress/php/serialized.ts';
import { metaOf } from '../wordpress/rows.ts';
import { ORGANIZER_LINK, ORGANIZER_ORIGIN, ORIGIN } from './events/metas.ts';
import { externalIdField } from './external-id.ts';
import { featuredImage, metaKeysOf, searchedTexts, shownTexts, textMeta } from './fields.ts';
import { url } from './grammars/grammars.ts';
import { featuredImageUrl } from './image-record.ts';
import type { LinkedFromEvents, PostKind } from './kind.ts';
import { linkedFilters, linkedOrders } from './linked-list.ts';
import { authorField, dateField, dateUtcField, statusField, textColumn, titleField } from './post-fields.ts';
import { isLocked, linkedRecord, postJsonLd } from './post-record.ts';
import type { Bundle, RenderContext } from './rendering.ts';
import { linkedShape, optionalTextShape } from './shapes.ts';

/** Texts of an organizer, in the order in which its record shows them. */
const texts = {
  phone: textMeta('_OrganizerPhone'),
  website: textMeta('_OrganizerWebsite', { grammar: url, store: (value) => (value === '' ? [] : [value]) }),
  email: textMeta('_OrganizerEmail'),
  external_id: externalIdField,
};

const fields = {
  author: authorField,
  date: dateField,
  date_utc: dateUtcField,
  organizer: titleField(),
  description: textColumn('post_content'),
  status: statusField,
  ...texts,
  image: featuredImage(),
};

/** Metas of an organizer that store a single field, by field name. */
export const ORGANIZER = metaKeysOf(fields);

/** Texts shown in the record: name -> meta. */
export const organizerTexts = shownTexts(texts);

const linkedFromEvents: LinkedFromEvents = { link: ORGANIZER_LINK, searchedMetas: searchedTexts(texts) };

/** The published organizer. */
export const organizerRecord = z
  .object({ ...linkedShape, organizer: z.string(), ...optionalTextShape(organizerTexts) })
  .meta({ id: 'Organizer' });
export type OrganizerRecord = z.output<typeof organizerRecord>;

export const organizer: PostKind<typeof fields, OrganizerRecord> = {
  is: 'post',
  name: 'organizer',
  path: 'organizers',
  postType: 'tribe_organizer',
  capabilities: 'tribe_organizers',
  titleField: 'organizer',
  fields,
  filters: linkedFilters('tribe_organizers', linkedFromEvents),
  orders: linkedOrders,
  // The plugin stores the id sent for a new organizer as one more text.
  extraMetas: { id: '_OrganizerOrganizerID' },
  links: {},
  linkedFromEvents,
  terms: [],
  hasDates: false,
  problems: {
    notAccessible: 'organizer-not-accessible',
    isInTrash: 'organizer-is-in-trash',
    noSuchPage: 'organizer-archive-page-not-found',
    noTitle: 'could-not-create-organizer',
  },
  reusesTitles: true,
  draftsGetSlugs: true,
  showsProtectedAfterWrite: false,
  describesWritePassword: false,

  derivedRows: (_values, before) => ({ columns: {}, metas: before ? {} : { [ORGANIZER_ORIGIN]: [storedText(ORIGIN)] } }),

  record: organizerRecord,
  render: renderOrganizer,
};

/** Returns the published organizer. */
export function renderOrganizer(id: number, bundle: Bundle, context: RenderContext): OrganizerRecord {
  const locked = isLocked(bundle.posts.get(id)!, context);
  return linkedRecord(id, bundle, context, {
    name: 'organizer',
    texts: organizerTexts,
    between: context.withJsonLd && !locked ? { json_ld: organizerLd(id, bundle, context) } : {},
    after: {},
  });
}

/** Returns the structured data of an organizer. */
function organizerLd(id: number, bundle: Bundle, context: RenderContext): Record<string, unknown> {
  const value = (key: string) => metaOf(bundle.metas.get(id), key) ?? '';
  return organizerJsonLd({
    ...postJsonLd(id, bundle),
    image: featuredImageUrl(id, bundle, context),
    phone: value(ORGANIZER.phone),
    website: value(ORGANIZER.website),
    email: value(ORGANIZER.email),
  });
}

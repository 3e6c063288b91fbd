import { z } from 'zod';
import { organizerJsonLd } from '../calendar/json-ld.ts';
import { metaOf } from '../wordpress/rows.ts';
import { ORGANIZER_LINK } from './event-metas.ts';
import { featuredImage, meta } from './fields.ts';
import { url } from './grammar.ts';
import { imageAddress } from './image-record.ts';
import type { Bundle, Linked, PostKind, RenderContext } from './kind.ts';
import { linkedFilters, linkedOrders } from './linked-list.ts';
import { authorField, dateField, statusField, textColumn, titleField } from './post-fields.ts';
import { isLocked, linkedRecord, postLd } from './post-record.ts';
import { linkedShape } from './shapes.ts';

/** Metas that hold text about an organizer, in the order in which the record shows them. */
const TEXTS = { phone: '_OrganizerPhone', website: '_OrganizerWebsite', email: '_OrganizerEmail' } as const;

const fields = {
  author: authorField,
  date: dateField,
  date_utc: dateField,
  organizer: titleField(),
  description: textColumn('post_content'),
  status: statusField,
  phone: meta(TEXTS.phone),
  website: meta(TEXTS.website, url, { store: (value) => (value === '' ? [] : [value]) }),
  email: meta(TEXTS.email),
  image: featuredImage(),
};

const linked: Linked = { link: ORGANIZER_LINK, searched: Object.values(TEXTS) };

export const organizer: PostKind<typeof fields> = {
  is: 'post',
  name: 'organizer',
  path: 'organizers',
  postType: 'tribe_organizer',
  capabilities: 'tribe_organizers',
  titleField: 'organizer',
  fields,
  filters: linkedFilters('tribe_organizers', linked),
  orders: linkedOrders,
  // The plugin takes the id of an organizer that is only to be made for one more text about it.
  strays: { id: '_OrganizerOrganizerID' },
  links: {},
  linked,
  terms: [],
  dated: false,
  problems: {
    notAccessible: 'organizer-not-accessible',
    isInTrash: 'organizer-is-in-trash',
    noSuchPage: 'organizer-archive-page-not-found',
    noTitle: 'could-not-create-organizer',
  },
  reusesTitles: true,
  draftsGetSlugs: true,
  shownWholeAfterWrite: false,
  writesNamePassword: false,

  follows: (_values, before) => ({ columns: {}, metas: before ? {} : { _OrganizerOrigin: ['events-calendar'] } }),

  record: z.object({ ...linkedShape, organizer: z.string(), email: z.string().optional() }).meta({ id: 'Organizer' }),

  render: renderOrganizer,
};

/** The published organizer; `withLd`: with its JSON-LD, as single GETs carry it. */
export function renderOrganizer(id: number, bundle: Bundle, context: RenderContext, withLd: boolean): Record<string, unknown> {
  const locked = isLocked(bundle.posts.get(id)!, context);
  return linkedRecord(id, bundle, context, {
    name: 'organizer',
    texts: TEXTS,
    between: withLd && !locked ? { json_ld: organizerLd(id, bundle, context) } : {},
    after: {},
  });
}

/** Structured data of an organizer. */
function organizerLd(id: number, bundle: Bundle, context: RenderContext): Record<string, unknown> {
  const value = (key: string) => metaOf(bundle.metas.get(id), key) ?? '';
  return organizerJsonLd({
    ...postLd(id, bundle),
    image: imageAddress(id, bundle, context),
    phone: value(TEXTS.phone),
    website: value(TEXTS.website),
    email: value(TEXTS.email),
  });
}

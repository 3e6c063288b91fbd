import { type CustomField, isCustomMeta } from '../../calendar/custom-fields.ts';
import type { EventDates } from '../../calendar/dates.ts';
import type { SiteSettings } from '../../calendar/settings.ts';
import { customFieldRows, metasOf, storedValue } from '../../kinds/custom-fields.ts';
import { dateMetas } from '../../kinds/events/dates.ts';
import { EVENT, eventTexts } from '../../kinds/events/fields.ts';
import {
  COORDINATES,
  COST,
  DATES,
  EVENT_ORIGIN,
  ORGANIZER_LINK,
  ORGANIZER_ORIGIN,
  ORIGIN,
  STATE,
  VENUE_LINK,
  VENUE_ORIGIN,
} from '../../kinds/events/metas.ts';
import { additionalParams, postKind } from '../../kinds/index.ts';
import type { PostKindName } from '../../kinds/kind-names.ts';
import { organizerTexts } from '../../kinds/organizer.ts';
import { VENUE, venueTexts } from '../../kinds/venue.ts';
import { sameField } from '../../records/merge-custom-fields.ts';
import { decodeEntities } from '../../wordpress/content/entities.ts';
import { diffSeconds } from '../../wordpress/time.ts';
import { STATUSES } from '../items/event-status.ts';
import {
  LINK_METAS,
  type Link,
  type MetaPair,
  type PostColumns,
  type PostItem,
  type TermItem,
  type TermReference,
  textMetas,
} from '../items/items.ts';
import { termName } from '../items/term-names.ts';
import { languageMembersOf } from './record-language.ts';
import type { CoreMedia, CoreRecord, LiveEvent, LiveOrganizer, LivePost, LiveTerm, LiveVenue } from './records.ts';
import type { SiteFacts } from './site-facts.ts';
import { type Guess, storedContent, storedCost, storedExcerpt, storedTitle } from './texts.ts';

/* Conversion of a site's responses to items. */

/** Facts about the two sites that the conversion needs. */
export interface LiveContext {
  readonly settings: Pick<SiteSettings, 'smilies' | 'calendar' | 'contentLanguages'>;
  /** Home address of the site that is imported, without trailing slash. */
  readonly home: string;
  /** Words for "free" in the languages that a site may have. */
  readonly freeWords: readonly string[];
  /** Position of the record, for reports. */
  readonly place: string;
  readonly author: string | undefined;
  readonly core: CoreRecord | undefined;
  readonly facts: SiteFacts;
  /** Names of terms in items, by `keyOfTerm`. */
  readonly termNames: ReadonlyMap<string, string>;
}

/** An item, and the members whose stored form could only be guessed. */
export interface LiveItem {
  readonly item: PostItem;
  readonly guessedMembers: readonly string[];
  /** Values of custom fields that have no place here, with the reason (`exchange:losses`). */
  readonly lostFields?: readonly LostField[];
}

interface LostField {
  readonly reason: string;
  readonly detail: string;
}

/** Returns an event with its dates, cost, links and terms. */
export function eventItem(record: LiveEvent, context: LiveContext): LiveItem {
  const { calendar } = context.settings;
  const { columns, guessedMembers } = columnsOf(record, record.title, context);
  const cost = storedCost(
    {
      cost: record.cost,
      symbol: record.cost_details.currency_symbol,
      code: record.cost_details.currency_code,
      position: record.cost_details.currency_position,
      values: record.cost_details.values,
    },
    { symbol: calendar.currencySymbol, after: calendar.isCurrencyAfterAmount },
    context.freeWords,
  );
  const links: Link[] = [
    ...record.venue.map(({ id }) => ({ key: VENUE_LINK, kind: 'venue', sourceId: String(id) }) as const),
    ...record.organizer.map(({ id }) => ({ key: ORGANIZER_LINK, kind: 'organizer', sourceId: String(id) }) as const),
    ...imageLink(record),
  ];
  const customFields = customMetas(record.custom_fields, calendar.customFields);
  const status = STATUSES.get(record.json_ld?.eventStatus.replace(/^.*\//, '') ?? '');
  const metas: MetaPair[] = [
    ...metaPair(EVENT_ORIGIN, ORIGIN),
    ...textMetas(dateMetas(datesOf(record))),
    ...(record.all_day ? metaPair(DATES.allDay, '1') : []),
    ...metaPair(EVENT.show_map, record.show_map ? '1' : ''),
    ...metaPair(EVENT.show_map_link, record.show_map_link ? '1' : ''),
    ...cost.metas,
    // An event without a website shows the URL of its page.
    ...(record.website !== '' && record.website === record.url ? [] : metaPair(EVENT.website, decodeEntities(record.website))),
    ...(record.hide_from_listings ? metaPair(EVENT.hide_from_listings, 'yes') : []),
    ...(record.featured ? metaPair(EVENT.featured, '1') : []),
    ...filledMetas(eventTexts, record),
    ...(status === undefined ? [] : metaPair(STATE, status)),
    ...customFields.metas,
    ...globalIdsOf(record),
  ];
  return {
    item: {
      ...identityOf('event', record, context),
      columns: { ...columns, menu_order: record.sticky ? -1 : 0 },
      metas,
      absent: absentFrom(record),
      unshown: [...textsOf('event', eventTexts, context), ...customFieldsOf(context)],
      links,
      terms: [
        ...record.categories.map((term) => termReference('category', term, context)),
        ...record.tags.map((term) => termReference('tag', term, context)),
      ],
    },
    guessedMembers: [...guessedMembers, ...(cost.isExact ? [] : ['cost'])],
    lostFields: customFields.lost,
  };
}

/**
 * Adds the registered metas that only WordPress's own routes show, such as the reason for a cancellation, footnotes and
 * texts of other plugins. Those that are not texts stay out: their stored form is unknown. Custom fields come by name.
 * On a site with several languages, an event shows translations of the venues and organizers that it is linked to, so
 * that its links are taken from here, too.
 */
export function withCoreMetas(item: PostItem, core: CoreRecord | undefined): PostItem {
  const known = new Set([...item.metas.map(([key]) => key), ...LINK_METAS.keys()]);
  const shown = Object.entries(core?.meta ?? {}).flatMap(([key, value]): [string, string][] =>
    typeof value === 'string' && !known.has(key) && !isCustomMeta(key.replace(/^__/, '_')) ? [[key, value]] : [],
  );
  return {
    ...item,
    metas: [...item.metas, ...textMetas(shown.filter(([, text]) => text !== ''))],
    absent: [...(item.absent ?? []), ...shown.flatMap(([key, value]) => (value === '' ? [key] : []))],
    links: item.language === undefined ? item.links : storedLinks(item.links, core),
  };
}

/**
 * Returns an item whose stored texts could not be read: an update keeps those that are here, and the links, where the
 * record may show translations of what it is linked to.
 */
export const keepingStored = (item: PostItem): PostItem => ({
  ...item,
  initial: ['post_title', 'post_content', 'post_excerpt', ...(item.language === undefined ? [] : PLACE_LINKS.keys())],
});

/** Returns the links of a record, with those that WordPress's own routes show in place of those of the calendar's. */
function storedLinks(links: readonly Link[], core: CoreRecord | undefined): readonly Link[] {
  const stored = [...PLACE_LINKS].flatMap(([key, kind]): Link[] => {
    const ids = core?.meta[key];
    return Array.isArray(ids) ? ids.filter(Number.isSafeInteger).map((id) => ({ key, kind, sourceId: String(id) })) : [];
  });
  const keys = new Set(stored.map(({ key }) => key));
  return [...links.filter(({ key }) => !keys.has(key)), ...stored];
}

const PLACE_LINKS: ReadonlyMap<string, 'venue' | 'organizer'> = new Map([
  [VENUE_LINK, 'venue'],
  [ORGANIZER_LINK, 'organizer'],
]);

/** Returns the dates of a record as they are stored. */
const datesOf = (record: LiveEvent): EventDates => ({
  ...{ start: record.start_date, end: record.end_date, startUtc: record.utc_start_date, endUtc: record.utc_end_date },
  ...{ timezone: record.timezone, abbreviation: record.timezone_abbr, allDay: record.all_day === true },
  duration: record.all_day ? null : diffSeconds(record.utc_start_date, record.utc_end_date),
});

/** Returns the metas that the record does not have. */
const absentFrom = (record: LiveEvent): string[] => [
  ...[DATES.allDay, DATES.duration, EVENT.website, COST.amounts],
  // Without a cost, the record does not show the stored currency, so that it must be kept.
  ...(record.cost === '' ? [] : [COST.symbol, COST.position, COST.code]),
  ...(record.venue.length === 0 ? [VENUE_LINK] : []),
  ...(record.organizer.length === 0 ? [ORGANIZER_LINK] : []),
  ...absentImage(record),
  ...(record.hide_from_listings === false ? [EVENT.hide_from_listings] : []),
  ...(record.featured === false ? [EVENT.featured] : []),
  ...(record.json_ld ? [STATE] : []),
];

/**
 * Returns the metas of custom fields, by the names that the fields have on both sites. A field without a name that is
 * not defined here keeps its meta if that is free.
 */
function customMetas(values: LiveEvent['custom_fields'], fields: readonly CustomField[]): { metas: MetaPair[]; lost: LostField[] } {
  const metas: MetaPair[] = [];
  const lost: LostField[] = [];
  for (const [name, { label, value }] of Object.entries(values)) {
    const field = fieldNamed(name, label, fields);
    const stored = field && storedValue(field, value);
    if (stored) metas.push(...customFieldRows(field, stored));
    else if (field) lost.push({ reason: 'value-refused', detail: `${name}: ${value}` });
    else if (isCustomMeta(name) && !fields.some(({ meta }) => meta === name)) {
      metas.push(...metaPair(name, value));
      lost.push({ reason: 'field-hidden', detail: label || name });
    } else lost.push({ reason: 'field-left-out', detail: label || name });
  }
  return { metas, lost };
}

const termReference = (kind: TermItem['kind'], { id, slug, name }: LiveEvent['tags'][number], context: LiveContext): TermReference => ({
  kind,
  sourceId: context.termNames.get(keyOfTerm(kind, id)) ?? slug,
  slug,
  name,
});

/** Key of a term in `LiveContext.termNames`. */
export const keyOfTerm = (kind: TermItem['kind'], id: number): string => `${kind} ${id}`;

/** Returns a venue with its address, texts and coordinates. */
export function venueItem(record: LiveVenue, context: LiveContext): LiveItem {
  const { columns, guessedMembers } = columnsOf(record, record.venue, context);
  const { geo_lat: lat, geo_lng: lng } = record;
  const flagText = (value: boolean | null) => (value === false ? '' : '1');
  return {
    item: {
      ...identityOf('venue', record, context),
      columns,
      metas: [
        ...metaPair(VENUE_ORIGIN, ORIGIN),
        ...filledMetas(venueTexts, record),
        ...(lat === '' || lng === '' ? [] : [...metaPair(COORDINATES.lat, lat), ...metaPair(COORDINATES.lng, lng)]),
        ...[VENUE, EVENT].flatMap((keys) => [
          ...metaPair(keys.show_map, flagText(record.show_map)),
          ...metaPair(keys.show_map_link, flagText(record.show_map_link)),
        ]),
        ...globalIdsOf(record),
      ],
      absent: absentImage(record),
      unshown: textsOf('venue', venueTexts, context),
      links: imageLink(record),
    },
    guessedMembers,
  };
}

/** Returns an organizer with its texts and image. */
export function organizerItem(record: LiveOrganizer, context: LiveContext): LiveItem {
  const { columns, guessedMembers } = columnsOf(record, record.organizer, context);
  return {
    item: {
      ...identityOf('organizer', record, context),
      columns,
      metas: [
        ...metaPair(ORGANIZER_ORIGIN, ORIGIN),
        ...filledMetas(organizerTexts, { ...record, email: decodeEntities(record.email) }),
        ...globalIdsOf(record),
      ],
      absent: absentImage(record),
      unshown: textsOf('organizer', organizerTexts, context),
      links: imageLink(record),
    },
    guessedMembers,
  };
}

/** Returns a category or tag; `parent` is the name of its parent. */
export const termItem = (
  kind: TermItem['kind'],
  term: LiveTerm,
  { namesake, parent }: { readonly namesake: number; readonly parent: string | undefined },
): TermItem => ({
  kind,
  ...languageMembersOf(term),
  sourceId: termName(term.slug, namesake),
  ...(namesake > 0 ? { namesake } : {}),
  id: term.id,
  name: term.name,
  slug: term.slug,
  description: term.description,
  ...(parent === undefined ? {} : { parent }),
});

// ------------------------------------------------------------------------------------------------- pieces
/** Returns a meta that holds a text. */
export const metaPair = (key: string, text: string): MetaPair[] => textMetas([[key, text]]);

/** Returns metas for the texts that are not empty. `texts`: name -> meta. */
const filledMetas = <Texts extends Readonly<Record<string, string>>>(texts: Texts, record: Readonly<Record<keyof Texts, string>>) =>
  Object.entries(texts).flatMap(([name, key]) => (record[name] ? metaPair(key, record[name]) : []));

/**
 * Returns the metas of the texts that the site shows if they are set. If it does not know a text, its absence means
 * nothing.
 */
const textsOf = (kind: PostKindName, texts: Readonly<Record<string, string>>, { facts }: Pick<LiveContext, 'facts'>): string[] => {
  const ownParams = additionalParams(postKind(kind).fields);
  const knownParams = facts.params.get(`${kind}s`);
  return Object.entries(texts).flatMap(([name, key]) => (ownParams.includes(name) && !knownParams?.has(name) ? [] : [key]));
};

/** Returns the metas here of the custom fields that the site has. */
export const customFieldsOf = ({ facts, settings }: Pick<LiveContext, 'facts' | 'settings'>): string[] =>
  [...facts.customFields].flatMap(([name, label]) => {
    const field = fieldNamed(name, label, settings.calendar.customFields);
    if (field) return metasOf(field);
    return isCustomMeta(name) && !settings.calendar.customFields.some(({ meta }) => meta === name) ? [name] : [];
  });

/** Returns the field of this site that a field of another site is. */
const fieldNamed = (name: string, label: string, fields: readonly CustomField[]): CustomField | undefined =>
  sameField({ meta: isCustomMeta(name) ? name : '', name, label, type: 'text', choices: [] }, fields);

function identityOf(kind: PostItem['kind'], record: LivePost, context: LiveContext) {
  const { place, author } = context;
  const { id: postId } = record;
  const name = { kind, sourceId: String(postId), id: postId, place, complete: false, ...languageMembersOf(record, context) } as const;
  return { ...name, ...(author === undefined ? {} : { author }) };
}

const imageLink = ({ image }: LivePost): Link[] =>
  image === false ? [] : [{ key: '_thumbnail_id', kind: 'attachment', sourceId: String(image.id) }];

const absentImage = ({ image }: LivePost): string[] => (image === false ? ['_thumbnail_id'] : []);

/** Returns the ids that a record had on other sites; the first one is its own. */
const globalIdsOf = ({ global_id_lineage: ids }: LivePost): MetaPair[] =>
  textMetas(ids.slice(1).map((one) => ['_tribe_aggregator_global_id_lineage', one] as const));

function columnsOf(record: LivePost, title: string, { settings, core }: LiveContext): { columns: PostColumns; guessedMembers: string[] } {
  const options = { smilies: settings.smilies, images: () => undefined };
  const guessedMembers: string[] = [];
  const resolveText = (name: string, raw: string | undefined, guess: () => Guess): string => {
    if (raw !== undefined) return raw;
    const { text, isExact } = guess();
    if (!isExact) guessedMembers.push(name);
    return text;
  };
  return {
    columns: {
      post_title: resolveText('title', core?.title?.raw, () => storedTitle(title)),
      post_content: resolveText('description', core?.content?.raw, () => storedContent(record.description, options)),
      post_excerpt: resolveText('excerpt', core?.excerpt?.raw, () => storedExcerpt(record.excerpt, options)),
      post_status: record.status,
      post_name: record.slug,
      ...(core?.password === undefined ? {} : { post_password: core.password }),
      ...discussionOf(core),
      ...(core?.guid?.rendered ? { guid: decodeEntities(core.guid.rendered) } : {}),
      ...dateColumns(record.date, record.date_utc, record.modified, record.modified_utc),
    },
    guessedMembers,
  };
}

/** Returns the columns that open or close a post for comments and pings, if the site shows them. */
export const discussionOf = (shown: CoreRecord | CoreMedia | undefined): PostColumns => ({
  ...(shown?.comment_status === undefined ? {} : { comment_status: shown.comment_status }),
  ...(shown?.ping_status === undefined ? {} : { ping_status: shown.ping_status }),
});

/** Returns the columns of the dates that are known, by the site's clock and in UTC, `YYYY-MM-DD HH:MM:SS`. */
export function dateColumns(date: string, dateUtc: string, modified: string, modifiedUtc: string): PostColumns {
  const stamps = { post_date: date, post_date_gmt: dateUtc, post_modified: modified, post_modified_gmt: modifiedUtc };
  return Object.fromEntries(Object.entries(stamps).flatMap(([name, stamp]) => (stamp === '' ? [] : [[name, stamp.replace('T', ' ')]])));
}

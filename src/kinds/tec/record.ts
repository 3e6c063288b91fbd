import { costOnPages } from '../../calendar/cost-on-pages.ts';
import { daysOf, scheduleDetails, shortScheduleDetails } from '../../calendar/schedule.ts';
import { isTruthy } from '../../calendar/settings.ts';
import { isObject } from '../../objects.ts';
import { escHtml } from '../../wordpress/content/entities.ts';
import { renderTitle } from '../../wordpress/content/render.ts';
import { phpZone } from '../../wordpress/php/zone.ts';
import { type Metas, metaOf, type Post, textsOf } from '../../wordpress/rows.ts';
import { isPrivate } from '../../wordpress/status.ts';
import { diffSeconds, utcFromDate } from '../../wordpress/time.ts';
import { urlEncode } from '../../wordpress/web-url.ts';
import { toLocal } from '../../wordpress/zones.ts';
import { authorAndPicture, postCore, termMembers } from '../core/post.ts';
import { customFieldsRecord, hasCustomFields } from '../custom-fields.ts';
import { costOptions, currencyOf } from '../events/cost.ts';
import { storedDates } from '../events/dates.ts';
import { COST, FEATURED_META, ORGANIZER_LINK, VENUE_LINK } from '../events/metas.ts';
import { nonEmptyTexts } from '../fields.ts';
import type { PostKind } from '../kind.ts';
import type { LinkedKindName } from '../kind-names.ts';
import { ORGANIZER } from '../organizer.ts';
import { isLocked, linkedIds } from '../post-record.ts';
import type { Bundle, RenderContext } from '../rendering.ts';
import { VENUE } from '../venue.ts';
import { additionalTexts } from './params.ts';

/** Words inside these records, in the caller's language. */
export interface TecWords {
  /** Replaces a text that a password protects. */
  readonly locked: string;
  readonly allDay: string;
  /** Titles of protected and private records when they are shown in another record. */
  readonly protectedTitle: (title: string) => string;
  readonly privateTitle: (title: string) => string;
}

export interface TecContext extends RenderContext {
  readonly words: TecWords;
  readonly language: string;
}

export type TecRecord = Record<string, unknown>;
/** The kinds that events link to. */
type Kinds = Readonly<Record<LinkedKindName, PostKind>>;

/**
 * Returns an event, venue or organizer in the calendar's newer interface (`tec/v1`): the post as WordPress shows it,
 * with the calendar's own members. In a protected record, each member that the password guards is replaced by a
 * placeholder of the same type.
 */
export function tecRecord(kind: PostKind, id: number, bundle: Bundle, context: TecContext, kinds: Kinds): TecRecord {
  const row = bundle.posts.get(id)!;
  const { title, content, excerpt, template, guid, ...base } = postCore(id, bundle, context);
  const membersByKind = {
    event: () => eventMembers(id, bundle, context, kinds),
    venue: () => venueMembers(row, bundle),
    organizer: () => organizerMembers(row, bundle),
  };
  const { class_list: classes, ...terms } = termMembers(kind, id, bundle);
  const protectedMembers = {
    content: { rendered: content.rendered, protected: content.protected },
    excerpt: { rendered: excerpt.rendered, protected: excerpt.protected },
    template,
    ...terms,
    ...membersByKind[kind.name](),
    ...additionalMembers(kind, bundle.metas.get(id)),
    ...customFieldMembers(kind, bundle.metas.get(id), context),
  };
  return {
    ...base,
    guid: { rendered: guid.rendered },
    title: { rendered: title.rendered },
    ...authorAndPicture(row, bundle),
    ...(classes ? { class_list: classes } : {}),
    ...(isLocked(row, context) ? withFillers(protectedMembers, context.words.locked) : protectedMembers),
  };
}

/** Members of every post, except its id and its URL. */
const POST_MEMBERS: ReadonlySet<string> = new Set([
  'date', 'date_gmt', 'guid', 'modified', 'modified_gmt', 'slug', 'status', 'type', 'title', 'author', 'featured_media', 'class_list', 'content', 'excerpt', 'template',
]); // biome-ignore format: a list of names

/**
 * Returns an event whose venues and organizers only keep, among the members of every post, those named, as in the
 * reference.
 */
export function withLinkedLimited(record: TecRecord, names: ReadonlySet<string>): TecRecord {
  const limitMembers = (linkedRecord: unknown) =>
    isObject(linkedRecord)
      ? Object.fromEntries(Object.entries(linkedRecord).filter(([name]) => !POST_MEMBERS.has(name) || names.has(name)))
      : linkedRecord;
  const entries = (['organizers', 'venues'] as const).flatMap((name) => {
    const records = record[name];
    return Array.isArray(records) ? [[name, records.map(limitMembers)] as const] : [];
  });
  return { ...record, ...Object.fromEntries(entries) };
}
/** Texts of the kind that the reference does not have, without the empty ones. */
const additionalMembers = (kind: PostKind, metas: Metas | undefined): TecRecord =>
  nonEmptyTexts(additionalTexts(kind), (key) => escHtml(metaOf(metas, key) ?? ''));

/** The site's custom fields, if there are any. */
const customFieldMembers = (kind: PostKind, metas: Metas | undefined, { settings: { calendar } }: RenderContext): TecRecord =>
  hasCustomFields(kind) && calendar.customFields.length > 0 ? { custom_fields: customFieldsRecord(calendar.customFields, metas) } : {};

// ------------------------------------------------------------------------------------------------- password protection
const NO_MOMENT = '1970-01-01 00:00:00.000000';

/** Members that become empty lists, so that not even the number of their items is shown. */
const LIST_MEMBERS = new Set(['organizers', 'venues', 'displays_on', 'custom_fields']);

function withFillers(record: TecRecord, word: string): TecRecord {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, filler(name, value, word)]));
}

function filler(name: string, value: unknown, word: string): unknown {
  if (LIST_MEMBERS.has(name)) return [];
  if (name === 'date') return NO_MOMENT;
  if (['duration', 'timezone'].includes(name)) return word;
  if (['multiday', 'starts_this_week', 'ends_this_week', 'this_week_duration', 'happens_this_week'].includes(name)) return null;
  if (Array.isArray(value)) return name === 'organizer_names' ? [word] : [0];
  if (isObject(value)) return withFillers(value as TecRecord, word);
  return typeof value === 'string' ? word : typeof value === 'number' ? 0 : null;
}

// ------------------------------------------------------------------------------------------------- venues, organizers
function venueMembers({ ID }: Post, bundle: Bundle): TecRecord {
  const value = (key: string) => escHtml(metaOf(bundle.metas.get(ID), key) ?? '');
  const address = {
    address: value(VENUE.address),
    country: value(VENUE.country),
    city: value(VENUE.city),
    state_province: value(VENUE.stateprovince),
  };
  const zip = value(VENUE.zip);
  return {
    ...address,
    state: value(VENUE.state),
    province: value(VENUE.province),
    zip,
    phone: value(VENUE.phone),
    directions_link: mapLink([address.address, address.city, address.state_province, zip, address.country]),
    website: metaOf(bundle.metas.get(ID), VENUE.website) ?? '',
  };
}

/** Returns the URL of a map of the address; empty without an address. */
function mapLink(parts: readonly string[]): string {
  const address = parts.filter((part) => part !== '').join(' ');
  if (address === '') return '';
  return `https://maps.google.com/maps?f=q&#038;source=s_q&#038;hl=en&#038;geocode=&#038;q=${urlEncode(address)}`;
}

function organizerMembers({ ID }: Post, bundle: Bundle): TecRecord {
  const value = (key: string) => metaOf(bundle.metas.get(ID), key) ?? '';
  return { phone: escHtml(value(ORGANIZER.phone)), website: value(ORGANIZER.website), email: value(ORGANIZER.email) };
}

// ------------------------------------------------------------------------------------------------- events
function eventMembers(id: number, bundle: Bundle, context: TecContext, kinds: Kinds): TecRecord {
  const row = bundle.posts.get(id)!;
  const { settings, now, words, language } = context;
  const metas = bundle.metas.get(id);
  const dates = storedDates({ metas: metas ?? new Map() });
  const { cutoff, formats, timezoneMode } = settings.calendar;
  const zone = phpZone(dates.timezone || settings.timezone);
  const siteZone = phpZone(settings.timezone);
  const toSiteTime = (utc: string) => (utc === '' ? '' : toLocal(utc, settings.zone));
  const isInSiteZone = timezoneMode === 'site';
  const display = {
    start: isInSiteZone ? toSiteTime(dates.startUtc) : dates.start,
    end: isInSiteZone ? toSiteTime(dates.endUtc) : dates.end,
    allDay: dates.allDay,
  };
  const momentMembers = (name: 'start' | 'end', localTime: string, utc: string) => ({
    [name]: moment(localTime, zone),
    [`${name}_utc`]: moment(utc, phpZone('UTC')),
    [`${name}_site`]: moment(toSiteTime(utc), siteZone),
    [`${name}_display`]: moment(display[name], isInSiteZone ? siteZone : zone),
  });
  const schedule = { formats, language, zone: settings.zone, cutoff, year: utcFromDate(now).slice(0, 4) };
  const currentUtc = utcFromDate(now);
  const organizers = linkedIds(row.ID, ORGANIZER_LINK, bundle, context);
  const length = diffSeconds(dates.startUtc, dates.endUtc) || 0;
  return {
    start_date: dates.start,
    start_date_utc: dates.startUtc,
    end_date: dates.end,
    end_date_utc: dates.endUtc,
    dates: { ...momentMembers('start', dates.start, dates.startUtc), ...momentMembers('end', dates.end, dates.endUtc) },
    timezone: dates.timezone,
    // The plugin leaves the duration of an event that it makes all-day, but lists the whole days.
    duration: dates.duration && (!dates.allDay || dates.duration === length) ? String(dates.duration) : length,
    multiday: daysOf(dates, cutoff),
    // As in the reference, an event counts as past as soon as it has begun.
    is_past: dates.startUtc < currentUtc,
    is_now: dates.startUtc <= currentUtc && dates.endUtc >= currentUtc,
    all_day: dates.allDay,
    starts_this_week: null,
    ends_this_week: null,
    this_week_duration: null,
    happens_this_week: null,
    displays_on: [],
    featured: isTruthy(metaOf(metas, FEATURED_META)),
    sticky: row.menu_order === -1,
    cost: costOnPages(textsOf(metas, COST.amounts), currencyOf(metas), costOptions(context)),
    organizer_names: organizers.map((organizer) => markedTitle(bundle.posts.get(organizer)!, words)),
    organizers: organizers.map((organizer) => tecRecord(kinds.organizer, organizer, bundle, context, kinds)),
    venues: linkedIds(row.ID, VENUE_LINK, bundle, context).map((venue) => tecRecord(kinds.venue, venue, bundle, context, kinds)),
    schedule_details: scheduleDetails(display, schedule),
    short_schedule_details: shortScheduleDetails(display, schedule) ?? words.allDay,
  };
}

/** Returns a moment in the form in which PHP's `DateTime` is written as JSON. */
const moment = (localTime: string, zone: ReturnType<typeof phpZone>) => ({ date: `${localTime}.000000`, ...zone });

/** Returns a title, marked if the record is protected or private (`get_the_title`). */
function markedTitle(row: Post, words: TecWords): string {
  const title = renderTitle(row.post_title);
  if (row.post_password !== '') return words.protectedTitle(title);
  return isPrivate(row.post_status) ? words.privateTitle(title) : title;
}

import { createHash } from 'node:crypto';
import { COORDINATES, EVENT_ORIGIN, ORGANIZER_LINK, STATE, VENUE_LINK } from '../../kinds/events/metas.ts';
import { postKind } from '../../kinds/index.ts';
import { isRecord } from '../../objects.ts';
import type { Caller } from '../../records/caller.ts';
import { decodeEntities, specialChars } from '../../wordpress/content/entities.ts';
import { utcFromDate } from '../../wordpress/time.ts';
import { contentOf } from '../items/content.ts';
import { STATUSES } from '../items/event-status.ts';
import { rowsOfValues } from '../items/field-rows.ts';
import { imageItem } from '../items/image-item.ts';
import { type Entry, type Link, type PostItem, type TermReference, textMetas } from '../items/items.ts';
import { asWholeRecord, type LossEntry, lossEntry } from '../items/report.ts';
import { datesOf } from './dates.ts';
import { addressOf, eventsIn, limitParts, listOf, type Node, nodeInheriting, parseBlock, textOf } from './nodes.ts';
import { blocksOf, siteOf } from './page.ts';
import { keptCostMetas, pricesOf, withCurrency } from './prices.ts';
import { scheduledTimes } from './schedule.ts';

/** A page or file with events. */
export interface Page {
  /** Its URL, against which relative ones are resolved; empty for a file. */
  readonly url: string;
  /** Its name in reports. */
  readonly place: string;
  readonly text: string;
}

/** An event as it is on the page. */
export interface FoundEvent {
  readonly node: Node;
  /** `site`: the origin of a saved page, if it says it; empty for a page of the web. */
  readonly page: Pick<Page, 'url' | 'place'> & { readonly site: string };
}

/** Finds the events of a page (schema.org Event in JSON-LD), and reports blocks that cannot be read. */
export function findEvents(page: Page): { events: FoundEvent[]; losses: LossEntry[] } {
  const blocks = blocksOf(page.text).map(({ line, text }) => ({ line, value: parseBlock(text) }));
  const { url, place } = page;
  const site = url === '' ? siteOf(page.text) : '';
  const results = eventsIn(blocks.map(({ value }) => value)).map(limitParts);
  return {
    events: results.map(({ event: node }) => ({ node, page: { url, place, site } })),
    losses: [
      ...blocks.flatMap(({ line, value }) => (value === undefined ? [lossOf('jsonld-unreadable', `${place}:${line}`, '')] : [])),
      ...results.flatMap(({ event, leftOut }) =>
        leftOut === 0 ? [] : [lossOf('jsonld-parts-cut', place, titleOf(event), String(leftOut))],
      ),
    ],
  };
}

/**
 * Yields the items of events, preceded by those of their venues, organizers and images. An event that is on several
 * pages is yielded once.
 */
export function* eventEntries(events: readonly FoundEvent[], caller: Caller): Generator<Entry> {
  const { scheduled, losses } = expandSchedules(events, caller);
  yield* losses;
  const names = namesOf(scheduled);
  const seenIds = new Set<string>();
  for (const event of scheduled) {
    const name = names.get(event)!;
    if (seenIds.has(name.sourceId)) continue;
    seenIds.add(name.sourceId);
    for (const entry of entriesOf(event, name, caller)) {
      const key = 'sourceId' in entry ? entry.sourceId : '';
      if ('sourceId' in entry && entry.kind !== 'event' && seenIds.has(key)) continue;
      seenIds.add(key);
      yield entry;
    }
  }
}

/** Maximum number of scheduled dates of all events together; beyond it, events come with their first date only. */
const MAX_SCHEDULED_DATES = 200_000;

/**
 * Expands events with a schedule to one event for each date. Events whose schedule cannot be followed are reported and
 * kept as they are.
 */
function expandSchedules(events: readonly FoundEvent[], { settings, now }: Caller): { scheduled: FoundEvent[]; losses: LossEntry[] } {
  const losses: LossEntry[] = [];
  let remaining = MAX_SCHEDULED_DATES;
  const scheduled = events.flatMap((event): FoundEvent[] => {
    const times = scheduledTimes(event.node, { site: settings.zone, now: utcFromDate(now), limit: Math.max(1, remaining) });
    if (!times) return [event];
    remaining -= times.nodes.length;
    const lose = (reason: string, detail: string) => losses.push(lossOf(reason, event.page.place, titleOf(event.node), detail));
    const isFirstTaken = times.nodes.length === 0 && textOf(event.node.startDate) !== '';
    for (const repeat of times.unknown) lose(isFirstTaken ? 'jsonld-schedule' : 'jsonld-schedule-lost', repeat);
    if (times.skippedSchedules > 0) lose('jsonld-schedules-cut', String(times.skippedSchedules));
    if (times.isCut) lose('jsonld-schedule-cut', textOf(times.nodes.at(-1)?.startDate));
    if (times.unknown.length > 0 && times.nodes.length === 0) return [event];
    // A date's name does not depend on how many other dates are in the period.
    return times.nodes.map((node) => ({ ...event, node: nodeInheriting(node, { '@id': `${nameOf(event)}#${textOf(node.startDate)}` }) }));
  });
  return { scheduled, losses };
}

const lossOf = (reason: string, place: string, of: string, detail?: string): LossEntry =>
  lossEntry({ reason, kind: 'event', of, place, detail });

// ------------------------------------------------------------------------------------------------- names
/**
 * Returns a permanent name for each event: its `@id`, or else its URL, with the start if several events share it;
 * without either, page, title and start, or for a saved page the site instead of the page. `narrowerId` is the name
 * with the start, which an earlier import may have used if the event shared its address then.
 */
function namesOf(events: readonly FoundEvent[]): Map<FoundEvent, Pick<PostItem, 'sourceId' | 'narrowerId'>> {
  const starts = new Map<string, Set<string>>();
  for (const event of events) {
    const address = ownAddressOf(event);
    starts.set(address, (starts.get(address) ?? new Set()).add(textOf(event.node.startDate)));
  }
  return new Map(
    events.map((event) => {
      const address = ownAddressOf(event);
      const datedName = shortenName(`${nameOf(event)}#${textOf(event.node.startDate)}`);
      const isAlone = address !== '' && starts.get(address)?.size === 1;
      return [event, isAlone ? { sourceId: shortenName(address), narrowerId: datedName } : { sourceId: datedName }];
    }),
  );
}

const nameOf = (event: FoundEvent): string => ownAddressOf(event) || `${event.page.url || event.page.site} ${titleOf(event.node)}`.trim();

/** Returns the event's own address: its `@id` or its URL. */
function ownAddressOf({ node, page }: FoundEvent): string {
  const id = typeof node['@id'] === 'string' ? (URL.parse(node['@id'], page.url || undefined)?.href ?? node['@id']) : '';
  return id || addressOf(node.url, page.url);
}

const MAX_NAME_LENGTH = 300;
const shortenName = (name: string): string => (name.length <= MAX_NAME_LENGTH ? name : createHash('sha256').update(name).digest('hex'));

/** Returns a text without HTML entities, which many programs leave in JSON-LD although its texts are plain. */
const decodeText = (value: unknown): string => decodeEntities(textOf(value)).replace(/\s+/g, ' ').trim();
const titleOf = (node: Node): string => decodeText(node.name ?? node.headline);

// ------------------------------------------------------------------------------------------------- items
function* entriesOf({ node, page }: FoundEvent, name: Pick<PostItem, 'sourceId' | 'narrowerId'>, caller: Caller): Generator<Entry> {
  const title = titleOf(node);
  const { settings } = caller;
  const dates = datesOf(textOf(node.startDate), textOf(node.endDate), textOf(node.duration), settings.zone);
  if (!dates) {
    // The dates of a series are those of its sub-events.
    if (node.subEvent === undefined && node.subEvents === undefined)
      yield asWholeRecord(lossOf('jsonld-no-date', page.place, title || name.sourceId, textOf(node.startDate)));
    return;
  }
  const starts = [...new Set(listOf(node.startDate).map(textOf))];
  if (starts.length > 1) yield lossOf('jsonld-several-starts', page.place, title, starts.slice(1).join(', '));
  const { correction, ...dateValues } = dates;
  if (correction) yield lossOf(correction, page.place, title, `${dateValues.start_date} - ${dateValues.end_date}`);
  const website = addressOf(node.url, page.url) || addressOf(listOf(node.location).find(isVirtual), page.url);
  const prices = pricesOf(node);
  for (const price of prices.refused) yield lossOf('value-refused', page.place, title, `cost: ${price.slice(0, MAX_SHOWN)}`);
  const event = rowsOfValues(postKind('event'), { title: specialChars(title) || '-', ...dateValues, website, cost: prices.cost }, caller);
  for (const field of event.refused) {
    const loss = lossOf('value-refused', page.place, title, field);
    yield field === 'start_date' ? asWholeRecord(loss) : loss;
  }
  if (event.refused.includes('start_date')) return;
  const image = addressOf(node.image, page.url);
  const linkedItems = [
    ...listOf(node.location).flatMap((place) => venueOf(place, page, caller)),
    ...listOf(node.organizer).flatMap((organizer) => organizerOf(organizer, page, caller)),
    ...(image === '' ? [] : [imageItem(image, '', page.place)]),
  ];
  yield* linkedItems;
  const state = textOf(node.eventStatus);
  const status = STATUSES.get(state.split(/[/#:]/).at(-1) ?? '');
  yield {
    kind: 'event',
    ...name,
    place: page.place,
    match: 'name',
    complete: false,
    absent: [...event.absent, VENUE_LINK, ORGANIZER_LINK, ...(state === '' ? [] : [STATE])],
    initial: [...event.initial, ...keptCostMetas(prices), 'post_status'],
    columns: {
      ...event.columns,
      post_title: specialChars(title),
      post_content: contentOf('', decodeEntities(textOf(node.description))),
      post_status: 'publish',
    },
    metas: [
      ...withCurrency(event.metas, prices, caller),
      ...textMetas([...(status === undefined ? [] : [[STATE, status] as const]), [EVENT_ORIGIN, 'json-ld']]),
    ],
    links: linkedItems.flatMap((item): Link[] =>
      isLinked(item) ? [{ key: LINKS[item.kind], kind: item.kind, sourceId: item.sourceId }] : [],
    ),
    terms: tagsOf(node),
    unsaid: node.keywords === undefined ? ['category', 'tag'] : ['category'],
  };
}

/** Number of characters of a refused value in reports. */
const MAX_SHOWN = 100;

const LINKS = { venue: VENUE_LINK, organizer: ORGANIZER_LINK, attachment: '_thumbnail_id' } as const;
const isLinked = (item: PostItem): item is PostItem & { kind: keyof typeof LINKS } => item.kind !== 'event';

function post(kind: 'venue' | 'organizer', sourceId: string, values: Node, page: FoundEvent['page'], caller: Caller): PostItem {
  const { columns, metas, absent, initial } = rowsOfValues(postKind(kind), values, caller);
  return {
    kind,
    sourceId: shortenName(sourceId),
    place: page.place,
    match: 'details',
    complete: false,
    absent,
    initial: [...initial, 'post_status'],
    columns: { ...columns, post_status: 'publish' },
    metas,
    links: [],
  };
}

const hasType = (value: unknown, name: string): boolean =>
  isRecord(value) && listOf(value['@type']).some((type) => typeof type === 'string' && type.split(/[/#:]/).at(-1) === name);
const isVirtual = (value: unknown): boolean => hasType(value, 'VirtualLocation');

/** Returns the venue of a place, an address, or a text that begins with a name. Virtual locations are ignored. */
function venueOf(value: unknown, page: FoundEvent['page'], caller: Caller): PostItem[] {
  if (isVirtual(value)) return [];
  const place = isRecord(value) ? value : { name: textOf(value) };
  const rawAddress = hasType(place, 'PostalAddress') ? place : listOf(place.address)[0];
  const address = isRecord(rawAddress) ? rawAddress : { streetAddress: rawAddress };
  const name = decodeText(
    hasType(place, 'PostalAddress') ? address.streetAddress : (place.name ?? address.streetAddress ?? address.addressLocality),
  );
  if (name === '' || /^https?:\/\//i.test(name)) return [];
  const [street, city, region, zip] = [address.streetAddress, address.addressLocality, address.addressRegion, address.postalCode].map(
    decodeText,
  );
  const country = countryOf(decodeText(address.addressCountry));
  const geo = listOf(place.geo).find(isRecord);
  const [lat, lng] = [geo?.latitude, geo?.longitude].map((number) => Number(textOf(number) || Number.NaN)) as [number, number];
  const values = {
    venue: specialChars(name),
    address: street,
    city,
    country,
    zip,
    ...(/^(US|United States)$/.test(country) ? { state: region } : { province: region }),
    phone: decodeText(place.telephone),
    website: addressOf(place.url ?? place.sameAs, page.url),
  };
  const item = post('venue', `venue:${[name, street, city].join(' ').toLowerCase()}`, values, page, caller);
  const coordinates =
    Math.abs(lat) <= 90 && Math.abs(lng) <= 180
      ? textMetas([
          [COORDINATES.lat, String(lat)],
          [COORDINATES.lng, String(lng)],
        ])
      : [];
  return [{ ...item, metas: [...item.metas, ...coordinates] }];
}

/** Returns the English name of a country by its code. */
function countryOf(text: string): string {
  if (!/^[A-Z]{2}$/.test(text)) return text;
  return new Intl.DisplayNames('en', { type: 'region' }).of(text) ?? text;
}

function organizerOf(value: unknown, page: FoundEvent['page'], caller: Caller): PostItem[] {
  const organizer = isRecord(value) ? value : { name: textOf(value) };
  const name = decodeText(organizer.name);
  if (name === '') return [];
  const email = decodeText(organizer.email).replace(/^mailto:/i, '');
  const values = {
    organizer: specialChars(name),
    email,
    phone: decodeText(organizer.telephone),
    website: addressOf(organizer.url ?? organizer.sameAs, page.url),
  };
  return [post('organizer', `organizer:${[email, name].join(' ').trim().toLowerCase()}`, values, page, caller)];
}

const tagsOf = (node: Node): TermReference[] => {
  const names = listOf(node.keywords).flatMap((keyword) => (typeof keyword === 'string' ? keyword.split(',') : [textOf(keyword)]));
  return [...new Set(names.map(decodeText).filter((name) => name !== '' && name.length <= 100))].map((name) => ({
    kind: 'tag',
    sourceId: `name ${name.toLowerCase()}`,
    name: specialChars(name),
  }));
};

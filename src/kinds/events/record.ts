import { type EventDates, isoOfTime } from '../../calendar/dates.ts';
import { type EventLd, eventJsonLd } from '../../calendar/json-ld.ts';
import { isTruthy } from '../../calendar/settings.ts';
import { memoizeByNumber } from '../../memo.ts';
import { escHtml } from '../../wordpress/content/entities.ts';
import { languageOfCode, languageTag } from '../../wordpress/content-languages.ts';
import { restUrl } from '../../wordpress/links.ts';
import { metaOf, type Post, type Term, textsOf } from '../../wordpress/rows.ts';
import { dateParts } from '../../wordpress/time.ts';
import { parseZone } from '../../wordpress/zones.ts';
import { category } from '../category.ts';
import { customFieldsRecord } from '../custom-fields.ts';
import { nonEmptyTexts } from '../fields.ts';
import { featuredImageUrl, imageRecord, thumbnailOf } from '../image-record.ts';
import { type OrganizerRecord, renderOrganizer } from '../organizer.ts';
import { globalIds, isLocked, linkedIds, pageUrl, postJsonLd, postMembers, renderedTexts } from '../post-record.ts';
import type { Bundle, RenderContext } from '../rendering.ts';
import { tag } from '../tag.ts';
import { embeddedTermRecord } from '../term-record.ts';
import { languageCodeOf, languageMember, termLanguage, translatedTermOf } from '../translations.ts';
import { renderVenue, type VenueRecord } from '../venue.ts';
import { costRecord } from './cost.ts';
import { storedDates } from './dates.ts';
import { EVENT, eventTexts } from './fields.ts';
import { COST, ORGANIZER_LINK, STATE, VENUE_LINK } from './metas.ts';
import type { EventRecord } from './shape.ts';

/** Returns the published event. */
export function renderEvent(id: number, bundle: Bundle, context: RenderContext): EventRecord {
  const row = bundle.posts.get(id)!;
  const metas = bundle.metas.get(id);
  const value = (key: string) => metaOf(metas, key) ?? '';
  const locked = isLocked(row, context);
  const rendered = renderedTexts(row, bundle, context);
  const dates = storedDates({ metas: metas ?? new Map() });
  const cost = locked ? NO_COST : costRecord(metas, context);
  const flag = (read: () => boolean) => (locked ? null : read());
  const isEnabled = (key: string) => metaOf(metas, key) === undefined || !['', '0'].includes(value(key));
  const venues = locked ? [] : linkedIds(id, VENUE_LINK, bundle, context);
  const organizers = locked ? [] : linkedIds(id, ORGANIZER_LINK, bundle, context);
  const website = metaOf(metas, EVENT.website);
  const url = pageUrl(id, bundle, context);
  const venueRecords = venues.map((venueId) => shownVenue(venueId, bundle, context));
  const [onlyVenue] = venueRecords;
  const organizerRecords = organizers.map((organizerId) => shownOrganizer(organizerId, bundle, context));

  return {
    id,
    ...globalIds(id, bundle, context),
    ...postMembers(row, url),
    rest_url: restUrl(context, `${context.namespace}/events/${id}`),
    title: rendered.title(),
    description: locked ? '' : rendered.description(),
    excerpt: locked ? '' : rendered.excerpt(),
    slug: row.post_name,
    image: locked ? false : imageRecord(thumbnailOf(id, bundle), bundle, context),
    all_day: flag(() => dates.allDay),
    ...dateMembers(dates),
    ...cost,
    website: locked ? '' : website === undefined ? url : escHtml(website),
    show_map: flag(() => isEnabled(EVENT.show_map)),
    show_map_link: flag(() => isEnabled(EVENT.show_map_link)),
    hide_from_listings: flag(() => value(EVENT.hide_from_listings) === 'yes'),
    sticky: flag(() => row.menu_order === -1),
    featured: flag(() => isTruthy(value(EVENT.featured))),
    categories: locked ? [] : termsOf(id, category.taxonomy, bundle, context),
    tags: locked ? [] : termsOf(id, tag.taxonomy, bundle, context),
    venue: onlyVenue && venueRecords.length === 1 ? onlyVenue : venueRecords,
    organizer: organizerRecords,
    ...nonEmptyTexts(eventTexts, (key) => (locked ? '' : value(key))),
    custom_fields: locked ? [] : customFieldsRecord(context.settings.calendar.customFields, metas),
    ...(context.withJsonLd && row.post_password === ''
      ? {
          json_ld: renderEventJsonLd(row, bundle, context, {
            location: jsonLdOf(venueRecords[0]),
            organizer: jsonLdOf(organizerRecords[0]),
            dates,
            url,
            cost: cost.cost,
          }),
        }
      : {}),
    ...languageMember(row, bundle, context),
  };
}

/** Rendered once per answer, since many events link to the same venues and organizers. */
const shownVenue = memoizeByNumber(renderVenue);
const shownOrganizer = memoizeByNumber(renderOrganizer);

/** The members of a record that show the dates of an event. */
const dateMembers = (dates: EventDates) => ({
  start_date: dates.start,
  start_date_details: dateParts(dates.start),
  end_date: dates.end,
  end_date_details: dateParts(dates.end),
  utc_start_date: dates.startUtc,
  utc_start_date_details: dateParts(dates.startUtc),
  utc_end_date: dates.endUtc,
  utc_end_date_details: dateParts(dates.endUtc),
  timezone: dates.timezone,
  timezone_abbr: dates.abbreviation,
});

const NO_COST = { cost: '', cost_details: { currency_symbol: '', currency_code: '', currency_position: '', values: [] as string[] } };

function termsOf(id: number, taxonomy: string, bundle: Bundle, context: RenderContext) {
  const terms = eventTerms(id, bundle, context).filter((term) => term.taxonomy === taxonomy);
  return terms.map((term) => ({
    ...embeddedTermRecord(term, context),
    ...termLanguage(term, bundle.languages?.terms.get(term.term_id), context),
  }));
}

/** Returns the terms of an event, translated into the event's language if the context asks for that. */
export function eventTerms(id: number, bundle: Bundle, context: Pick<RenderContext, 'translatesLinks' | 'settings'>): readonly Term[] {
  const terms = bundle.terms.get(id) ?? [];
  const language = context.translatesLinks ? languageCodeOf(bundle.posts.get(id)!, bundle, context) : undefined;
  return language
    ? [...new Map(terms.map((term) => translatedTermOf(term, language, bundle, context)).map((term) => [term.term_id, term])).values()]
    : terms;
}

/** Returns the structured data of a linked record; false for a protected one, which has none. */
const jsonLdOf = (record: VenueRecord | OrganizerRecord | undefined) => record?.json_ld ?? false;

interface JsonLdParts extends Pick<EventLd, 'location' | 'organizer'> {
  readonly dates: EventDates;
  readonly url: string;
  readonly cost: string;
}

function renderEventJsonLd(
  row: Post,
  bundle: Bundle,
  context: RenderContext,
  { dates, url, cost, ...linkedParts }: JsonLdParts,
): Record<string, unknown> {
  const metas = bundle.metas.get(row.ID);
  const zone = parseZone(dates.timezone) ?? context.settings.zone;
  const { calendar } = context.settings;
  return eventJsonLd({
    ...postJsonLd(row.ID, bundle),
    image: featuredImageUrl(row.ID, bundle, context),
    url,
    start: isoOfTime(dates.start, dates.startUtc, zone),
    end: isoOfTime(dates.end, dates.endUtc, zone),
    eventStatus: metaOf(metas, STATE) ?? '',
    ...linkedParts,
    cost,
    costs: textsOf(metas, COST.amounts),
    currencyCode: metaOf(metas, COST.code) || calendar.currencyCode || 'USD',
    published: row.post_date,
    language: languageOf(row, bundle, context),
  });
}

/** Returns the language tag of an event; undefined if it has no language. */
function languageOf(row: Post, bundle: Bundle, context: RenderContext): string | undefined {
  const { contentLanguages } = context.settings;
  const language = contentLanguages && languageOfCode(contentLanguages, languageCodeOf(row, bundle, context) ?? undefined);
  return language && languageTag(language);
}

import { memoize } from '../memo.ts';
import { escHtml, escJs } from '../wordpress/content/entities.ts';
import { trimWords } from '../wordpress/content/excerpt.ts';
import { forwardSearch } from '../wordpress/content/html-pieces.ts';
import { ksesPost } from '../wordpress/content/kses.ts';
import { addParagraphs } from '../wordpress/content/paragraphs.ts';
import { renderTitle } from '../wordpress/content/render.ts';
import { tableOf } from '../wordpress/table.ts';
import { offerPrice } from './cost.ts';

/** Values of the post for every structured record, raw as stored. */
export interface PostLd {
  readonly title: string;
  readonly content: string;
  readonly excerpt: string;
  readonly status: string;
  /** Whether the post has a password. */
  readonly protected: boolean;
  /** URL of the featured image in full size; undefined: none. */
  readonly image?: string | undefined;
}

export interface VenueLd extends PostLd {
  readonly street: string;
  readonly city: string;
  readonly region: string;
  readonly zip: string;
  readonly country: string;
  readonly phone: string;
  readonly website: string;
}

export interface OrganizerLd extends PostLd {
  readonly phone: string;
  readonly website: string;
  readonly email: string;
}

export interface EventLd extends PostLd {
  /** URL of the event's page. */
  readonly url: string;
  /** ISO 8601 with the offset of the event's zone. */
  readonly start: string;
  readonly end: string;
  /** Meta `_tribe_events_status`; empty: the event takes place as planned. */
  readonly eventStatus: string;
  /** Structured data of the first venue and organizer; false if there is none that the caller may see. */
  readonly location: Readonly<Record<string, unknown>> | false;
  readonly organizer: Readonly<Record<string, unknown>> | false;
  /** The cost as published; empty: no offer. `costs` are the stored values. */
  readonly cost: string;
  readonly costs: readonly string[];
  /** ISO 4217. */
  readonly currencyCode: string;
  /** Publication date, `YYYY-MM-DD HH:MM:SS`, in the site's local time. */
  readonly published: string;
  /** Language of its texts (BCP 47). */
  readonly language?: string | undefined;
}

/** Number of words in a description made from the content. */
const DESCRIPTION_WORDS = 30;
const STATUSES: ReadonlyMap<string, string> = tableOf({
  canceled: 'EventCancelled',
  postponed: 'EventPostponed',
  'moved-online': 'EventMovedOnline',
});

/** Returns the structured data of an event (schema.org Event). Members are in the order of the reference. */
export function eventJsonLd(event: EventLd): Record<string, unknown> {
  const url = linkOf(event);
  return {
    '@context': 'http://schema.org',
    '@type': 'Event',
    ...texts(event),
    url,
    eventAttendanceMode: 'https://schema.org/OfflineEventAttendanceMode',
    eventStatus: `https://schema.org/${STATUSES.get(event.eventStatus) ?? 'EventScheduled'}`,
    startDate: event.start,
    endDate: event.end,
    ...(event.location ? { location: event.location } : {}),
    ...(event.organizer ? { organizer: event.organizer } : {}),
    ...(event.cost === '' ? {} : { offers: offer(event, url) }),
    performer: 'Organization',
    ...(event.language === undefined ? {} : { inLanguage: event.language }),
  };
}

/**
 * Returns the structured data of a venue (schema.org Place). Empty parts of the address are left out; the parts and the
 * telephone are HTML texts.
 */
export function venueJsonLd(venue: VenueLd): Record<string, unknown> {
  const address = {
    streetAddress: venue.street,
    addressLocality: venue.city,
    addressRegion: venue.region,
    postalCode: venue.zip,
    addressCountry: venue.country,
  };
  return {
    '@type': 'Place',
    ...texts(venue),
    url: '',
    address: {
      '@type': 'PostalAddress',
      ...withoutEmpty(address),
    },
    telephone: escHtml(venue.phone),
    sameAs: venue.website,
  };
}

function withoutEmpty(parts: Readonly<Record<string, string>>): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, part] of Object.entries(parts)) if (part !== '') texts[name] = escHtml(part);
  return texts;
}

/** Returns the structured data of an organizer (schema.org Person). */
export function organizerJsonLd(organizer: OrganizerLd): Record<string, unknown> {
  return {
    '@type': 'Person',
    ...texts(organizer),
    url: organizer.website,
    telephone: escHtml(organizer.phone),
    email: obfuscateEmail(organizer.email),
    sameAs: organizer.website,
  };
}

/**
 * Obfuscates an e-mail address against harvesters: each character becomes a decimal entity. WordPress (`antispambot`)
 * selects the characters at random; here the result is always the same, so that it can be cached.
 */
export const obfuscateEmail = memoize((address) => Array.from(address, (character) => `&#${character.codePointAt(0)};`).join(''));

function texts({ title, content, excerpt, status, protected: locked, image }: PostLd): Record<string, unknown> {
  const prefix = locked ? 'Protected: ' : status === 'private' ? 'Private: ' : '';
  return {
    name: prefix + escapedTitle(title),
    description: excerpt !== '' ? descriptionOfExcerpt(excerpt) : startOfContent(content),
    ...(image ? { image } : {}),
  };
}

const escapedTitle = memoize((title) => escJs(renderTitle(title)));

/**
 * The description: the excerpt, or else the start of the content without markup, in paragraphs. Text in square brackets
 * is removed from both.
 */
const descriptionOfExcerpt = memoize((excerpt) => inParagraphs(ksesPost(withoutBrackets(excerpt)).trim()));
const startOfContent = memoize((content) => inParagraphs(trimWords(withoutBrackets(content), DESCRIPTION_WORDS, ' [&hellip;]')));

const inParagraphs = (text: string): string => escJs(text === '' ? '' : addParagraphs(text));

/** Returns the text without anything in square brackets on one line, that is, without shortcodes, known or unknown. */
function withoutBrackets(text: string): string {
  const [opening, closing, line] = [forwardSearch(text, '['), forwardSearch(text, ']'), forwardSearch(text, '\n')];
  let result = '';
  let from = 0;
  for (let open = opening(0); open >= 0; open = opening(open + 1)) {
    if (open < from) continue;
    const close = closing(open + 2);
    const end = line(open);
    if (close < 0 || (end >= 0 && end < close)) continue;
    result += text.slice(from, open);
    from = close + 1;
  }
  return result + text.slice(from);
}

/** Returns the URL of the event; for an event that has no public page yet, in the form that the reference uses. */
const linkOf = ({ url, status }: EventLd) => (status !== 'publish' && status !== 'private' && url.includes('?') ? `${url}%2F/` : url);

function offer({ costs, currencyCode, published }: EventLd, url: string): Record<string, string> {
  return {
    '@type': 'Offer',
    price: offerPrice(costs),
    priceCurrency: currencyCode,
    url,
    category: 'primary',
    availability: 'inStock',
    validFrom: `${published.slice(0, 10)}T00:00:00+00:00`,
  };
}

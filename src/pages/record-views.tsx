import type { ComponentChildren, JSX } from 'preact';
import { Input } from '../html/form-fields.tsx';
import type { I18n } from '../html/i18n.ts';
import { Link, mailUrl } from '../html/links.tsx';
import { type Neighbour, Paging } from '../html/paging.tsx';
import { Rendered } from '../html/rendered.tsx';
import { Cards } from './calendar-views.tsx';
import { Subscribe } from './frame.tsx';
import type { EventCard, NamedLink, Picture, PlaceModel } from './models.ts';
import type { Subscription } from './urls.ts';

export interface EventProps {
  readonly i18n: I18n;
  readonly card: EventCard;
  /** Its text as HTML. */
  readonly description: string;
  readonly picture: Picture | undefined;
  readonly places: readonly PlaceModel[];
  readonly organizers: readonly OrganizerModel[];
  readonly website: string;
  readonly categories: readonly NamedLink[];
  readonly tags: readonly NamedLink[];
  /** Custom fields of the site with their labels. */
  readonly details: readonly Detail[];
  /** Set if it does not take place as planned, in words. */
  readonly notice: string | undefined;
  /** Whether all of its dates are over. */
  readonly isOver: boolean;
  /** Other dates of a recurring event, in words. */
  readonly dates: readonly NamedLink[];
  readonly add: readonly Subscription[];
  readonly back: string;
  /** Undefined: the event is open. Otherwise `error` says that the password was wrong, if one was sent. */
  readonly locked: { readonly error: string | undefined } | undefined;
}

/** The value of a custom field of the site. `href`: set if the value is a URL. */
export interface Detail {
  readonly label: string;
  readonly value: string;
  readonly href?: string;
}

export interface OrganizerModel extends NamedLink {
  readonly phone: string;
  readonly email: string;
  readonly website: string;
}

/** The page of an event. */
export function EventView(props: EventProps): JSX.Element {
  const { i18n, card, description, picture, notice, isOver, places, add, back, locked } = props;
  const { say } = i18n;
  const { when, zone } = card;
  return (
    <article class="record">
      <p class="back">
        <Link href={back}>{say('pages:back')}</Link>
      </p>
      <h1 lang={card.lang} dir="auto">
        {card.title}
      </h1>
      {notice !== undefined && <p class="notice">{notice}</p>}
      {notice === undefined && isOver && <p class="notice notice-quiet">{say('pages:over')}</p>}
      {when !== '' && (
        <p class="record-when">
          <time dateTime={card.start.replace(' ', 'T')}>{zone === undefined ? when : say('pages:local-time', { when, zone })}</time>
        </p>
      )}
      {(places.length > 0 || card.cost !== '') && (
        <p class="record-where">
          {places.map(({ href, name, town }) => (
            <span key={href}>
              <Link href={href}>
                <bdi>{name}</bdi>
              </Link>
              {town !== '' && (
                <>
                  , <bdi>{town}</bdi>
                </>
              )}
            </span>
          ))}
          {card.cost !== '' && (
            <span>
              <span class="hidden">{say('pages:cost')}: </span>
              {card.cost}
            </span>
          )}
        </p>
      )}
      {picture && <img class="record-picture" src={picture.src} width={picture.width} height={picture.height} alt={picture.text} />}
      {locked ? <PasswordForm i18n={i18n} error={locked.error} /> : <Rendered html={description} class="text" lang={card.lang} />}
      <Facts {...props} />
      {!locked && add.length > 0 && (
        <p class="buttons">
          {add.map(({ name, href }) => (
            <Link key={name} href={href} class="button">
              {name === 'file' ? say('pages:add') : say(`pages:subscribe-to.${name}`)}
            </Link>
          ))}
        </p>
      )}
    </article>
  );
}

/** The properties of an event, each with its label. */
function Facts({ i18n, places, organizers, website, categories, tags, details, dates }: EventProps): JSX.Element {
  const { say } = i18n;
  return (
    <dl class="facts">
      {places.length > 0 && (
        <Fact label={say('pages:where')}>
          {places.map((place) => (
            <Place key={place.href} i18n={i18n} place={place} />
          ))}
        </Fact>
      )}
      {organizers.length > 0 && (
        <Fact label={say('pages:organizers', { count: organizers.length })}>
          {organizers.map((organizer) => (
            <div key={organizer.href}>
              <Link href={organizer.href}>
                <bdi>{organizer.name}</bdi>
              </Link>
              <Contact i18n={i18n} {...organizer} website="" />
            </div>
          ))}
        </Fact>
      )}
      {website !== '' && (
        <Fact label={say('pages:website')}>
          <Website address={website} />
        </Fact>
      )}
      {categories.length > 0 && (
        <Fact label={say('pages:categories')}>
          <NameList names={categories} />
        </Fact>
      )}
      {tags.length > 0 && (
        <Fact label={say('pages:tags')}>
          <NameList names={tags} />
        </Fact>
      )}
      {details.map(({ label, value, href }) => (
        <Fact key={label} label={label}>
          {href === undefined ? value : <Link href={href}>{shortUrl(value)}</Link>}
        </Fact>
      ))}
      {dates.length > 0 && (
        <Fact label={say('pages:other-dates')}>
          <ul class="dates">
            {dates.map(({ name, href }) => (
              <li key={href}>
                <Link href={href}>{name}</Link>
              </li>
            ))}
          </ul>
        </Fact>
      )}
    </dl>
  );
}

function Place({ i18n: { say }, place }: { readonly i18n: I18n; readonly place: PlaceModel }): JSX.Element {
  return (
    <div>
      <Link href={place.href}>
        <bdi>{place.name}</bdi>
      </Link>
      {place.address !== '' && (
        <div class="quiet">
          <bdi>{place.address}</bdi>
        </div>
      )}
      {place.map !== undefined && (
        <div>
          <Link href={place.map}>{say('pages:map')}</Link>
        </div>
      )}
    </div>
  );
}

/** The form for the password of a protected event. It is sent to the URL of the page. */
function PasswordForm({ i18n, error }: { readonly i18n: I18n; readonly error: string | undefined }): JSX.Element {
  const { say } = i18n;
  return (
    <form method="post" class="password">
      <p>{say('pages:locked')}</p>
      <Input name="post_password" type="password" label={say('pages:password')} error={error} required autocomplete="off" />
      <button type="submit">{say('pages:open')}</button>
    </form>
  );
}

function Fact({ label, children }: { readonly label: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const NameList = ({ names }: { readonly names: readonly NamedLink[] }): JSX.Element => (
  <ul class="names">
    {names.map(({ name, href }) => (
      <li key={href}>
        <Link href={href}>
          <bdi>{name}</bdi>
        </Link>
      </li>
    ))}
  </ul>
);

interface ContactProps {
  readonly i18n: I18n;
  readonly phone: string;
  readonly email?: string;
  readonly website: string;
}

function Contact({ phone, email = '', website }: ContactProps): JSX.Element | null {
  if (phone === '' && email === '' && website === '') return null;
  return (
    <ul class="contact">
      {phone !== '' && (
        <li>
          <Phone text={phone} />
        </li>
      )}
      {email !== '' && (
        <li>
          <Link href={mailUrl(email)}>{email}</Link>
        </li>
      )}
      {website !== '' && (
        <li>
          <Website address={website} />
        </li>
      )}
    </ul>
  );
}

/**
 * A phone number as a link. Several numbers, or one among words, are shown as text, since the digits to dial are
 * unclear.
 */
function Phone({ text }: { readonly text: string }): JSX.Element {
  const number = text.replace(/^\p{L}[\p{L}.]*:?\s*/u, '');
  if (!/^\+?[\d\s()./-]{3,}$/.test(number) || /\s\/\s/.test(number)) return <span>{text}</span>;
  // The 0 in brackets is left out in international calls: `+44 (0)20 7946 0000`.
  const dialledNumber = (number.startsWith('+') ? number.replace('(0)', '') : number).replace(/[^\d+]/g, '');
  return <Link href={`tel:${dialledNumber}`}>{text}</Link>;
}

/** A website as a link; a value that is not a URL is shown as text. */
const Website = ({ address }: { readonly address: string }): JSX.Element =>
  URL.canParse(address) || address.startsWith('/') ? <Link href={address}>{shortUrl(address)}</Link> : <span>{address}</span>;

/** Returns a URL in short form for display. */
const shortUrl = (url: string): string => url.replace(/^https?:\/\/(www\.)?/i, '').replace(/\/$/, '');

export interface LinkedProps {
  readonly i18n: I18n;
  /** The tag of its language, if that is not the language of the page. */
  readonly lang: string | undefined;
  readonly name: string;
  /** Its text as HTML. */
  readonly description: string;
  readonly picture: Picture | undefined;
  /** Its address and map, for a venue. */
  readonly place: PlaceModel | undefined;
  readonly phone: string;
  readonly email: string;
  readonly website: string;
  /** The heading above its events. */
  readonly heading: string;
  readonly events: readonly EventCard[];
  readonly previous: Neighbour | undefined;
  readonly next: Neighbour | undefined;
  readonly here: string | undefined;
  readonly back: string;
  readonly subscriptions: readonly Subscription[];
}

/** A venue or an organizer with its events. */
export function LinkedView(props: LinkedProps): JSX.Element {
  const { i18n, lang, name, description, picture, place, heading, events, previous, next, here, back, subscriptions } = props;
  const { say } = i18n;
  return (
    <article class="record">
      <p class="back">
        <Link href={back}>{say('pages:back')}</Link>
      </p>
      <h1 lang={lang} dir="auto">
        {name}
      </h1>
      {picture && <img class="record-picture" src={picture.src} width={picture.width} height={picture.height} alt={picture.text} />}
      {place && place.address !== '' && (
        <p class="record-when" dir="auto">
          {place.address}
        </p>
      )}
      <Contact {...props} />
      {place?.map !== undefined && (
        <p>
          <Link href={place.map}>{say('pages:map')}</Link>
        </p>
      )}
      {description !== '' && <Rendered html={description} class="text" lang={lang} />}
      <section aria-labelledby="events">
        <h2 id="events">{heading}</h2>
        {events.length === 0 && <p class="none">{say('pages:no-events')}</p>}
        <Cards i18n={i18n} cards={events} />
        <Paging label={say('pages:other-pages')} previous={previous} next={next} here={here} />
      </section>
      {subscriptions.length > 0 && <Subscribe i18n={i18n} ways={subscriptions} />}
    </article>
  );
}

export interface ProblemProps {
  readonly i18n: I18n;
  readonly heading: string;
  readonly about: string;
  /** The id by which an administrator finds the request in the log. */
  readonly request: string | undefined;
  readonly back: string;
}

/** An error page. */
export const ProblemView = ({ i18n, heading, about, request, back }: ProblemProps): JSX.Element => (
  <>
    <h1>{heading}</h1>
    <p>{about}</p>
    {request !== undefined && <p class="quiet">{i18n.say('pages:request', { id: request })}</p>}
    <p>
      <Link href={back}>{i18n.say('pages:back')}</Link>
    </p>
  </>
);

import type { ComponentChildren, JSX } from 'preact';
import { groupedBy } from '../grouped-by.ts';
import { dayInWords } from '../html/dates.ts';
import type { I18n } from '../html/i18n.ts';
import { Link } from '../html/links.tsx';
import { type Neighbour, Paging } from '../html/paging.tsx';
import { Rendered } from '../html/rendered.tsx';
import { WeekdayHead } from '../html/weekday-head.tsx';
import { SearchForm, type SearchProps } from './filter-views.tsx';
import { Menu, Subscribe } from './frame.tsx';
import type { EventCard, MonthDay, NamedLink } from './models.ts';
import type { Subscription } from './urls.ts';

/** Data that every page of the calendar shows around its events. */
export interface CalendarProps {
  readonly i18n: I18n;
  readonly heading: string;
  /** HTML description of the category or tag; empty if there is none. */
  readonly about: string;
  readonly views: readonly (NamedLink & { readonly current: boolean })[];
  readonly categories: readonly (NamedLink & { readonly current: boolean })[];
  readonly search: SearchProps;
  readonly subscriptions: readonly Subscription[];
  readonly previous: Neighbour | undefined;
  readonly next: Neighbour | undefined;
  /** The position of the page among several, in words. */
  readonly here: string | undefined;
  /** Label of the paging navigation. */
  readonly paged: string;
  /** Whether the neighbours are other months or days, so that links to them are also shown above the events. */
  readonly stepped: boolean;
}

export interface ListProps extends CalendarProps {
  readonly events: readonly EventCard[];
  /** The text shown if there are no events. */
  readonly none: string;
  /** The list of all events of a day that has more than its page shows. */
  readonly whole?: NamedLink | undefined;
}

/** Events grouped by the month in which they begin. */
export function ListView({ events, none, whole, ...calendar }: ListProps): JSX.Element {
  const { i18n } = calendar;
  return (
    <CalendarPage {...calendar}>
      {events.length === 0 && <p class="none">{none}</p>}
      {[...byMonth(events)].map(([month, cards]) => (
        <section key={month} aria-labelledby={`m${month}`}>
          <h2 id={`m${month}`} class="month-heading">
            {dayInWords(i18n, month, 'month')}
          </h2>
          <Cards i18n={i18n} cards={cards} />
        </section>
      ))}
      {whole && (
        <p>
          <Link href={whole.href}>{whole.name}</Link>
        </p>
      )}
    </CalendarPage>
  );
}

const byMonth = (events: readonly EventCard[]): Map<string, EventCard[]> =>
  groupedBy(events, ({ start }) => start.slice(0, 'YYYY-MM'.length));

/** Events in a list, in their order. */
export const Cards = ({ i18n, cards }: { readonly i18n: I18n; readonly cards: readonly EventCard[] }): JSX.Element => (
  <ol class="events">
    {cards.map((card) => (
      <li key={card.id}>
        <Card i18n={i18n} card={card} />
      </li>
    ))}
  </ol>
);

/** An event in a list. Only its own texts are in its language; dates and marks are in that of the page. */
function Card({ i18n, card }: { readonly i18n: I18n; readonly card: EventCard }): JSX.Element {
  const { lang, title, href, start, when, zone, where, cost, summary, picture, featured, mark } = card;
  const { say } = i18n;
  return (
    <article class={featured ? 'card card-featured' : 'card'}>
      <div class="card-day" aria-hidden="true">
        <span class="card-weekday">{weekdayOf(i18n, start)}</span>
        <span class="card-number">{Number(start.slice(8, 10))}</span>
      </div>
      <div class="card-text">
        <h3 lang={lang} dir="auto">
          <Link href={href}>{title}</Link>
        </h3>
        <p class="card-when">
          {mark !== undefined && <span class="mark">{mark}</span>} {featured && <span class="mark">{say('pages:featured-mark')}</span>}{' '}
          <time dateTime={start.replace(' ', 'T')}>{zone === undefined ? when : say('pages:local-time', { when, zone })}</time>
        </p>
        {where !== '' && (
          <p class="card-where" lang={lang} dir="auto">
            {where}
          </p>
        )}
        {summary !== '' && (
          <p class="card-summary" lang={lang} dir="auto">
            {summary}
          </p>
        )}
        {cost !== '' && <p class="card-cost">{cost}</p>}
      </div>
      {picture && (
        <img
          class="card-picture"
          lang={lang}
          src={picture.src}
          width={picture.width}
          height={picture.height}
          alt={picture.text}
          loading="lazy"
        />
      )}
    </article>
  );
}

const weekdayOf = (i18n: I18n, day: string): string => dayInWords(i18n, day, 'weekday').slice(0, 3);

export interface MonthProps extends CalendarProps {
  /** Weeks of seven days each, starting with the first day of the week. */
  readonly weeks: readonly (readonly MonthDay[])[];
  /** The first day of the week; 0: Sunday. */
  readonly firstDay: number;
  /** Number of events that are not included in the days. */
  readonly unseen: number;
  /** The text shown if no day has events; a narrow screen shows no empty days. */
  readonly none: string | undefined;
}

/** Maximum number of events shown in a day of a month; the day's own page has all. */
const MAX_EVENTS_PER_DAY = 3;

/** Returns the ids of the events shown in the days of a month. */
export const idsShownInMonth = (weeks: MonthProps['weeks']): ReadonlySet<number> =>
  new Set(weeks.flat().flatMap(({ events = [] }) => events.slice(0, MAX_EVENTS_PER_DAY).map(({ id }) => id)));

/** A month as a table of days. On a narrow screen the stylesheet turns it into a list of the days that have events. */
export function MonthView({ weeks, firstDay, unseen, none, ...calendar }: MonthProps): JSX.Element {
  const { i18n, heading } = calendar;
  return (
    <CalendarPage {...calendar}>
      {none !== undefined && <p class="none">{none}</p>}
      <table class="month">
        <caption class="hidden">{heading}</caption>
        <WeekdayHead i18n={i18n} first={firstDay} />
        <tbody>
          {weeks.map((week) => (
            <tr key={week[0]?.date}>
              {week.map((day) => (
                <Day key={day.date} i18n={i18n} day={day} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {unseen > 0 && <p class="quiet">{i18n.say('pages:many-events', { count: unseen })}</p>}
    </CalendarPage>
  );
}

function Day({ i18n, day }: { readonly i18n: I18n; readonly day: MonthDay }): JSX.Element {
  const { date, words, href, isToday, events, mayHaveMore } = day;
  if (events === undefined) return <td class="other-month" />;
  const [shownEvents, hiddenCount] = [events.slice(0, MAX_EVENTS_PER_DAY), Math.max(0, events.length - MAX_EVENTS_PER_DAY)];
  const isEmpty = events.length === 0 && !mayHaveMore;
  const classes = [...(isEmpty ? ['empty-day'] : []), ...(isToday ? ['today'] : [])].join(' ');
  const current = isToday ? 'date' : undefined;
  // The link of a day says that it is today; a day without events has none.
  const number = (
    <time dateTime={date} aria-current={isEmpty ? current : undefined}>
      {Number(date.slice(8))}
    </time>
  );
  return (
    <td class={classes || undefined}>
      {!isEmpty ? (
        <Link href={href} class="day-number" label={words} current={current}>
          {number}
          <span class="day-words" aria-hidden="true">
            {words}
          </span>
        </Link>
      ) : (
        <span class="day-number">{number}</span>
      )}
      {shownEvents.length > 0 && (
        <ul>
          {shownEvents.map(({ id, title, href: event, time, lang, mark }) => (
            <li key={id}>
              <Link href={event}>
                {time !== undefined && <span class="day-time">{time} </span>}
                {mark !== undefined && <span class="day-mark">{mark}: </span>}
                <bdi lang={lang}>{title}</bdi>
              </Link>
            </li>
          ))}
        </ul>
      )}
      {(hiddenCount > 0 || mayHaveMore) && (
        <p class="day-more">
          <Link href={href}>{mayHaveMore ? i18n.say('pages:all-on-day') : i18n.say('pages:more-on-day', { count: hiddenCount })}</Link>
        </p>
      )}
    </td>
  );
}

function CalendarPage(props: CalendarProps & { readonly children: ComponentChildren }): JSX.Element {
  const { i18n, heading, about, views, categories, search, subscriptions, previous, next, here, paged, stepped, children } = props;
  const { say } = i18n;
  return (
    <>
      <h1 dir="auto">{heading}</h1>
      {about !== '' && <Rendered html={about} class="about" />}
      <SearchForm i18n={i18n} search={search} />
      <nav aria-label={say('pages:views')}>
        <Menu items={views} class="views" />
      </nav>
      {stepped && <Steps previous={previous} next={next} />}
      {children}
      <Paging label={paged} previous={previous} next={next} here={here} />
      {categories.length > 0 && (
        <nav aria-labelledby="categories" class="categories">
          <h2 id="categories">{say('pages:categories')}</h2>
          <Menu items={categories} />
        </nav>
      )}
      <Subscribe i18n={i18n} ways={subscriptions} />
    </>
  );
}

/**
 * The links to the previous and next month or day, above the events. Below the events, `Paging` always has the same
 * links.
 */
function Steps({ previous, next }: Pick<CalendarProps, 'previous' | 'next'>): JSX.Element {
  return (
    <p class="steps">
      {previous && <Link href={previous.href}>{previous.text}</Link>}
      {next && (
        <Link href={next.href} class="steps-next">
          {next.text}
        </Link>
      )}
    </p>
  );
}

/**
 * `<fasti-events>`: the events of a calendar on any page, as a list or a month. One file, nothing else is loaded.
 *
 *   <script type="module" src="https://calendar.example.org/_fasti/fasti-events.js"></script>
 *   <fasti-events category="music" count="5"></fasti-events>
 *
 * Attributes: `source` (URL of the site with the calendar; by default the one that this file comes from), `view`
 * (`list` or `month`), `category`, `tag`, `venue`, `organizer`, `search`, `count`, `language`. All parts can be styled
 * from outside (`fasti-events::part(title)`), colours by `--fasti-accent`, `--fasti-line` and `--fasti-muted`.
 * It sends `fasti-load` with the events as `detail` once they are shown, and `fasti-error` if they cannot be loaded.
 */
const OWN_SITE = new URL('..', import.meta.url).href;
const ATTRIBUTES = ['source', 'view', 'category', 'tag', 'venue', 'organizer', 'search', 'count', 'language'];
const WORDS = {
  en: {
    none: 'No events.',
    failed: 'The events could not be loaded.',
    untitled: 'Untitled event',
    before: 'Previous month',
    after: 'Next month',
  },
  it: {
    none: 'Nessun evento.',
    failed: 'Non è stato possibile caricare gli eventi.',
    untitled: 'Evento senza titolo',
    before: 'Mese precedente',
    after: 'Mese successivo',
  },
};
/**
 * Maximum number of pages of events that are loaded; `PAGE_LENGTH` is the usual maximum of the API. Pages of a month
 * also have events around it.
 */
const MAX_PAGES = 20;
const MAX_PAGES_OF_MONTH = 40;
const PAGE_LENGTH = 50;
const DEFAULT_COUNT = 10;

const STYLE = new CSSStyleSheet();
STYLE.replaceSync(`
  :host { display: block; --fasti-accent: #8f3413; --fasti-line: color-mix(in srgb, currentColor 22%, transparent); --fasti-muted: inherit; }
  @media (prefers-color-scheme: dark) { :host { --fasti-accent: #f0a878; } }
  ul { list-style: none; margin: 0; padding: 0; }
  li.event { padding: .7em 0; border-top: 1px solid var(--fasti-line); }
  a { color: inherit; text-underline-offset: .18em; }
  a.title { font-weight: 600; text-decoration: none; }
  a.title:hover { text-decoration: underline; }
  .when, .where { color: var(--fasti-muted); font-size: .93em; display: block; }
  .bar { display: flex; align-items: center; justify-content: space-between; gap: 1em; }
  .month-name { font-weight: 600; }
  .month-name::first-letter { text-transform: uppercase; }
  button { font: inherit; color: inherit; background: none; border: 1px solid var(--fasti-line); border-radius: .3em; padding: .35em .8em; cursor: pointer; }
  :focus-visible { outline: 3px solid var(--fasti-accent); outline-offset: 2px; }
  table { width: 100%; border-collapse: collapse; table-layout: fixed; margin-top: .6em; }
  th { text-align: start; font-size: .85em; font-weight: 600; padding: .3em; }
  td { border: 1px solid var(--fasti-line); vertical-align: top; height: 4.5em; padding: .3em; font-size: .88em; overflow-wrap: anywhere; }
  td li { margin-top: .25em; }
  [aria-current] { color: var(--fasti-accent); font-weight: 700; }
`);

class FastiEvents extends HTMLElement {
  static observedAttributes = ATTRIBUTES;

  #root = this.attachShadow({ mode: 'open' });
  /** The present load; aborted if something else is requested in the meantime. */
  #loading = new AbortController();
  #queued = false;
  /** The month being shown, `YYYY-MM`. */
  #month = isoDay(new Date()).slice(0, 7);

  connectedCallback() {
    this.#root.adoptedStyleSheets = [STYLE];
    this.#refresh();
  }

  disconnectedCallback() {
    this.#loading.abort();
  }

  attributeChangedCallback(_name, before, after) {
    if (this.isConnected && before !== after) this.#refresh();
  }

  /** Reloads once, even if several attributes change together. */
  #refresh() {
    if (this.#queued) return;
    this.#queued = true;
    queueMicrotask(() => {
      this.#queued = false;
      this.#load();
    });
  }

  async #load() {
    this.#loading.abort();
    this.#loading = new AbortController();
    const { signal } = this.#loading;
    this.setAttribute('aria-busy', 'true');
    try {
      const events = await this.#events(signal);
      if (signal.aborted) return;
      this.#show(this.#isMonth ? this.#monthView(events) : this.#listView(events));
      this.dispatchEvent(new CustomEvent('fasti-load', { detail: events, bubbles: true, composed: true }));
    } catch (error) {
      if (signal.aborted) return;
      this.#show([element('p', { part: 'error', role: 'alert' }, this.#words.failed)]);
      this.dispatchEvent(new CustomEvent('fasti-error', { detail: error, bubbles: true, composed: true }));
    }
    this.removeAttribute('aria-busy');
  }

  /** Loads the events of the list, or of the whole month. */
  async #events(signal) {
    const page = async (number) => {
      const answer = await fetch(this.#address(number), { signal, headers: { Accept: 'application/json' } });
      if (!answer.ok) throw new Error(`The calendar answered ${answer.status}.`);
      return answer.json();
    };
    const { events, total_pages: pages } = await page(1);
    // A site may have shorter pages. All pages but the last one are full.
    const most = this.#isMonth ? MAX_PAGES_OF_MONTH : Math.min(MAX_PAGES, Math.ceil(this.#count / Math.max(1, events.length)));
    const last = Math.min(pages, most);
    const others = await Promise.all(Array.from({ length: Math.max(0, last - 1) }, (_, at) => page(at + 2)));
    const found = [...events, ...others.flatMap((other) => other.events)];
    const [firstDay, end] = [`${this.#month}-01`, lastDay(this.#month)];
    return (this.#isMonth ? found.filter((event) => isOnDays(event, firstDay, end)) : found).slice(0, this.#count);
  }

  /** Maximum number of events shown. */
  get #count() {
    const most = MAX_PAGES * PAGE_LENGTH;
    if (this.#isMonth) return most;
    const asked = Number.parseInt(this.getAttribute('count'), 10);
    return asked > 0 ? Math.min(asked, most) : DEFAULT_COUNT;
  }

  #show(nodes) {
    this.#root.replaceChildren(...nodes.flat());
  }

  get #isMonth() {
    return this.getAttribute('view') === 'month';
  }

  /** The first valid language tag, also in the form that programs use (`it_IT`). Invalid ones are ignored. */
  get #language() {
    const said = [this.getAttribute('language'), this.closest('[lang]')?.lang, navigator.language];
    return said.map((tag) => (tag ?? '').replaceAll('_', '-')).find(isTag) ?? 'en';
  }

  get #words() {
    return WORDS[this.#language.slice(0, 2)] ?? WORDS.en;
  }

  /** Returns the API URL of a page of the list. */
  #address(page) {
    const site = new URL(this.getAttribute('source') || OWN_SITE, document.baseURI);
    const url = new URL(`${site.pathname.replace(/\/$/, '')}/wp-json/tribe/events/v1/events`, site);
    const set = (name, value) => value && url.searchParams.set(name, value);
    set('per_page', Math.min(this.#count, PAGE_LENGTH));
    set('page', page > 1 && page);
    set('categories', this.getAttribute('category'));
    set('tags', this.getAttribute('tag'));
    for (const name of ['venue', 'organizer', 'search']) set(name, this.getAttribute(name));
    // Unlike `translation_language`, these are ignored if the calendar has neither content nor texts in the language.
    const tag = this.#language.toLowerCase();
    set('wpml_language', tag.includes('-') && tag);
    set('lang', tag.split('-')[0]);
    if (this.#isMonth) {
      // Also events around the month: the site compares in its own zone, and its days may begin later than midnight.
      set('ends_after', isoDayOf(Date.parse(`${this.#month}-01`) - (1 + MARGIN_DAYS) * DAY_MS));
      set('starts_before', isoDayOf(Date.parse(lastDay(this.#month)) + MARGIN_DAYS * DAY_MS));
    }
    return url;
  }

  #listView(events) {
    if (events.length === 0) return [element('p', { part: 'none' }, this.#words.none)];
    return [element('ul', { part: 'list' }, ...events.map((event) => this.#item(event)))];
  }

  #item(event) {
    const where = [event.venue].flat().flatMap((venue) => (venue ? [plain(venue.venue), plain(venue.city)] : []));
    const place = where.filter(Boolean).join(', ');
    const when = this.#when(event);
    return element(
      'li',
      { part: 'event', class: 'event' },
      link(event, { part: 'title', class: 'title' }, this.#title(event)),
      ...(when ? [element('time', { part: 'when', class: 'when', datetime: event.start_date.replace(' ', 'T') }, when)] : []),
      ...(place ? [element('span', { part: 'where', class: 'where' }, place)] : []),
    );
  }

  #title({ title }) {
    return plain(title) || this.#words.untitled;
  }

  /** Returns start and end in words, in the event's local time; empty if the event has no dates. */
  #when(event) {
    const { start_date: start } = event;
    if (!hasDates(event)) return '';
    const day = { weekday: 'short', day: 'numeric', month: 'long', year: 'numeric' };
    const clock = isAllDay(event) ? {} : { hour: 'numeric', minute: '2-digit' };
    const format = new Intl.DateTimeFormat(this.#language, { ...day, ...clock, timeZone: 'UTC' });
    const [, until] = [start, endOf(event)].sort();
    return format.formatRange(moment(start), moment(until));
  }

  #monthView(events) {
    const first = moment(`${this.#month}-01 00:00:00`);
    const before = (first.getUTCDay() + 6) % 7;
    const days = Number(lastDay(this.#month).slice(8));
    const cells = Array.from({ length: Math.ceil((before + days) / 7) * 7 }, (_, at) => {
      const number = at - before + 1;
      return number < 1 || number > days ? element('td') : this.#day(`${this.#month}-${String(number).padStart(2, '0')}`, number, events);
    });
    const weeks = Array.from({ length: cells.length / 7 }, (_, week) => element('tr', {}, ...cells.slice(week * 7, week * 7 + 7)));
    const name = new Intl.DateTimeFormat(this.#language, { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(first);
    // 5 January 1970 was a Monday.
    const heads = Array.from({ length: 7 }, (_, at) => {
      const weekday = (width) =>
        new Intl.DateTimeFormat(this.#language, { weekday: width, timeZone: 'UTC' }).format(new Date(Date.UTC(1970, 0, 5 + at)));
      return element('th', { scope: 'col', abbr: weekday('long') }, weekday('short'));
    });
    return [
      element(
        'div',
        { part: 'bar', class: 'bar' },
        this.#step(-1, this.#words.before, '‹'),
        element('span', { part: 'month-name', class: 'month-name', 'aria-live': 'polite' }, name),
        this.#step(1, this.#words.after, '›'),
      ),
      element('table', { part: 'month' }, element('thead', {}, element('tr', {}, ...heads)), element('tbody', {}, ...weeks)),
    ];
  }

  #day(date, number, events) {
    const here = events.filter((event) => isOnDays(event, date, date));
    const items = here.map((event) => element('li', { part: 'day-event' }, link(event, { part: 'day-title' }, this.#title(event))));
    const today = date === isoDay(new Date()) ? { 'aria-current': 'date' } : {};
    return element(
      'td',
      { part: here.length > 0 ? 'day busy' : 'day' },
      element('time', { datetime: date, ...today }, String(number)),
      ...(items.length > 0 ? [element('ul', {}, ...items)] : []),
    );
  }

  #step(by, label, sign) {
    const button = element('button', { type: 'button', part: 'button', 'aria-label': label, title: label }, sign);
    button.addEventListener('click', async () => {
      const moved = moment(`${this.#month}-01 00:00:00`);
      moved.setUTCMonth(moved.getUTCMonth() + by);
      this.#month = moved.toISOString().slice(0, 7);
      await this.#load();
      this.#root.querySelector(`button[title="${label}"]`)?.focus();
    });
    return button;
  }
}

/** Creates an element. Texts are inserted as text, never as HTML. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Returns a link to the page of an event, or only its text if the URL is not safe to follow. */
function link({ url }, attributes, text) {
  const isSafe = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  return element(isSafe ? 'a' : 'span', { ...attributes, dir: 'auto', ...(isSafe ? { href: url } : {}) }, text);
}

/** Returns the text of HTML from the API. A document that is only parsed runs no scripts. */
const plain = (html) => new DOMParser().parseFromString(html ?? '', 'text/html').body.textContent.trim();

const moment = (wall) => new Date(`${wall.replace(' ', 'T')}Z`);

/** Returns whether an event has dates: old calendars contain some that do not. */
const hasDates = ({ start_date: start, end_date: end }) => [start, end].every((wall) => !Number.isNaN(moment(String(wall)).getTime()));

function isTag(text) {
  try {
    return Intl.getCanonicalLocales(text).length > 0 && text !== '';
  } catch {
    return false;
  }
}

/**
 * Returns whether an event lasts all day. The API does not say it of protected events, but those that do end a second
 * before a whole number of days have passed; dates of a rule that begin at midnight may be an hour off (`endOf`).
 */
function isAllDay({ start_date: start, end_date: end, all_day: allDay }) {
  const length = lengthOf(start, end);
  const days = wholeDays(length);
  const difference = Math.abs(length - days);
  return allDay ?? (days > 0 && (difference === 0 || (difference === HOUR_MS && start.endsWith(' 00:00:00'))));
}

/**
 * Returns the end of an event; of an all-day event that of its last day. If the calendar's days begin later than
 * midnight, the stored end is later as well, and it may be an hour off: dates of a rule all have the same number of
 * seconds, also if clocks change.
 */
function endOf(event) {
  const { start_date: start, end_date: end } = event;
  if (!isAllDay(event)) return end;
  const length = lengthOf(start, end);
  const days = wholeDays(length);
  const isWhole = days > 0 && Math.abs(length - days) <= HOUR_MS;
  return isoDayAndTime(moment(`${start.slice(0, 10)} 00:00:00`).getTime() + (isWhole ? days : length) - 1000);
}

/** Returns how long an event lasts whose last second is `end`, in milliseconds. */
const lengthOf = (start, end) => moment(end) - moment(start) + 1000;

/** Returns the number of whole days that is nearest to a length, in milliseconds. */
const wholeDays = (length) => Math.round(length / DAY_MS) * DAY_MS;

/**
 * Returns whether an event is on any of the days from `first` to `last`. One that lasts until midnight is not on the
 * day that begins then.
 */
function isOnDays(event, first, last) {
  if (!hasDates(event)) return false;
  const firstDay = event.start_date.slice(0, 10);
  return firstDay <= last && (firstDay >= first || endOf(event) > `${first} 00:00:00`);
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Days by which the clocks of two zones and the beginning of the calendar's day can differ, rounded up. */
const MARGIN_DAYS = 2;

/** Returns the date of a moment (Unix milliseconds) in UTC, `YYYY-MM-DD`. */
const isoDayOf = (time) => new Date(time).toISOString().slice(0, 10);

/** Returns a moment (Unix milliseconds) in UTC, `YYYY-MM-DD HH:MM:SS`. */
const isoDayAndTime = (time) => new Date(time).toISOString().slice(0, 19).replace('T', ' ');

/** Returns the date in the visitor's time zone, `YYYY-MM-DD`. */
const isoDay = (date) => isoDayOf(date.getTime() - date.getTimezoneOffset() * 60_000);

/** Returns the last day of a month, `YYYY-MM-DD`. */
function lastDay(month) {
  const [year, number] = month.split('-').map(Number);
  return isoDayOf(Date.UTC(year, number, 0));
}

if (!customElements.get('fasti-events')) customElements.define('fasti-events', FastiEvents);

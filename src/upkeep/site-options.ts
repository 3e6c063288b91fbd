import { hourCycleOf } from '../calendar/hour-cycle.ts';
import { CALENDAR_OPTION, type SiteSettings, SUGGEST_SLUG_OPTION } from '../calendar/settings.ts';
import { isSiteUrl } from '../config/values.ts';
import { isReservedSegment } from '../kinds/feed-pages.ts';
import { RESERVED_SEGMENTS, slugsThatBeginWith } from '../records/first-segments.ts';
import { languageSegments, type Site } from '../site.ts';
import { noteChange } from '../storage/journal/reported-changes.ts';
import { lockOption, writeOption } from '../storage/rows/options.ts';
import { typedEntries, typedKeys } from '../typed-keys.ts';
import { decodeEntities, escHtml } from '../wordpress/content/entities.ts';
import { isEmail } from '../wordpress/email.ts';
import { isKnownLocale } from '../wordpress/language-names.ts';
import { storedText, withMembers } from '../wordpress/php/serialized.ts';
import { movedAddresses } from '../wordpress/site-address.ts';
import { sanitizeTitle } from '../wordpress/slug.ts';
import { percentDecoded } from '../wordpress/web-url.ts';
import { parseZone } from '../wordpress/zones.ts';

/*
 * Options of a site that users set: its name, time zone, currency and slugs. They are stored where WordPress and the
 * calendar store them.
 */

/** The stored form of an option: options by name, and members of the calendar's option. */
interface StoredOption {
  readonly options?: Readonly<Record<string, string>>;
  readonly calendarMembers?: Readonly<Record<string, string>>;
}

/** Weekdays, numbered as in `start_of_week`. */
export const WEEKDAYS: readonly string[] = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

interface SiteOption {
  /** Returns the current value. */
  readonly read: (settings: SiteSettings) => string;
  /** Converts a value to its stored form; undefined if it is invalid. `stored`: the site's options before. */
  readonly toStored: (value: string, stored: ReadonlyMap<string, string>) => StoredOption | undefined;
  /** The possible values, if there are only a few. */
  readonly choices?: readonly string[];
}

/** Options by their names for users. */
const siteOptions = {
  title: text('blogname', ({ name }) => decodeEntities(name)),
  tagline: text('blogdescription', ({ description }) => decodeEntities(description)),
  url: {
    read: ({ home }) => home,
    toStored: (value, stored) => (isSiteUrl(value) ? { options: { ...movedAddresses(value.replace(/\/$/, ''), stored) } } : undefined),
  },
  email: {
    read: ({ raw }) => raw.get('admin_email') ?? '',
    toStored: (value) => (isEmail(value) ? { options: { admin_email: value } } : undefined),
  },
  timezone: { read: ({ timezone }) => timezone, toStored: zoneToStored },
  language: {
    read: ({ raw }) => raw.get('WPLANG') || 'en_US',
    toStored: (value) => (isKnownLocale(value) ? { options: { WPLANG: value === 'en_US' ? '' : value } } : undefined),
  },
  currency_symbol: member('defaultCurrencySymbol', /^\S{1,10}$/, ({ calendar }) => calendar.currencySymbol),
  currency_code: member('defaultCurrencyCode', /^([A-Z]{3})?$/, ({ calendar }) => calendar.currencyCode),
  currency_position: oneOf(
    ['prefix', 'postfix'],
    ({ calendar }) => (calendar.isCurrencyAfterAmount ? 'postfix' : 'prefix'),
    (value) => ({ calendarMembers: { reverseCurrencyPosition: value === 'postfix' ? '1' : '' } }),
  ),
  events_slug: slug('eventsSlug', ({ calendar }) => calendar.eventsSlug),
  event_slug: slug('singleEventSlug', ({ calendar }) => calendar.singleEventSlug),
  suggest_slug: {
    read: ({ suggestSlug }) => suggestSlug,
    toStored: (value) =>
      value === '' || (sanitizeTitle(value) === value && !isReservedSegment(value))
        ? { options: { [SUGGEST_SLUG_OPTION]: value } }
        : undefined,
  },
  day_begins: member('multiDayCutoff', /^([01]\d|2[0-3]):[0-5]\d$/, ({ calendar }) => calendar.cutoff),
  week_begins: oneOf(
    WEEKDAYS,
    ({ raw }) => WEEKDAYS[Number(raw.get('start_of_week') ?? 1) % WEEKDAYS.length] ?? 'monday',
    (value) => ({ options: { start_of_week: String(WEEKDAYS.indexOf(value)) } }),
  ),
  clock: oneOf(
    ['24', '12'],
    ({ calendar }) => (hourCycleOf(calendar.formats.time) === 'h12' ? '12' : '24'),
    (value) => ({ options: { time_format: value === '12' ? 'g:i a' : 'H:i' } }),
  ),
  timezone_mode: oneOf(
    ['event', 'site'],
    ({ calendar }) => calendar.timezoneMode,
    (value) => ({ calendarMembers: { tribe_events_timezone_mode: value } }),
  ),
} as const satisfies Record<string, SiteOption>;

export type SiteOptionName = keyof typeof siteOptions;

/** Values of some options, by name. */
export type SiteOptionValues = { readonly [Name in SiteOptionName]?: string };

export const SITE_OPTIONS = typedKeys(siteOptions);

/** Returns the current value of an option, whether it is stored or a default. */
export const siteOption = (settings: SiteSettings, name: SiteOptionName): string => siteOptions[name].read(settings);

/** Returns the possible values of an option; undefined if they cannot be listed. */
export const siteOptionChoices = (name: SiteOptionName): readonly string[] | undefined => (siteOptions[name] as SiteOption).choices;

/**
 * Returns the identity of a new site as WordPress's options, or the name of an invalid value. The same values are valid
 * as when options are set later.
 */
export function toIdentityOptions(identity: Readonly<Record<Identity, string>>): Readonly<Record<string, string>> | Identity {
  const options: Record<string, string> = {};
  for (const name of IDENTITY) {
    const value: StoredOption | undefined = siteOptions[name].toStored(identity[name], NO_OPTIONS);
    if (!value) return name;
    Object.assign(options, value.options);
  }
  return options;
}

/** The options of a site that is yet to be installed. */
const NO_OPTIONS: ReadonlyMap<string, string> = new Map();

const IDENTITY = ['url', 'title', 'timezone'] as const satisfies readonly SiteOptionName[];
type Identity = (typeof IDENTITY)[number];

/**
 * Sets options of the site (`update_option`, `tribe_update_option`) in one transaction. `values`: the new values by
 * name.
 *
 * @returns the names of those with an invalid value; if there are any, nothing is written
 */
export async function setSiteOptions(site: Site, values: SiteOptionValues): Promise<readonly SiteOptionName[]> {
  const settings = await site.settings();
  const segments = languageSegments(site, settings);
  const clashingNames = equalSlugs(settings, values);
  const stored = typedEntries(values).map(([name, value = '']): readonly [SiteOptionName, StoredOption | undefined] => [
    name,
    clashingNames.includes(name) || (isFirstSegment(name) && segments.includes(value))
      ? undefined
      : siteOptions[name].toStored(value, settings.raw),
  ]);
  const invalidNames = stored.flatMap(([name, option]) => (option === undefined ? [name] : []));
  if (invalidNames.length > 0 || stored.length === 0) return invalidNames;
  return site.db.transaction(async (db) => {
    const calendarNames = stored.flatMap(([name, option]) => (option?.calendarMembers ? [name] : []));
    const members: Record<string, string> = Object.assign({}, ...stored.map(([, option]) => option?.calendarMembers));
    const calendar = calendarNames.length > 0 ? withMembers(await lockOption(db, CALENDAR_OPTION), members) : undefined;
    if (calendarNames.length > 0 && calendar === undefined) return calendarNames;
    for (const [, option] of stored)
      for (const [name, text] of Object.entries(option?.options ?? {})) await writeOption(db, name, storedText(text));
    if (calendar !== undefined) await writeOption(db, CALENDAR_OPTION, calendar);
    noteChange(db, { now: site.clock() });
    return [];
  });
}

/** The options with which paths of pages begin. */
const FIRST_SEGMENTS = ['events_slug', 'event_slug'] as const satisfies readonly SiteOptionName[];
const isFirstSegment = (name: SiteOptionName): boolean => FIRST_SEGMENTS.some((one) => one === name);

/**
 * Returns those of these options that would give single events the slug of the list: an event with the slug `month`
 * would then share its address with a view of the list.
 */
function equalSlugs(settings: SiteSettings, values: SiteOptionValues): readonly SiteOptionName[] {
  const [list, single] = FIRST_SEGMENTS.map((name) => percentDecoded(values[name] ?? siteOption(settings, name)));
  return list === single ? FIRST_SEGMENTS.filter((name) => name in values) : [];
}

/**
 * Returns the slugs, with the names of their options, that hide the pages below them: addresses that begin with them
 * are read as those of a language. WordPress and imports store any slug.
 */
export function slugsOfLanguages(site: Site, settings: SiteSettings): string[] {
  return slugsThatBeginWith(settings, languageSegments(site, settings));
}

// ------------------------------------------------------------------------------------------------- kinds of options
/** Maximum length of option values. */
const MAX_LENGTH = 200;

/** Returns an option with a text that WordPress stores as HTML and prints unescaped (`sanitize_option`). */
function text(option: string, read: SiteOption['read']): SiteOption {
  return {
    read,
    toStored: (value) => (value.length <= MAX_LENGTH && !/\p{Cc}/u.test(value) ? { options: { [option]: escHtml(value) } } : undefined),
  };
}

function member(name: string, pattern: RegExp, read: SiteOption['read']): SiteOption {
  return { read, toStored: (value) => (pattern.test(value) ? { calendarMembers: { [name]: value } } : undefined) };
}

function oneOf<T extends string>(
  choices: readonly T[],
  read: (settings: SiteSettings) => T,
  toStored: (value: T) => StoredOption,
): SiteOption {
  return {
    choices,
    read,
    toStored: (value) => {
      const choice = choices.find((one) => one === value);
      return choice === undefined ? undefined : toStored(choice);
    },
  };
}

function slug(name: string, read: SiteOption['read']): SiteOption {
  const isUsable = (value: string) => value !== '' && sanitizeTitle(value) === value && !RESERVED_SEGMENTS.has(value);
  return { read, toStored: (value) => (isUsable(value) ? { calendarMembers: { [name]: value } } : undefined) };
}

/** Converts a zone name, or an offset from UTC, which WordPress stores as hours in a separate option. */
function zoneToStored(zoneName: string): StoredOption | undefined {
  const value = usualZoneName(zoneName);
  const zone = parseZone(value);
  if (zone?.rules || value === 'UTC') return { options: { timezone_string: value, gmt_offset: '' } };
  if (!zone || !/^UTC[+-]\d/.test(value)) return undefined;
  return { options: { timezone_string: '', gmt_offset: String(zone.seconds / 3600) } };
}

/**
 * Returns a zone name in its usual capitals, as in the list on WordPress's settings page: a page that does not find the
 * stored name there stores the first of the list when it is saved.
 */
const usualZoneName = (name: string): string =>
  ['UTC', ...Intl.supportedValuesOf('timeZone')].find((zoneName) => zoneName.toLowerCase() === name.toLowerCase()) ?? name;

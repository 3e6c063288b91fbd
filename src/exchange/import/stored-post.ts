import { eventDates, withKeptMoments } from '../../calendar/dates.ts';
import { dateMetas, isAllDay, storedDates } from '../../kinds/events/dates.ts';
import { DATES, EVENT_ORIGIN } from '../../kinds/events/metas.ts';
import { hasRules } from '../../kinds/events/occurrence.ts';
import type { Caller } from '../../records/caller.ts';
import type { HtmlTrust } from '../../records/clean-text.ts';
import { textOfStored } from '../../wordpress/php/serialized.ts';
import { DATED_STATUSES } from '../../wordpress/status.ts';
import { diffSeconds, isRealDate, ZERO_DATE } from '../../wordpress/time.ts';
import { parseZone, toLocal, toUtc } from '../../wordpress/zones.ts';
import { type CleanPost, cleanPost } from '../items/clean.ts';
import { type PostItem, textIn, textMetas, withTexts } from '../items/items.ts';
import { metaMap } from '../items/meta-map.ts';

/** Returns an item as the tables can hold it: columns and metas, for events with all of their dates. */
export function storedPost(item: PostItem, trust: HtmlTrust, caller: Caller): CleanPost {
  const published = withPublication(cleanPost(item, trust, caller.settings.calendar.customFields), item, caller);
  if (item.kind !== 'event') return published;
  const clean = item.complete ? published : { ...published, metas: withOneOrigin(published.metas) };
  const utc = item.recurrence?.recurs ? { metas: clean.metas } : withUtc(clean.metas);
  const length = withDuration(withDates(utc.metas, caller));
  const losses = [
    // In the old form of recurrence, each date is a post that is imported by itself.
    ...(!item.recurrence?.recurs && !item.parent && hasRules(metaMap(length.metas)) ? [{ reason: 'recurrence', detail: '' }] : []),
    ...(utc.corrections === undefined ? [] : [{ reason: 'utc-mended', detail: utc.corrections }]),
    ...(length.corrections === undefined ? [] : [{ reason: 'duration-mended', detail: length.corrections }]),
  ];
  return { ...clean, metas: length.metas, losses: [...clean.losses, ...losses] };
}

/** Returns metas with one origin: a reader adds its own to that of a new record, in digests that ledgers have. */
const withOneOrigin = (metas: CleanPost['metas']): CleanPost['metas'] => {
  const own = metas.findLast(([key]) => key === EVENT_ORIGIN);
  return metas.filter((meta) => meta[0] !== EVENT_ORIGIN || meta === own);
};

/**
 * Completes the publication date of a published record. If one of local time and UTC is a zero date, it is computed
 * from the other; if both are, the time of the import is used.
 */
function withPublication(clean: CleanPost, { kind }: PostItem, { settings: { zone } }: Caller): CleanPost {
  const { post_date: local, post_date_gmt: utc, post_status: status = 'publish' } = clean.columns;
  const zero = (['post_date', 'post_date_gmt'] as const).filter((name) => clean.columns[name] === ZERO_DATE);
  if (kind === 'attachment' || zero.length === 0 || !DATED_STATUSES.includes(status)) return clean;
  const { post_date: _local, post_date_gmt: _utc, ...others } = clean.columns;
  const dates =
    local && local !== ZERO_DATE
      ? { post_date: local, post_date_gmt: toUtc(local, zone) }
      : utc && utc !== ZERO_DATE
        ? { post_date: toLocal(utc, zone), post_date_gmt: utc }
        : {};
  return { ...clean, columns: { ...others, ...dates }, losses: [...clean.losses, { reason: 'date-mended', detail: zero.join(', ') }] };
}

/**
 * Corrects UTC times that contradict the local time and its zone. The calendar plugin misreads zones that are offsets
 * (`UTC+5:30`); what it stored for these is kept.
 */
function withUtc(metas: CleanPost['metas']): CorrectedMetas {
  const dates = storedDates({ metas: metaMap(metas) });
  const zone = /^utc./i.test(dates.timezone) ? null : parseZone(dates.timezone);
  // If the end is before the start, it is unclear which of the times are right.
  if (!zone || !(diffSeconds(dates.start, dates.end) >= 0)) return { metas };
  const moments = withKeptMoments(dates, zone);
  const correctValues = new Map<string, string>(
    UTC_FIELDS.flatMap(([local, utc]) => {
      const isRight = dates[utc] === '' || dates[utc] === moments[utc] || !isRealDate(dates[local]);
      return isRight ? [] : [[DATES[utc], moments[utc]] as const];
    }),
  );
  if (correctValues.size === 0) return { metas };
  return {
    metas: withTexts(metas, correctValues),
    corrections: metas.flatMap(([key, value]) => (correctValues.has(key) ? [`${value} -> ${correctValues.get(key)}`] : [])).join(', '),
  };
}

const UTC_FIELDS = [
  ['start', 'startUtc'],
  ['end', 'endUtc'],
] as const;

/** Metas, and a description of corrections, if any. */
interface CorrectedMetas {
  readonly metas: CleanPost['metas'];
  readonly corrections?: string;
}

/** Returns the stored start of an event, or an empty string if there is none. */
export const startOf = ({ metas }: Pick<CleanPost, 'metas'>): string => textIn(metas, DATES.start);

/** Adds zone and UTC times to events of old versions, computed from the local time and the site's zone. */
function withDates(metas: CleanPost['metas'], { settings, now }: Caller): CleanPost['metas'] {
  const values = new Map(metas.map(([key, value]) => [key, textOfStored(value)]));
  const [start, end] = [values.get(DATES.start), values.get(DATES.end)];
  if (!start || !end || (values.get(DATES.startUtc) && values.get(DATES.endUtc) && values.get(DATES.timezone))) return metas;
  const allDay = isAllDay(values.get(DATES.allDay) ?? '');
  // Keep the local times, whatever this calendar's cutoff is.
  const dates = eventDates({ start, end, timezone: values.get(DATES.timezone) || undefined, allDay: false }, undefined, {
    siteZone: settings.timezone,
    cutoff: settings.calendar.cutoff,
    now,
  });
  if ('problem' in dates) return metas;
  const added = textMetas(dateMetas(dates)).filter(([key]) => !values.get(key) && !(allDay && key === DATES.duration));
  return [...metas.filter(([key]) => !added.some(([name]) => name === key)), ...added];
}

/** Corrects a duration that contradicts start and end. Without the correction, no list would contain the event. */
function withDuration(metas: CleanPost['metas']): CorrectedMetas {
  const { startUtc, endUtc, allDay, duration } = storedDates({ metas: metaMap(metas) });
  const length = diffSeconds(startUtc, endUtc);
  if (allDay || duration === null || !(length >= 0) || (duration >= 0 && duration <= length)) return { metas };
  return {
    metas: withTexts(metas, new Map([[DATES.duration, String(length)]])),
    corrections: `${duration} -> ${length}`,
  };
}

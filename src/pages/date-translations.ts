import type { EventRecord } from '../kinds/events/shape.ts';
import { pageIn } from '../kinds/translations.ts';
import type { Caller } from '../records/caller.ts';
import { pagesOfDates } from '../records/occurrences.ts';
import { datesOfEvents } from '../records/recurrences.ts';
import type { Site } from '../site.ts';
import { loadPosts } from '../storage/rows/bundle.ts';
import { eventDateUrl } from '../wordpress/links.ts';
import type { WithTranslations } from './pages.tsx';

/**
 * Returns the language and the translations of the page of one date of an event. In other languages it is the page of
 * the same date, which links back; if the translation does not take place then, the page of the translation.
 */
export async function translationsOfDate(
  { db }: Site,
  caller: Caller,
  { language, translations = {}, timezone, utc_start_date: startUtc }: EventRecord,
): Promise<WithTranslations> {
  const ids = Object.values(translations).map(({ id }) => id);
  if (ids.length === 0) return { language, translations };
  const series = await datesOfEvents(
    { db },
    caller,
    ids.map((id) => ({ id, timezone })),
  );
  const posts = await loadPosts(db, ids);
  const { permalinkStructure } = caller.settings;
  const { singleEventSlug } = caller.settings.calendar;
  const entries = Object.entries(translations).map(async ([code, translation]) => {
    const dates = series.get(translation.id)?.dates ?? [];
    const date = dates.find((one) => one.startUtc === startUtc);
    const post = posts.get(translation.id);
    if (!date || !post) return [code, { url: translation.url, isOneWay: true }] as const;
    const pages = await pagesOfDates(db, post, dates.map(({ eventStart }) => eventStart)); // biome-ignore format: short
    const page = pages.get(date.eventStart)!;
    const urlOf = (home: string) => eventDateUrl({ home, permalinkStructure, singleEventSlug }, post, page);
    return [code, { url: pageIn(caller, code, urlOf) }] as const;
  });
  return { language, translations: Object.fromEntries(await Promise.all(entries)) };
}

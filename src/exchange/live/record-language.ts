import type { SiteSettings } from '../../calendar/settings.ts';
import { languageOfCode } from '../../wordpress/content-languages.ts';
import { groupOfDate } from '../items/each-date.ts';
import type { PostItem } from '../items/items.ts';
import type { LivePost, LiveTerm } from './records.ts';

/** The site that is imported: its home address, without trailing slash, and the languages that this site has. */
interface SourceSite {
  readonly home: string;
  readonly settings: Pick<SiteSettings, 'contentLanguages'>;
}

/**
 * Returns language and translations of a record. The group is named after the lowest id. The translations of a date of
 * a recurring event are those of the event.
 */
export function languageMembersOf(record: LivePost | LiveTerm, context?: SourceSite): Pick<PostItem, 'language' | 'translation_group'> {
  const { translations } = record;
  const language = languageOf(record, context);
  const ids = Object.values(translations).map(({ id }) => id);
  if (language === undefined) return {};
  if (ids.length < 2) return { language };
  const group = String(ids.reduce((lowest, id) => Math.min(lowest, id)));
  const start = 'utc_start_date' in record && !ids.includes(record.id) ? record.utc_start_date : undefined;
  return { language, translation_group: typeof start === 'string' ? groupOfDate(group, start) : group };
}

/** Returns the language that a record states, or that its URL contains. */
export const languageOf = (
  { language, url }: { readonly language?: string | undefined; readonly url?: unknown },
  context: SourceSite | undefined,
): string | undefined => language ?? (context && languageInAddress(String(url ?? ''), context));

/**
 * Returns the language in the URL of a page, if this site has it: `/it/event/jazz/`, `?lang=it`, `it.example.org`. Some
 * multilingual sites state the language nowhere else.
 */
function languageInAddress(url: string, { home, settings }: SourceSite): string | undefined {
  const { contentLanguages: languages } = settings;
  if (!languages || !URL.canParse(url) || !URL.canParse(home)) return undefined;
  const [{ host }, bareHost] = [new URL(url), new URL(home).host.replace(/^www\./, '')];
  if (host.endsWith(`.${bareHost}`) && host !== `www.${bareHost}`)
    return languageOfCode(languages, host.slice(0, -bareHost.length - 1))?.code;
  if (!url.startsWith(`${home}/`)) return undefined;
  const [first, second] = url.slice(home.length + 1).split(/[/?#]/);
  const code = new URL(url).searchParams.get('lang') ?? (first === 'language' ? second : first);
  return languageOfCode(languages, code)?.code;
}

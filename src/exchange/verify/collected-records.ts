import type { JsonObject } from '../live/site-client.ts';
import { type KnownRecords, spreadSample } from './plan.ts';

/** The lists, in the order in which they are compared. */
export const KINDS = ['events', 'venues', 'organizers', 'categories', 'tags'] as const;
export type KindPath = (typeof KINDS)[number];

/** Maximum number of ids, slugs, titles and starts that are kept for the plan. */
const MAX_KNOWN_VALUES = 5000;

/** Collects the records in the lists of both sites. */
export interface RecordCollector {
  readonly add: (kind: KindPath, record: JsonObject) => void;
  /** Returns the paths of single records: by id, and by slug if there is one. */
  readonly singlePaths: (kind: KindPath, sample: number | undefined) => string[];
  readonly knownRecords: () => KnownRecords;
}

/** Creates a collector, which keeps the values of records that later requests are made from. */
export function collectRecords(): RecordCollector {
  const slugs: Record<KindPath, Map<number, string>> = {
    events: new Map(),
    venues: new Map(),
    organizers: new Map(),
    categories: new Map(),
    tags: new Map(),
  };
  const titles = new Set<string>();
  const starts = new Set<string>();
  const idsOf = (kind: KindPath) => [...slugs[kind].keys()].slice(0, MAX_KNOWN_VALUES);
  const slugsOf = (kind: KindPath) =>
    [...slugs[kind].values()].filter((slug) => slug !== '' && !slug.includes('%')).slice(0, MAX_KNOWN_VALUES);
  return {
    add: (kind, { id, slug, title, venue, start_date: start }) => {
      slugs[kind].set(Number(id), typeof slug === 'string' ? slug : '');
      const name = kind === 'venues' ? venue : title;
      if (typeof name === 'string' && titles.size < MAX_KNOWN_VALUES) titles.add(name);
      if (typeof start === 'string' && starts.size < MAX_KNOWN_VALUES) starts.add(start);
    },
    singlePaths: (kind, sample) => {
      const entries = [...slugs[kind]];
      const sampled = sample === undefined ? entries : spreadSample(entries, sample);
      const withSlug = kind === 'categories' || kind === 'tags' ? [] : sampled.filter(([, slug]) => slug !== '');
      return [...sampled.map(([id]) => `${kind}/${id}`), ...withSlug.map(([, slug]) => `${kind}/by-slug/${slug}`)];
    },
    knownRecords: () => ({
      ids: {
        events: idsOf('events'),
        venues: idsOf('venues'),
        organizers: idsOf('organizers'),
        categories: idsOf('categories'),
        tags: idsOf('tags'),
      },
      slugs: { categories: slugsOf('categories'), tags: slugsOf('tags') },
      titles: [...titles],
      starts: [...starts].sort(),
    }),
  };
}

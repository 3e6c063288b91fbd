import { type Met, spread } from './plan.ts';

/** The lists, in the order in which they are walked through, and what makes each of them whole. */
export const KINDS = ['events', 'venues', 'organizers', 'categories', 'tags'] as const;
export type KindPath = (typeof KINDS)[number];

export type Members = Readonly<Record<string, unknown>>;

/** As many facts as the plan may ask for. */
const MOST_FACTS = 5000;

/** What the lists of both sites have shown. */
export interface Meeting {
  readonly meet: (kind: KindPath, record: Members) => void;
  /** Paths of single records: by id, and by slug where there is one. */
  readonly singles: (kind: KindPath, sample: number | undefined) => string[];
  readonly facts: () => Met;
}

/** Remembers what is met, as far as it is needed. */
export function gather(): Meeting {
  const slugs: Record<KindPath, Map<number, string>> = {
    events: new Map(),
    venues: new Map(),
    organizers: new Map(),
    categories: new Map(),
    tags: new Map(),
  };
  const titles = new Set<string>();
  const starts = new Set<string>();
  const idsOf = (kind: KindPath) => [...slugs[kind].keys()].slice(0, MOST_FACTS);
  const slugsOf = (kind: KindPath) => [...slugs[kind].values()].filter((slug) => slug !== '' && !slug.includes('%')).slice(0, MOST_FACTS);
  return {
    meet: (kind, { id, slug, title, venue, start_date: start }) => {
      slugs[kind].set(Number(id), typeof slug === 'string' ? slug : '');
      const name = kind === 'venues' ? venue : title;
      if (typeof name === 'string' && titles.size < MOST_FACTS) titles.add(name);
      if (typeof start === 'string' && starts.size < MOST_FACTS) starts.add(start);
    },
    singles: (kind, sample) => {
      const all = [...slugs[kind]];
      const some = sample === undefined ? all : spread(all, sample);
      const named = kind === 'categories' || kind === 'tags' ? [] : some.filter(([, slug]) => slug !== '');
      return [...some.map(([id]) => `${kind}/${id}`), ...named.map(([, slug]) => `${kind}/by-slug/${slug}`)];
    },
    facts: () => ({
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

import { endpoint } from '../../src/http/endpoint.ts';
import { ok } from '../../src/http/reply.ts';
import type { eventFilters } from '../../src/kinds/events/list.ts';
import { meta, whenEmpty } from '../../src/kinds/fields.ts';
import { control, filter, group } from '../../src/kinds/filter.ts';
import { flag } from '../../src/kinds/grammars/flags.ts';
import { type image, positiveInteger } from '../../src/kinds/grammars/grammars.ts';
import type { requestedLinks } from '../../src/kinds/grammars/links.ts';
import { type existingTerms, ids } from '../../src/kinds/grammars/lists.ts';
import { time } from '../../src/kinds/grammars/times.ts';
import type { PostFields, PostKind } from '../../src/kinds/kind.ts';
import type { ListParams } from '../../src/kinds/list-param.ts';
import { byTickets } from '../../src/kinds/narrowing.ts';
import type { ValuesOf } from '../../src/kinds/param.ts';
import type { Caller } from '../../src/records/caller.ts';
import { acceptParams } from '../../src/records/input.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import type { ConditionHandlers } from '../../src/storage/lists/post-conditions.ts';

/* Type tests: `npm run check` fails if an expected error does not occur. Nothing here is executed. */

/** `true` only if both types are identical. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : never;
export const same: [
  Same<ValuesOf<{ a: { grammar: typeof flag } }>['a'], boolean | undefined>,
  Same<ValuesOf<typeof eventFilters>['per_page'], number | undefined>,
  Same<ValuesOf<typeof eventFilters>['start_date'], string | number | undefined>,
  Same<ValuesOf<typeof eventFilters>['categories'], readonly number[] | undefined>,
] = [true, true, true, true];

export const nothingMissing: ListParams = {
  ticketed: filter({ grammar: flag, ...byTickets }),
  page: control(positiveInteger),
  ...group({ params: { include: { grammar: ids() } }, narrows: ({ include = [] }) => [{ by: 'id', ids: include }] }),
};

// @ts-expect-error: a filter without a condition
filter({ grammar: flag });
// @ts-expect-error: a group without conditions
group({ params: { include: { grammar: ids() } } });
// @ts-expect-error: a parameter that is neither a filter nor a control
export const undecided: ListParams = { ticketed: { grammar: flag } };
// @ts-expect-error: a condition on another type than that of the grammar
filter({ grammar: positiveInteger, narrows: byTickets });
// @ts-expect-error: an echo of the wrong type
filter({ grammar: flag, narrows: byTickets, echo: (wanted) => wanted });
// @ts-expect-error: the group does not have this parameter
group({ params: { from: { grammar: time } }, narrows: ({ until }) => (until ? [] : []) });

// @ts-expect-error: a value of the wrong type
export const wrong: ValuesOf<typeof eventFilters> = { ticketed: 'yes' };
// @ts-expect-error: terms are IDs once they have been looked up
export const names: ValuesOf<{ terms: { grammar: ReturnType<typeof existingTerms> } }> = { terms: ['jazz'] };
// @ts-expect-error: the URL of an image has been replaced by an image
export const address: ValuesOf<{ image: { grammar: typeof image } }> = { image: 'https://example.org/a.jpg' };
// @ts-expect-error: the parameters of a new venue have been replaced by accepted values
export const venue: ValuesOf<{ venue: { grammar: ReturnType<typeof requestedLinks> } }> = { venue: [{ create: {} }] };

export const cleared: ValuesOf<{ city: ReturnType<typeof city> }> = { city: null };
const city = () => meta('_VenueCity');
const kept = () => whenEmpty('refused', city());
// @ts-expect-error: a field that cannot be cleared
export const uncleared: ValuesOf<{ city: ReturnType<typeof kept> }> = { city: null };

endpoint({
  methods: ['GET'],
  summary: 'example',
  params: { page: { grammar: positiveInteger } },
  mode: 'read',
  allow: (_site, _caller, { page = 1 }) => page.toFixed() === '1',
  // @ts-expect-error: an endpoint receives only the parameters that it declares
  run: async (_site, _caller, { size }) => ok(size),
});

export async function accepted(site: Site, caller: Caller): Promise<number> {
  const { page = 1, ...others } = await acceptParams(site, caller, { page: { grammar: positiveInteger } }, {}, 'read');
  // @ts-expect-error: only declared parameters are accepted
  return page + others.size;
}

export const handlers = (all: ConditionHandlers): ConditionHandlers => {
  const { ticketed, ...others } = all;
  // @ts-expect-error: a condition without a handler
  const missing: ConditionHandlers = others;
  // @ts-expect-error: a handler of an unknown condition
  const surplus: ConditionHandlers = { ...all, weather: ticketed };
  // @ts-expect-error: the handler of another condition
  const mistaken: ConditionHandlers = { ...all, slug: all.parent };
  return { ...missing, ...surplus, ...mistaken };
};

export const asked = async (db: Database): Promise<string> => {
  const [post] = await db.from('posts').where('ID', 1).select('post_title');
  // @ts-expect-error: a column that was not selected
  post?.post_content;
  // @ts-expect-error: an unknown table
  db.from('weather');
  return post?.post_title ?? '';
};

// @ts-expect-error: a member that is declared but not rendered
export const incomplete: PostKind<PostFields, { id: number; parking: string }>['render'] = (id) => ({ id });

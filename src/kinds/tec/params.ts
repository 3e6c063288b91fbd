import { exactBounds } from '../../calendar/window.ts';
import { memoizeByObject } from '../../memo.ts';
import { isEmail } from '../../wordpress/email.ts';
import { tableOf } from '../../wordpress/table.ts';
import type { Condition } from '../condition.ts';
import { FEATURED_META, ORGANIZER_LINK, VENUE_LINK } from '../events/metas.ts';
import { shownTexts } from '../fields.ts';
import { conditionsOf, control, filter, group } from '../filter.ts';
import { choiceHint, type Grammar, type Hint, MAX_BYTES, REFUSED } from '../grammars/grammar.ts';
import { oneOf, passedThrough, text } from '../grammars/grammars.ts';
import {
  anyString,
  booleanParam,
  droppedString,
  idsArgument,
  integer,
  momentArgument,
  positiveArgument,
  strings,
} from '../grammars/schema.ts';
import { MOMENT_HINT } from '../grammars/times.ts';
import type { LinkedFromEvents, PostKind, PostValues } from '../kind.ts';
import { fromEvent, linkFilters } from '../linked-list.ts';
import type { Control, ListParams, Narrowed } from '../list-param.ts';
import { byLinks, byMeta, byParent, bySearch, byTickets } from '../narrowing.ts';
import type { Field, Param, Params, ValuesOf } from '../param.ts';
import type { RuleContext } from '../rendering.ts';
import { timelinessOfBounds } from '../timeliness.ts';

/*
 * Parameters of the calendar's newer interface (`tec/v1`): other names for the filters and fields of the kinds, with
 * its own checks.
 */

/** Maximum page length. */
export const MAX_PAGE_SIZE = 100;

const PAGING = { page: control(positiveArgument, { fallback: 1 }), per_page: control(positiveArgument) };
const UNGUARDED = { guarded: false } as const;

/** Bounds of events; without them, events of all dates are listed. */
const { start_date, end_date, ...momentFilters } = group({
  params: {
    start_date: { grammar: momentArgument },
    end_date: { grammar: momentArgument },
    starts_before: { grammar: momentArgument },
    starts_after: { grammar: momentArgument },
    ends_before: { grammar: momentArgument },
    ends_after: { grammar: momentArgument },
  },
  narrows: (values, { settings, now }): Condition[] => {
    const mode = settings.calendar.timezoneMode;
    const bounds = exactBounds(values, { siteZone: settings.zone, now, mode });
    return bounds.map((bound) => ({ by: 'moment', utc: mode === 'site', ...bound }));
  },
  ages: (values) => timelinessOfBounds(...Object.values(values)),
});

/** Statuses that a list may be asked for. Other ones are refused as a value; none at all count as not sent. */
const STATUSES = ['publish', 'pending', 'draft', 'future', 'private'];
const statuses: Grammar<readonly string[]> = {
  ...strings,
  hint: choiceHint(STATUSES),
  json: { type: 'array', items: { type: 'string', enum: STATUSES } },
  read: (raw) => {
    const { value, schemaFault } = strings.read(raw);
    if (value === undefined || value.length === 0) return schemaFault ? { schemaFault } : {};
    return value.every((name) => STATUSES.includes(name)) ? { value } : REFUSED;
  },
};

/**
 * Filters of events. As in the reference, categories and tags are checked but do not filter. Links are not guarded: as
 * in the reference, protected events are found by their venues, which WordPress's own routes show to everybody.
 */
const EVENT_FILTERS = {
  ...PAGING,
  start_date,
  end_date,
  search: filter({ grammar: droppedString, narrows: (phrase, context) => (phrase === '' ? [] : bySearch()(phrase, context)) }),
  categories: control(idsArgument({ orText: false })),
  tags: control(idsArgument({ orText: false })),
  venue: filter({ grammar: { ...idsArgument({ orText: true }), refersTo: 'venue' }, narrows: byLinks(VENUE_LINK, UNGUARDED) }),
  organizer: filter({ grammar: { ...idsArgument({ orText: true }), refersTo: 'organizer' }, narrows: byLinks(ORGANIZER_LINK, UNGUARDED) }),
  featured: filter({ grammar: booleanParam, narrows: byMeta(FEATURED_META, { guarded: true }) }),
  status: control(statuses),
  post_parent: filter({ grammar: { ...positiveArgument, refersTo: 'event' }, narrows: byParent }),
  ...momentFilters,
  ticketed: filter({ grammar: booleanParam, ...byTickets }),
  orderby: control(oneOf(['date', 'event_date', 'title', 'menu_order', 'modified'], 'value'), { fallback: 'event_date' }),
  order: control(oneOf(['ASC', 'DESC'], 'value'), { fallback: 'ASC' }),
};

const ORDERS = { date: 'date', event_date: 'start', title: 'title', menu_order: 'menu', modified: 'modified' } as const;

/**
 * Filters of venues and organizers. The search is WordPress's, which skips protected records for visitors; it includes
 * the same metas as the plugin's.
 */
const linkedFilters = memoizeByObject(({ link, searchedMetas }: LinkedFromEvents) => ({
  ...PAGING,
  search: filter({ grammar: droppedString, narrows: bySearch(searchedMetas) }),
  event: fromEvent(link, { ...positiveArgument, refersTo: 'event' }),
  ...linkFilters(link),
  status: control(statuses),
}));

/** Parameters of a list, including those that its handler reads. */
type TecFilters = ListParams & {
  readonly page: Control<number>;
  readonly per_page: Control<number>;
  readonly status: Control<readonly string[]>;
  readonly orderby?: Control<keyof typeof ORDERS>;
  readonly order?: Control<'ASC' | 'DESC'>;
};

/** Returns the filters of a list of this kind. */
export const tecFilters = ({ linkedFromEvents }: PostKind): TecFilters =>
  linkedFromEvents ? linkedFilters(linkedFromEvents) : EVENT_FILTERS;

/** The password that opens protected records; it is not described anywhere. */
export const TEC_PASSWORD = { password: { grammar: text(MAX_BYTES.password) } } satisfies Params;
/** The names of the members to return, which also apply to embedded records. */
export const TEC_FIELDS = { _fields: { grammar: passedThrough } } satisfies Params;
export type TecReadValues = ValuesOf<typeof TEC_PASSWORD>;

/** Accepted values of a list. */
export type TecListValues = ValuesOf<TecFilters & typeof TEC_PASSWORD>;

/** Returns the conditions and the order of a list. */
export const narrowTec = (kind: PostKind, values: TecListValues, context: RuleContext): Pick<Narrowed, 'conditions' | 'order'> => ({
  conditions: conditionsOf(tecFilters(kind), values, context),
  order: kind.linkedFromEvents
    ? kind.orders.defaultOrder({})
    : { by: ORDERS[values.orderby ?? 'event_date'], descending: values.order === 'DESC' },
});

const COMMON = ['date', 'date_gmt', 'slug', 'status', 'content', 'excerpt', 'author', 'featured_media', 'title'];
/** The fields of each kind in the order of the reference. Additional fields follow as the kind declares them. */
const ORDER: Readonly<Record<PostKind['name'], readonly string[]>> = {
  event: [
    ...COMMON, 'sticky', 'tags', 'tribe_events_cat', 'start_date', 'end_date', 'timezone', 'all_day', 'featured', 'cost', 'organizers', 'venues',
    'website',
  ],
  venue: [...COMMON, 'address', 'country', 'city', 'state_province', 'state', 'province', 'zip', 'phone', 'website'],
  organizer: [...COMMON, 'phone', 'website', 'email'],
}; // biome-ignore format: lists of names

/** Returns the fields of a kind: name in `tec/v1` -> own name. */
const fieldNamesByTecName = memoizeByObject(({ name, fields }: PostKind): ReadonlyMap<string, string> => {
  const names = Object.entries<Field>(fields).flatMap(([fieldName, { names }]) =>
    names?.tec === false ? [] : [[names?.tec ?? fieldName, fieldName] as const],
  );
  const fieldNames = new Map(names);
  return new Map([...ORDER[name].map((tecName) => [tecName, fieldNames.get(tecName) ?? tecName] as const), ...names]);
});

/** Returns the name in `tec/v1` of a field of a kind; a field that these routes lack keeps its own name. */
export const tecNameOf = (kind: PostKind, field: string): string => tecNamesByField(kind).get(field) ?? field;

const tecNamesByField = memoizeByObject(
  (kind: PostKind): ReadonlyMap<string, string> => new Map([...fieldNamesByTecName(kind)].map(([tecName, field]) => [field, tecName])),
);

/** Returns the texts of a kind that the reference does not have: name in `tec/v1` -> meta. */
export const additionalTexts = memoizeByObject((kind: PostKind): Readonly<Record<string, string>> => {
  const orderedNames = new Set(ORDER[kind.name]);
  const keys: Readonly<Record<string, string>> = shownTexts(kind.fields);
  return Object.fromEntries(
    [...fieldNamesByTecName(kind)].flatMap(([tecName, fieldName]) =>
      keys[fieldName] && !orderedNames.has(tecName) ? [[tecName, keys[fieldName]]] : [],
    ),
  );
});

/** Fields in the reference that have no effect on the calendar's kinds. */
const IGNORED_FIELDS = {
  comment_status: { grammar: anyString(MAX_BYTES.word) },
  ping_status: { grammar: anyString(MAX_BYTES.word) },
  // Records show an empty template, so that a record can be sent back as read.
  format: { grammar: anyString(MAX_BYTES.word), empty: 'clears' },
  template: { grammar: anyString(MAX_BYTES.word), empty: 'clears' },
} satisfies Readonly<Record<string, Param & { readonly empty?: 'clears' }>>;

/** Fields of an event that determine others: UTC times the local ones, a duration in seconds the end. */
const DERIVED = {
  start_date_utc: { grammar: momentArgument },
  end_date_utc: { grammar: momentArgument },
  duration: { grammar: integer({ minimum: 0 }) },
} satisfies Params;

/** Fields of a record, including those that are read under their names in `tec/v1`. */
type TecFields = Params &
  Partial<typeof DERIVED> &
  typeof IGNORED_FIELDS & {
    readonly start_date?: Param<string | null>;
    readonly end_date?: Param<string | null>;
    readonly timezone?: Param<string | null>;
    readonly excerpt?: Param<string | null>;
  };
export type TecFieldValues = ValuesOf<TecFields>;

/**
 * Returns the fields of a kind under their names in `tec/v1`, none of them required. `fallbackKind`: the kind whose
 * fields are used if the kind itself has none of that name (slug and excerpt).
 */
export function tecFields(kind: PostKind, fallbackKind: PostKind): TecFields {
  const fields = [...fieldNamesByTecName(kind)].map(([name, field]) => {
    const { required: _, fallback: __, ...declaration } = (kind.fields[field] ?? fallbackKind.fields[field])!;
    const { grammar } = declaration;
    return [name, { ...declaration, grammar: withOwnCode(name, RENDERED.has(name) ? orAsShown(grammar) : grammar) }] as const;
  });
  return {
    ...Object.fromEntries(fields),
    ...IGNORED_FIELDS,
    ...(kind.hasDates ? DERIVED : { sticky: { grammar: booleanParam }, tags: { grammar: strings } }),
  };
}

/** Texts that records show as objects. */
const RENDERED = new Set(['title', 'content', 'excerpt']);

/** Returns a grammar that also takes the object that a record shows: what was read as HTML is left as it is stored. */
const orAsShown = (grammar: Grammar): Grammar => ({
  ...grammar,
  read: (raw, can, params) => (isAsShown(raw) ? { value: undefined } : grammar.read(raw, can, params)),
});

const isAsShown = (raw: unknown): boolean =>
  raw !== null &&
  typeof raw === 'object' &&
  'rendered' in raw &&
  Object.keys(raw).every((name) => ['rendered', 'protected'].includes(name));

/** Returns a grammar whose faults have the code that these routes report for the parameter. */
const withOwnCode = (name: string, grammar: Grammar): Grammar => {
  const code = CODES.get(name);
  if (code === undefined) return grammar;
  const ownFault = { stage: 'schema', code: code.code, reason: code.reason, answerData: 'argument' } as const;
  return {
    ...grammar,
    hint: code.hint,
    read: (raw, can, params) => {
      const reading = grammar.read(raw, can, params);
      const isAccepted = reading.fault === undefined && reading.schemaFault === undefined && (name !== 'email' || isEmail(String(raw)));
      return isAccepted ? reading : { schemaFault: ownFault };
    },
  };
};

const DATE = { code: 'tec_rest_invalid_date_time_argument', reason: 'date-invalid', hint: MOMENT_HINT };
const CODES: ReadonlyMap<string, { readonly code: string; readonly reason: string; readonly hint: Hint }> = tableOf({
  start_date: DATE,
  end_date: DATE,
  date: DATE,
  date_gmt: DATE,
  email: {
    code: 'tec_rest_invalid_email_argument',
    reason: 'email-invalid',
    hint: { reason: 'not-an-email', example: 'anna@example.org' },
  },
});

/** Returns accepted values under the kind's own names. */
export function kindValues(kind: PostKind, values: TecFieldValues): PostValues {
  const names = fieldNamesByTecName(kind);
  const entries = Object.entries(values).flatMap(([name, value]) => {
    const fieldName = names.get(name);
    return fieldName === undefined || value === undefined ? [] : [[fieldName, value] as const];
  });
  return Object.fromEntries(entries);
}

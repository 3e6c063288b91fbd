/*
 * Deliberate differences between Fasti and The Events Calendar (`docs/differences.md`). Each row states whether a
 * difference is one of them, so that they can be told apart from losses of a migration. The rows treat both sites
 * alike, since either may be Fasti.
 */
import { BOUND_NAMES } from '../../calendar/window.ts';
import { additionalParams, postKinds } from '../../kinds/index.ts';
import { languageShape } from '../../kinds/shapes.ts';
import { isRecord } from '../../objects.ts';
import { decodeEntities } from '../../wordpress/content/entities.ts';
import { sanitizeTitle } from '../../wordpress/slug.ts';
import type { JsonObject, Query } from '../live/site-client.ts';
import { type DifferingValue, listUrl, sameParameter } from './compare.ts';

/** A difference, and the request in which it occurred. */
export interface Difference extends DifferingValue {
  /** Path below the namespace: `events`, `events/12`, `venues/by-slug/teatro`. */
  readonly route: string;
  readonly query: Query;
}

/** Both responses to a request. */
export interface AnswerPair {
  readonly old: { readonly status: number; readonly body: unknown };
  readonly new: { readonly status: number; readonly body: unknown };
}

/** Names of the members that each site describes (`describedMembers`). */
export interface Described {
  readonly old: ReadonlySet<string>;
  readonly new: ReadonlySet<string>;
}

const NOTHING_DESCRIBED: Described = { old: new Set(), new: new Set() };

/**
 * Returns the decision that explains a difference (`D21`; `additions` for those without a row), or undefined if it is a
 * real difference.
 */
export function decisionOf(difference: Difference, answers: AnswerPair, described: Described = NOTHING_DESCRIBED): string | undefined {
  return ROWS.find(([, holds]) => holds(difference, answers, described))?.[0];
}

type Row = readonly [row: string, holds: (difference: Difference, answers: AnswerPair, described: Described) => boolean];

/** Parameters and members that only Fasti has, as declared by the kinds, and others that only Fasti describes. */
const ADDED_NAMES: ReadonlySet<string> = new Set([
  ...postKinds.flatMap(({ filters, fields }) => [...additionalParams(filters), ...additionalParams(fields)]),
  'translation_language', 'language_fallback', 'language', 'translations', 'translation_of', 'geoloc_radius', 'geo_lat', 'geo_lng', 'slug', 'parent', 'context', 'event',
]); // biome-ignore format: a list of names

/** Members of records that only Fasti has. */
const ADDED_MEMBERS: ReadonlySet<string> = new Set([
  ...postKinds.flatMap(({ fields }) => additionalParams(fields)),
  ...Object.keys(languageShape),
]);

/** Routes on which the API describes itself; the second site may describe more. */
const DESCRIPTIONS = new Set(['', 'doc']);

const hasParam = ({ query }: Difference, ...names: readonly string[]): boolean => names.some((name) => name in query);
const isAbout = ({ route }: Difference, ...kinds: readonly string[]): boolean => kinds.includes(route.split('/')[0] ?? '');
const isList = ({ route }: Difference): boolean => !route.includes('/');
const inList = ({ path }: DifferingValue): boolean => /^\$\.(events|venues|organizers|categories|tags)(\[\d+\]$|\.order$)/.test(path);
/** Whether a value depends on the length of a list: totals, and whether a page exists at all. */
const dependsOnListLength = (place: DifferingValue): boolean =>
  inList(place) ||
  /^(status|\$\.(total|total_pages|code|data\.status|data|message|next_rest_url|previous_rest_url|rest_url))$/.test(place.path) ||
  /^\$\.(events|venues|organizers)$/.test(place.path);
const isProtected = (record: JsonObject): boolean => record.all_day === null || record.show_map === null;
const isPublic = (record: unknown): boolean => isRecord(record) && record.status === 'publish';

const ROWS: readonly Row[] = [
  ['additions', ({ route, old: before }) => DESCRIPTIONS.has(route) && before === undefined],
  ['additions', (difference, _, described) => ADDED_MEMBERS.has(memberIn(difference)) && isUnknownToOne(difference, described)],
  ['additions', ({ route, path, new: after }) => DESCRIPTIONS.has(route) && after === undefined && ADDED_NAMES.has(path.split(/\W/).at(-1) ?? '')],
  ['D25', (difference) => isAbout(difference, 'categories', 'tags') && hasMoreParameters(difference)],
  ['D21', (difference) => hasMoreParameters(difference)],
  ['D12', ({ query }) => String(query.parent) === '0'],
  ['D19', (difference, answers) => isAbout(difference, 'events') && hasParam(difference, 'include') && dependsOnListLength(difference) && everyUnpaired(answers, 'events', isLeftOutOfLists)],
  ['D19', (difference) => isAbout(difference, 'events') && isList(difference) && 'include' in difference.query && /^\$\.(next_|previous_)?rest_url$/.test(difference.path) && differOnlyIn(difference, ['start_date', 'end_date'])],
  ['additions', (difference) => isAbout(difference, 'events', 'venues', 'organizers') && isList(difference) && hasParam(difference, 'order', 'orderby') && dependsOnListLength(difference)],
  ['D20', (difference, answers) => dependsOnListLength(difference) && everyUnpaired(answers, 'events', (record) => lacksFirstTag(record, difference.query.tags))],
  ['D22', (difference, answers) => isAbout(difference, 'venues', 'organizers') && isList(difference) && dependsOnListLength(difference) && isOtherSearch(difference, answers)],
  ['D27', (difference) => Object.keys(difference.query).some((name) => name.startsWith('geoloc')) && isList(difference)],
  ['D27', (difference, _, described) => /\.geo_(lat|lng)$/.test(difference.path) && (isUnknownToOne(difference, described) || isSameNumber(difference))],
  ['D28', (difference) => hasParam(difference, 'ticketed')],
  ['D31', ({ query }, { old: before, new: after }) => Object.entries(query).some(isLenient) && [before.status, after.status].sort().join() === '200,400'],
  ['D35', (difference, answers) => isAbout(difference, 'events') && hasParam(difference, 'venue', 'organizer', 'categories', 'tags', 'featured', 'search') && dependsOnListLength(difference) && everyUnpaired(answers, 'events', isProtected)],
  ['D35', (difference, { old: before, new: after }) => isList(difference) && hasParam(difference, 'event', 'post') && [before.status, after.status].sort().join() === '200,400'],
  ['D23', (difference, answers) => isAbout(difference, 'events') && isList(difference) && !hasParam(difference, ...BOUNDS) && dependsOnListLength(difference) && windowsDiffer(answers)],
  ['D24', (difference, answers) => isList(difference) && difference.path.endsWith('.order') && onlyTiesDiffer(difference, answers)],
  ['D24', (difference, answers) => isList(difference) && inList(difference) && isCutThroughTies(difference, answers)],
  ['D18', (difference, answers) => isOfProtectedLink(difference, answers)],
  ['D15', (difference, answers) => isOfHiddenLink(difference, answers)],
  ['D47', ({ path, old: before, new: after }) => /\.(venue|organizer)$/.test(path) && before === undefined && after === ''],
  ['D37', (difference, answers) => isReadDifferently(difference, answers)],
  ['D37', (difference, answers) => isCurrencyInCost(difference, answers)],
]; // biome-ignore format: a table

const memberIn = ({ path }: DifferingValue): string => path.split('.').at(-1) ?? '';

/** Whether one site lacks a member and does not know it at all. If it does, the value has been lost. */
function isUnknownToOne(difference: DifferingValue, described: Described): boolean {
  return (['old', 'new'] as const).some((side) => difference[side] === undefined && !described[side].has(memberIn(difference)));
}

/** Whether both sites show the same number, one of them perhaps as text. */
const isSameNumber = ({ old: before, new: after }: DifferingValue): boolean =>
  !isNothing(before) && !isNothing(after) && Number(before) === Number(after);

/** Whether a parameter has a value that Fasti takes literally. */
const isLenient = ([name, value]: [string, string | number]): boolean =>
  String(value) === '1970-01-01' ||
  (name === 'strict_dates' && /^(0|false)$/i.test(String(value))) ||
  /^(yes|no|on|off)$/i.test(String(value));

/** Whether some records are in only one of the two lists, and a condition is true for all of these. */
function everyUnpaired({ old: before, new: after }: AnswerPair, list: string, holds: (record: JsonObject) => boolean): boolean {
  const [oldRecords, newRecords] = [before, after].map(({ body }) =>
    isRecord(body) && Array.isArray(body[list]) ? body[list].filter(isRecord) : [],
  );
  const recordsMissingIn = (records: readonly JsonObject[], otherRecords: readonly JsonObject[]) =>
    records.filter(({ id }) => !otherRecords.some((other) => other.id === id));
  const unpaired = [...recordsMissingIn(oldRecords!, newRecords!), ...recordsMissingIn(newRecords!, oldRecords!)];
  return unpaired.length > 0 && unpaired.every(holds);
}

const TWO_YEARS_MS = 730 * 86_400_000;

/** Whether lists leave out an event unless it is named: because it is over, far in the future, or hidden. */
function isLeftOutOfLists({ end_date: end, start_date: start, hide_from_listings: isHidden }: JsonObject): boolean {
  const [from, to] = [Date.parse(String(start).replace(' ', 'T')), Date.parse(String(end).replace(' ', 'T'))];
  return (
    isHidden === true ||
    to < Date.now() + 86_400_000 ||
    from > Date.now() + TWO_YEARS_MS - 86_400_000 ||
    to > Date.now() + TWO_YEARS_MS - 86_400_000
  );
}

/** Whether an event lacks the first of the requested tags. */
function lacksFirstTag({ tags }: JsonObject, requestedTags: string | number | undefined): boolean {
  const [first = '', ...rest] = String(requestedTags ?? '').split(',');
  return rest.length > 0 && Array.isArray(tags) && !tags.some((tag) => isRecord(tag) && [String(tag.id), tag.slug].includes(first));
}

/**
 * Whether a difference comes from searching venues or organizers: only totals differ, or the search contains scripts
 * that the reference does not support, or the list is restricted to those with upcoming events.
 */
function isOtherSearch(difference: Difference, answers: AnswerPair): boolean {
  const { search } = difference.query;
  if (hasParam(difference, 'only_with_upcoming')) return true;
  if (search === undefined) return false;
  return /[^\p{ASCII}]/u.test(String(search)) || !everyUnpaired(answers, difference.route, () => true);
}

/** Returns the sort key of a record in a list. */
const sortKeyOf =
  ({ orderby }: Query) =>
  (record: JsonObject): string =>
    String(orderby === undefined || orderby === 'include' ? (record.start_date ?? record.date ?? record.name) : record[String(orderby)]);

/** Returns the records of both lists. */
const listsIn = ({ route }: Difference, { old: before, new: after }: AnswerPair): JsonObject[][] =>
  [before, after].map(({ body }) => (isRecord(body) && Array.isArray(body[route]) ? body[route].filter(isRecord) : []));

/** Whether both lists are in the requested order, so that only records with equal keys differ in order. */
function onlyTiesDiffer(difference: Difference, answers: AnswerPair): boolean {
  const [oldKeys, newKeys] = listsIn(difference, answers).map((list) => list.map(sortKeyOf(difference.query)));
  return oldKeys!.join('\n') === newKeys!.join('\n');
}

/** Whether a page begins or ends between records with equal keys, of which each site may show different ones. */
function isCutThroughTies(difference: Difference, answers: AnswerPair): boolean {
  const [oldRecords, newRecords] = listsIn(difference, answers);
  const edges = new Set([oldRecords!.at(0), oldRecords!.at(-1)].flatMap((record) => (record ? [sortKeyOf(difference.query)(record)] : [])));
  return (
    oldRecords!.length === newRecords!.length &&
    everyUnpaired(answers, difference.route, (record) => edges.has(sortKeyOf(difference.query)(record)))
  );
}

/** Whether two URLs of lists differ only in these parameters. */
function differOnlyIn({ query, old: before, new: after }: Difference, names: readonly string[]): boolean {
  if (typeof before !== 'string' || typeof after !== 'string') return false;
  const [one, other] = [listUrl(before), listUrl(after)];
  const otherPairs = (pairs: ReadonlyMap<string, string>) => [...pairs].filter(([name]) => !names.includes(name));
  return (
    one.base === other.base &&
    otherPairs(one.pairs).every(([name, value]) => sameParameter(name, value, other.pairs.get(name), query)) &&
    otherPairs(other.pairs).every(([name]) => one.pairs.has(name))
  );
}

const BOUNDS: readonly string[] = [...BOUND_NAMES, 'include'];

const isNothing = (value: unknown): boolean => value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

/** Returns the distinct currency symbols in a cost. */
const currencySymbolsIn = (cost: unknown): string[] => [...new Set(decodeEntities(String(cost)).match(/\p{Sc}/gu))].sort();

/** Returns the path of the record if a path leads to its cost, otherwise undefined. */
function recordOfCost(path: string): string | undefined {
  const match = /\.(cost_details\.values|json_ld|cost)(?!\w)/.exec(path);
  if (!match) return undefined;
  const [matchText, member] = match;
  const rest = path.slice(match.index + matchText.length);
  const isCost = member === 'cost' ? rest === '' : member !== 'json_ld' || rest.endsWith('.offers.price');
  return isCost ? path.slice(0, match.index) : undefined;
}

/**
 * Whether both sites show the same stored cost in different ways: with other numbers or words, or one without its
 * symbol. All values that each shows must be explained by the same stored amounts. Another currency or another price is
 * a real difference.
 */
function isReadDifferently({ path, old: before, new: after }: Difference, { old: one, new: other }: AnswerPair): boolean {
  const record = recordOfCost(path);
  if (record === undefined) return false;
  const costs = [one.body, other.body].map((body) => ({
    cost: memberAt(body, `${record}.cost`),
    values: memberAt(body, `${record}.cost_details.values`),
  }));
  if (costs.some(({ cost, values }) => isNothing(cost) || isNothing(values))) return false;
  const [oldTexts, newTexts] = [before, after].map((value, side) =>
    [value ?? '', costs[side]!.cost, costs[side]!.values].flat().map(plainText),
  );
  const symbols = [before, after].map((value) => currencySymbolsIn(value ?? '').join(''));
  if (symbols[0] !== symbols[1] && !symbols.includes('')) return false;
  if (![...oldTexts!, ...newTexts!].some((text) => /\d/.test(text))) return sanitizeTitle(oldTexts![0]!) === sanitizeTitle(newTexts![0]!);
  if (!isComposedOf(oldTexts!, newTexts!) && !isComposedOf(newTexts!, oldTexts!)) return false;
  return isDeliberatelyFree(oldTexts!, newTexts!) && isDeliberatelyFree(newTexts!, oldTexts!);
}

const plainText = (value: unknown): string => decodeEntities(String(value));

/** Returns the amounts in texts, without zeros. */
const amountsIn = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => text.match(/\d+(?:[.,]\d+)*/g) ?? []).filter((amount) => !/^0(?:[.,]0+)?$/.test(amount));

/**
 * Whether the amounts that one side reads consist of exactly those figures into which the other side splits them
 * (`1000.50` of `1.000` and `,50`).
 */
function isComposedOf(amountTexts: readonly string[], splitTexts: readonly string[]): boolean {
  const pieces = new Set(amountsIn(splitTexts).flatMap((amount) => figuresOf(amount)));
  const usedFigures = new Set<string>();
  for (const amount of amountsIn(amountTexts)) {
    const figures = possibleFigures(amount).find((some) => some.every((figure) => pieces.has(figure)));
    if (!figures) return false;
    for (const figure of figures) usedFigures.add(figure);
  }
  return [...pieces].every((figure) => usedFigures.has(figure) || figure === '00');
}

/** Returns the runs of digits in an amount; a zero before or after the point is left out. */
const figuresOf = (amount: string): string[] => amount.split(/[.,]/).filter((figure) => figure !== '0');

/** Returns the figures of an amount as it is, and with thousands separators in groups of three, or as in India. */
function possibleFigures(amount: string): string[][] {
  const [integer = '', ...rest] = amount.replace(/\.00$/, '').split('.');
  const figures = integer.split(',');
  const last = figures.pop() ?? '';
  return [last, grouped(last, 3), grouped(last, 2)].map((text) => figuresOf([...figures, text, ...rest].join(',')));
}

/** Puts a comma before the last three digits, and further ones between groups of this size. */
function grouped(digits: string, size: number): string {
  const groups: string[] = [];
  for (let end = digits.length, length = 3; end > 0; end -= length, length = size)
    groups.unshift(digits.slice(Math.max(0, end - length), end));
  return groups.join(',');
}

/**
 * Whether a cost that one side shows as free is a deliberate difference: the reference misread a comma or several
 * amounts.
 */
function isDeliberatelyFree([text = '']: readonly string[], [other = '', cost = '']: readonly string[]): boolean {
  const isFree = text !== '' && amountsIn([text]).length === 0;
  return !isFree || amountsIn([other]).length === 0 || /\d(?:,|[^\d.]+\d)/.test(cost);
}

/**
 * Whether only one side reads the currency of several amounts, and the position of its symbol, from the cost as written
 * (`$10 - $20.50`). The symbol must be in the cost on both sides. For a single amount, both sites read it, so that a
 * missing currency is a real loss.
 */
function isCurrencyInCost({ path, old: before, new: after }: Difference, { old: one, new: other }: AnswerPair): boolean {
  const [, record, member = ''] = /^(\$.*)\.cost_details\.currency_(symbol|position|code)$/.exec(path) ?? [];
  if (record === undefined || isNothing(before) === isNothing(after)) return false;
  const costs = [one.body, other.body].map((body) => memberAt(body, `${record}.cost`));
  const symbols = [one.body, other.body].map((body) =>
    decodeEntities(String(memberAt(body, `${record}.cost_details.currency_symbol`) ?? '')),
  );
  const symbol = symbols.find((text) => text !== '') ?? '';
  if (symbol === '' || (member !== 'code' && !symbols.includes(''))) return false;
  return costs.every((cost) => currencySymbolsIn(cost).join('') === symbol && (String(cost).match(/\d[\d.,]*/g) ?? []).length > 1);
}

/** Whether the URL of a list on one side has all parameters of the other one, and additional ones of the request. */
function hasMoreParameters({ path, query, old: before, new: after }: Difference): boolean {
  if (!/^\$\.(rest_url|next_rest_url|previous_rest_url)$/.test(path) || typeof before !== 'string' || typeof after !== 'string')
    return false;
  const [one, other] = [listUrl(before), listUrl(after)];
  const [shorter, longer] = one.pairs.size <= other.pairs.size ? [one, other] : [other, one];
  const isRequested = (name: string) => name in query || ['page', 'per_page', 'status'].includes(name);
  return (
    [...shorter.pairs].every(([name, value]) => sameParameter(name, value, longer.pairs.get(name), query)) &&
    [...longer.pairs.keys()].every((name) => shorter.pairs.has(name) || isRequested(name))
  );
}

/** Whether the default bounds of the lists are on different days. */
function windowsDiffer({ old: before, new: after }: AnswerPair): boolean {
  const bounds = [before, after].map(({ body }) =>
    isRecord(body) && typeof body.rest_url === 'string' ? listUrl(body.rest_url).pairs : undefined,
  );
  return (
    bounds.every((pairs) => pairs !== undefined) &&
    ['start_date', 'end_date'].some((name) => bounds[0]!.get(name)?.slice(0, 10) !== bounds[1]!.get(name)?.slice(0, 10))
  );
}

/** Returns the value at a path (`$.events[12].venue`) of a body: members by name, records by id or position. */
function memberAt(body: unknown, path: string): unknown {
  let value = body;
  for (const [, name, number] of path.matchAll(/\.(\w+)|\[(\d+)\]/g)) {
    if (name !== undefined) value = isRecord(value) ? value[name] : undefined;
    else if (Array.isArray(value)) value = value.find((item) => isRecord(item) && item.id === Number(number)) ?? value[Number(number)];
  }
  return value;
}

const LINK = /^(\$(?:\.events\[\d+\])?)\.(venue|organizer|json_ld)\b/;

/**
 * Whether a difference concerns a venue or organizer of an event whose name is blanked on one side because it has a
 * password. The other side may show more members.
 */
function isOfProtectedLink({ path, old: before, new: after }: Difference, { old: one, new: other }: AnswerPair): boolean {
  const isName = (value: unknown) => Array.isArray(value) && value.length === 0;
  if (/\.(venue|organizer)$/.test(path) && ((isName(before) && typeof after === 'string') || (isName(after) && typeof before === 'string')))
    return true;
  const [, record = '', member = ''] = LINK.exec(path) ?? [];
  if (member === '') return false;
  const links = [one.body, other.body].flatMap((body) =>
    ['venue', 'organizer'].flatMap((name) => [memberAt(body, `${record}.${name}`)].flat()),
  );
  return links.some((link) => isRecord(link) && (isName(link.venue) || isName(link.organizer)));
}

/** Whether a difference concerns a venue or organizer that is not public and embedded on one side only. */
function isOfHiddenLink({ path }: Difference, { old: one, new: other }: AnswerPair): boolean {
  const [, record = '', member = ''] = LINK.exec(path) ?? [];
  if (member === '') return false;
  const names = member === 'json_ld' ? (/\.json_ld\.(location|organizer)\b/.test(path) ? ['venue', 'organizer'] : []) : [member];
  return names.some((name) => {
    const [oldLinks, newLinks] = [one.body, other.body].map((body) => [memberAt(body, `${record}.${name}`)].flat().filter(isRecord));
    const unpaired = [
      ...oldLinks!.filter(({ id }) => !newLinks!.some((link) => link.id === id)),
      ...newLinks!.filter(({ id }) => !oldLinks!.some((link) => link.id === id)),
    ];
    return unpaired.length > 0 && unpaired.every((link) => !isPublic(link));
  });
}

/** Formats a differing value for people, short and on one line. */
export function shortText(value: unknown, length = 160): string {
  if (value === undefined) return '–';
  const text = typeof value === 'string' ? JSON.stringify(decodeEntities(value)) : JSON.stringify(value);
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

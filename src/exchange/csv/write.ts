import { stringify } from 'csv-stringify';
import type { PostKindName } from '../../kinds/kind.ts';
import { decodeEntities } from '../../wordpress/entities.ts';
import { type Item, isPostItem, isTermItem, type PostItem } from '../items/items.ts';
import { metaMap } from '../items/meta-map.ts';
import { LAYOUTS } from './layout.ts';

/**
 * The records of one kind as CSV in the plugin's layout (RFC 4180, UTF-8 with a mark, so that spreadsheets see it), in pieces. The venues, organizers,
 * terms and images that they name must come before them in the stream. What a spreadsheet would take for a formula has an apostrophe before it.
 */
export async function* writeCsv(kind: PostKindName, items: AsyncIterable<Item>): AsyncGenerator<string> {
  const names = new Map<string, string>();
  const columns = Object.entries(LAYOUTS[kind]).map(([key, [header]]) => ({ key, header }));
  const rows = async function* () {
    for await (const item of items) {
      if (isTermItem(item)) names.set(`${item.kind} ${item.sourceId}`, decodeEntities(item.name));
      else if (isPostItem(item) && item.kind === kind) yield withQuotes(rowOf(item, names));
      else if (isPostItem(item)) names.set(`${item.kind} ${item.sourceId}`, item.kind === 'attachment' ? (item.url ?? '') : titleOf(item));
    }
  };
  const writer = stringify({ header: true, columns, bom: true, record_delimiter: 'windows', escape_formulas: true });
  writer.setEncoding('utf8');
  const failed = feed(writer, rows());
  for await (const text of writer as AsyncIterable<string>) yield text;
  await failed;
}

async function feed(writer: ReturnType<typeof stringify>, rows: AsyncIterable<Row>): Promise<void> {
  try {
    for await (const row of rows) if (!writer.write(row)) await new Promise((resolve) => writer.once('drain', resolve));
    writer.end();
  } catch (error) {
    writer.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}

type Row = Readonly<Record<string, string>>;

/** An apostrophe of the text itself before such a sign is written twice: one of them is taken for the one that keeps from computing. */
const withQuotes = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([key, text]) => [key, /^'+[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text]),
  );

const titleOf = ({ columns }: PostItem): string => columns.post_title ?? '';

function rowOf(item: PostItem, names: ReadonlyMap<string, string>): Row {
  const metas = metaMap(item.metas);
  const meta = (key: string): string => metas.get(key)?.[0] ?? '';
  const all = (key: string): string => (metas.get(key) ?? []).join(', ');
  const yes = (value: boolean): string => (value ? 'yes' : 'no');
  const flag = (key: string): string => (metas.has(key) ? yes(/^(1|yes|true)$/i.test(meta(key))) : '');
  const linked = (key: string, told: (name: string | undefined, id: string) => string): string[] =>
    item.links.flatMap((link) =>
      link.key === key ? ['sourceId' in link ? told(names.get(`${link.kind} ${link.sourceId}`), link.sourceId) : link.name] : [],
    );
  const terms = (kind: string): string =>
    (item.terms ?? [])
      .flatMap((term) => (term.kind === kind ? [names.get(`${kind} ${term.sourceId}`) ?? term.name ?? term.sourceId] : []))
      .join(',');
  const [image] = item.links.filter((link) => link.kind === 'attachment');
  const common = {
    name: titleOf(item),
    description: item.columns.post_content ?? '',
    image: image && 'sourceId' in image ? (names.get(`attachment ${image.sourceId}`) ?? '') : '',
  };
  switch (item.kind) {
    case 'event':
      return {
        ...common,
        excerpt: item.columns.post_excerpt ?? '',
        start_date: meta('_EventStartDate').slice(0, 10),
        start_time: meta('_EventStartDate').slice(11),
        end_date: meta('_EventEndDate').slice(0, 10),
        end_time: meta('_EventEndDate').slice(11),
        timezone: meta('_EventTimezone'),
        all_day: yes(/^(1|yes|true)$/i.test(meta('_EventAllDay'))),
        hide: yes(meta('_EventHideFromUpcoming') === 'yes'),
        sticky: yes(item.columns.menu_order === -1),
        featured: yes(meta('_tribe_featured') === '1'),
        venue: linked('_EventVenueID', nameOrId)[0] ?? '',
        organizers: linked('_EventOrganizerID', listedName).join(','),
        show_map_link: flag('_EventShowMapLink'),
        show_map: flag('_EventShowMap'),
        cost: all('_EventCost'),
        currency_symbol: meta('_EventCurrencySymbol'),
        currency_position: meta('_EventCurrencyPosition'),
        currency_code: meta('_EventCurrencyCode'),
        categories: terms('category'),
        tags: terms('tag'),
        website: meta('_EventURL'),
        comments: yes(item.columns.comment_status === 'open'),
        pings: yes(item.columns.ping_status === 'open'),
      };
    case 'venue':
      return {
        ...common,
        country: meta('_VenueCountry'),
        address: meta('_VenueAddress'),
        address2: '',
        city: meta('_VenueCity'),
        state: meta('_VenueStateProvince') || meta('_VenueState') || meta('_VenueProvince'),
        zip: meta('_VenueZip'),
        phone: meta('_VenuePhone'),
        website: meta('_VenueURL'),
        show_map: flag('_VenueShowMap'),
        show_map_link: flag('_VenueShowMapLink'),
      };
    default:
      return { ...common, email: meta('_OrganizerEmail'), website: meta('_OrganizerWebsite'), phone: meta('_OrganizerPhone') };
  }
}

/** A name that looks like an id is told by its id. */
const nameOrId = (name: string | undefined, id: string): string => (name === undefined || name === '' || /^\d+$/.test(name) ? id : name);

/** The same in a list, which could not hold a comma either. */
const listedName = (name: string | undefined, id: string): string => (name?.includes(',') ? id : nameOrId(name, id));

import { externalIdField } from '../external-id.ts';
import { column, featuredImage, flagMeta, links, meta, metaKeysOf, rule, shownTexts, terms, whenEmpty } from '../fields.ts';
import { flag } from '../grammars/flags.ts';
import { MAX_BYTES } from '../grammars/grammar.ts';
import { anything, nameText, url } from '../grammars/grammars.ts';
import { timeText, timezone } from '../grammars/times.ts';
import { authorField, dateField, dateUtcField, statusField, textColumn, titleField } from '../post-fields.ts';
import { COST, DATES, FEATURED_META, HIDDEN_META, ORGANIZER_LINK, VENUE_LINK } from './metas.ts';

/** The fields of an event, in the order in which descriptions name them. */
export const eventFields = {
  author: authorField,
  status: statusField,
  date: dateField,
  date_utc: dateUtcField,
  title: titleField(),
  description: textColumn('post_content'),
  slug: whenEmpty('stays', rule(nameText(MAX_BYTES.slug))),
  excerpt: textColumn('post_excerpt'),
  timezone: rule(timezone, { names: { core: DATES.timezone } }),
  all_day: whenEmpty('false', rule(flag, { fallback: false, names: { core: DATES.allDay } })),
  start_date: whenEmpty('refused', rule(timeText, { required: true, unless: 'translation_of', names: { core: DATES.start } })),
  end_date: whenEmpty('refused', rule(timeText, { required: true, unless: 'translation_of', names: { core: DATES.end } })),
  image: featuredImage(),
  cost: rule(anything(MAX_BYTES.text), { names: { core: COST.amounts } }),
  website: meta('_EventURL', url, { fallback: null, store: (value) => [value] }),
  show_map: flagMeta('_EventShowMap', { on: '1', off: '' }, { names: { tec: false } }),
  show_map_link: flagMeta('_EventShowMapLink', { on: '1', off: '' }, { names: { tec: false } }),
  hide_from_listings: flagMeta(HIDDEN_META, { on: 'yes', off: undefined }, { names: { core: false, tec: false } }),
  sticky: whenEmpty('false', column('menu_order', flag, { promotes: true, store: (value) => [value === true ? '-1' : '0'] })),
  featured: flagMeta(FEATURED_META, { on: '1', off: undefined }, { promotes: true, names: { core: false } }),
  categories: terms('category', { tec: 'tribe_events_cat' }),
  tags: terms('tag'),
  venue: links(VENUE_LINK, 'venue', { tec: 'venues' }),
  organizer: links(ORGANIZER_LINK, 'organizer', { tec: 'organizers' }),
  external_id: externalIdField,
};

/** Metas of an event that store a single field, by field name. */
export const EVENT = metaKeysOf(eventFields);

/** Texts shown in the record in addition to those of the post: name -> meta. */
export const eventTexts = shownTexts(eventFields);

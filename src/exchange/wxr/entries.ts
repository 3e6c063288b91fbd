import { CUSTOM_FIELD_TYPES, type CustomField, isCustomMeta } from '../../calendar/custom-fields.ts';
import { postKinds, termKinds } from '../../kinds/index.ts';
import type { TermKindName } from '../../kinds/kind-names.ts';
import { extensionIn, imageMimeOf } from '../../media/image-type.ts';
import { membersIn } from '../../storage/languages/polylang/group.ts';
import { asStored } from '../../wordpress/php/serialized.ts';
import { GROUP_TAXONOMIES, LANGUAGE_TAXONOMIES, POLYLANG_TAXONOMIES } from '../../wordpress/polylang.ts';
import { tableOf } from '../../wordpress/table.ts';
import {
  type AuthorItem,
  type Entry,
  type MetaPair,
  type PostItem,
  splitMetas,
  type TermItem,
  type TermReference,
} from '../items/items.ts';

/** An element of a file, with its text and its children. */
export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly text: string;
  readonly children: Elements;
}
export type Elements = readonly Element[];

/**
 * Returns the address of the site if an element of the channel contains it: `wp:base_blog_url`. In a network,
 * `wp:base_site_url` is the address of the network instead.
 */
export function homeOf({ name, text }: Pick<Element, 'name' | 'text'>): string | undefined {
  return name === 'wp:base_blog_url' ? text : undefined;
}

/** A group of translations of terms, as Polylang stores it: its name, and ids of terms by language. */
export interface TermGroup {
  readonly name: string;
  readonly members: ReadonlyMap<string, number>;
}

/** Returns the group of terms in an element of the channel, or undefined if it is something else. */
export function termGroupOf(element: Element): TermGroup | undefined {
  if (element.name !== 'wp:term' || textOf(element, 'wp:term_taxonomy').trim() !== POLYLANG_TAXONOMIES.term.group) return undefined;
  return { name: textOf(element, 'wp:term_slug').trim(), members: membersIn(textOf(element, 'wp:term_description')) };
}

/** Converts an element of the channel to an item, or to a note that it is not part of a calendar. */
export function entryOf(element: Element, place: string): Entry[] {
  switch (element.name) {
    case 'wp:author':
      return [author(element, place)];
    case 'wp:term':
      return term(element, textOf(element, 'wp:term_taxonomy'), 'wp:term', place);
    case 'wp:tag':
      return term(element, 'post_tag', 'wp:tag', place);
    case 'fasti:fields':
      return [{ kind: 'settings', sourceId: 'settings', options: {}, fields: element.children.flatMap(customFieldOf) }];
    case 'wp:category':
      return [{ kind: 'skipped', what: 'category of posts', count: 1 }];
    default:
      return post(element, place);
  }
}

const KINDS: ReadonlyMap<string, PostItem['kind']> = new Map<string, PostItem['kind']>([
  ...postKinds.map((kind) => [kind.postType, kind.name] as const),
  ['attachment', 'attachment'],
]);
const TERM_KINDS: ReadonlyMap<string, TermKindName> = new Map(termKinds.map((kind) => [kind.taxonomy, kind.name]));

const COLUMNS = {
  post_title: 'title',
  post_content: 'content:encoded',
  post_excerpt: 'excerpt:encoded',
  post_date: 'wp:post_date',
  post_date_gmt: 'wp:post_date_gmt',
  post_modified: 'wp:post_modified',
  post_modified_gmt: 'wp:post_modified_gmt',
  comment_status: 'wp:comment_status',
  ping_status: 'wp:ping_status',
  post_name: 'wp:post_name',
  post_status: 'wp:status',
  post_password: 'wp:post_password',
  guid: 'guid',
} as const;

/** Media types by extension of attachments that are no images, since WXR does not state them. */
const MIMES: ReadonlyMap<string, string> = tableOf({
  pdf: 'application/pdf', mp3: 'audio/mpeg', mp4: 'video/mp4', zip: 'application/zip', ics: 'text/calendar', csv: 'text/csv',
  txt: 'text/plain',
}); // biome-ignore format: a table

const find = ({ children }: Pick<Element, 'children'>, name: string): string | undefined =>
  children.find((child) => child.name === name)?.text;
const textOf = (element: Pick<Element, 'children'>, name: string): string => find(element, name) ?? '';

function author(element: Element, place: string): AuthorItem {
  const text = (name: string) => textOf(element, `wp:author_${name}`).trim();
  const id = idOf(text('id'));
  return {
    kind: 'author',
    sourceId: text('login'),
    ...(id === undefined ? {} : { id }),
    place,
    login: text('login'),
    email: text('email'),
    displayName: text('display_name'),
    metas: (['first_name', 'last_name'] as const).flatMap((name) => (text(name) === '' ? [] : [[name, text(name)] as const])),
  };
}

/** Returns the custom field in an element that Fasti has written; none if it is something else. */
function customFieldOf(element: Pick<Element, 'children'>): CustomField[] {
  const text = (name: string) => textOf(element, `fasti:${name}`);
  const [meta, name, label] = [text('meta'), text('name'), text('label')];
  const type = [...CUSTOM_FIELD_TYPES, 'textarea' as const].find((one) => one === text('type'));
  const choices = element.children.flatMap((child) => (child.name === 'fasti:choice' ? [child.text] : []));
  return isCustomMeta(meta) && type ? [{ meta, name, label, type, choices }] : [];
}

/** Taxonomies that only state languages; records contain the same information. */
const OF_LANGUAGES: ReadonlySet<string> = new Set([...LANGUAGE_TAXONOMIES, ...GROUP_TAXONOMIES]);

/** Converts a term. `prefix`: prefix of its child elements. */
function term(element: Element, taxonomy: string, prefix: 'wp:term' | 'wp:tag', place: string): Entry[] {
  const kind = TERM_KINDS.get(taxonomy.trim());
  if (OF_LANGUAGES.has(taxonomy.trim())) return [];
  if (kind === undefined) return [{ kind: 'skipped', what: taxonomy.trim() || 'term', count: 1 }];
  const name = textOf(element, `${prefix}_name`);
  const slug = textOf(element, `${prefix}_slug`).trim();
  const id = idOf(textOf(element, 'wp:term_id'));
  const parent = textOf(element, 'wp:term_parent').trim();
  const metas = metasOf(element, 'wp:termmeta');
  const item: TermItem = {
    kind,
    sourceId: slug || name,
    ...(id === undefined ? {} : { id }),
    place,
    name: name || slug,
    slug,
    description: textOf(element, `${prefix}_description`),
    ...(kind === 'category' && parent !== '' && parent !== '0' ? { parent } : {}),
    ...(metas.length > 0 ? { metas } : {}),
  };
  return [item];
}

function post(element: Element, place: string): Entry[] {
  const type = textOf(element, 'wp:post_type').trim() || 'post';
  const kind = KINDS.get(type);
  const status = textOf(element, 'wp:status').trim();
  if (kind === undefined || status === 'auto-draft') return [{ kind: 'skipped', what: kind === undefined ? type : status, count: 1 }];
  const sourceId = textOf(element, 'wp:post_id').trim() || textOf(element, 'guid').trim();
  if (sourceId === '') {
    return [{ kind: 'loss', loss: { reason: 'no-id', kind, of: textOf(element, 'title'), place }, isWhole: true }];
  }
  const id = idOf(sourceId);
  const parent = textOf(element, 'wp:post_parent').trim();
  const login = textOf(element, 'dc:creator').trim();
  const order = Number(textOf(element, 'wp:menu_order').trim() || '0');
  const url = textOf(element, 'wp:attachment_url').trim() || textOf(element, 'guid').trim();
  const columns = Object.fromEntries(
    Object.entries(COLUMNS).flatMap(([column, name]) => {
      const text = find(element, name);
      return text === undefined ? [] : [[column, /^post_(title|content|excerpt|password)$/.test(column) ? text : text.trim()]];
    }),
  );
  const comments = element.children.filter((child) => child.name === 'wp:comment').length;
  const item: PostItem = {
    kind,
    sourceId,
    ...(id === undefined ? {} : { id }),
    place,
    columns: {
      ...columns,
      ...(Number.isSafeInteger(order) ? { menu_order: order } : {}),
      ...(kind === 'attachment' ? { post_mime_type: imageMimeOf(url) ?? MIMES.get(extensionIn(url)) ?? '' } : {}),
    },
    ...(login === '' ? {} : { author: login }),
    ...(parent !== '' && parent !== '0' ? { parent } : {}),
    ...splitMetas(metasOf(element, 'wp:postmeta')),
    ...languageOf(element),
    terms: element.children.flatMap(reference),
    complete: true,
    ...(kind === 'attachment' && url !== '' ? { url } : {}),
  };
  return comments > 0 ? [item, { kind: 'skipped', what: 'comment', count: comments }] : [item];
}

const metasOf = (element: Element, elementName: 'wp:postmeta' | 'wp:termmeta'): MetaPair[] =>
  element.children
    .filter(({ name }) => name === elementName)
    .map((meta) => [textOf(meta, 'wp:meta_key').trim(), asStored(textOf(meta, 'wp:meta_value'))]);

/** Returns the language of a post and its group of translations, which Polylang stores as terms. */
function languageOf({ children }: Element): Pick<PostItem, 'language' | 'translation_group'> {
  const categoryOf = (domain: string) =>
    children.find(({ name, attributes }) => name === 'category' && attributes.domain === domain)?.attributes.nicename;
  const { post } = POLYLANG_TAXONOMIES;
  const [language, group] = [categoryOf(post.language), categoryOf(post.group)];
  return { ...(language ? { language } : {}), ...(language && group ? { translation_group: group } : {}) };
}

/** Returns the term that a `category` element refers to; it may be of any taxonomy. */
function reference({ name, attributes, text }: Element): TermReference[] {
  const kind = name === 'category' ? TERM_KINDS.get(attributes.domain ?? '') : undefined;
  const slug = attributes.nicename ?? '';
  if (kind === undefined || (slug === '' && text === '')) return [];
  return [{ kind, sourceId: slug || text, ...(text === '' ? {} : { name: text }), ...(slug === '' ? {} : { slug }) }];
}

function idOf(text: string): number | undefined {
  return /^[1-9]\d{0,14}$/.test(text.trim()) ? Number(text.trim()) : undefined;
}

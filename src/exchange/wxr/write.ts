import type { CustomField } from '../../calendar/custom-fields.ts';
import { postKind, termKind } from '../../kinds/index.ts';
import { toSerialized } from '../../wordpress/php/serialized.ts';
import { type GROUP_TAXONOMIES, POLYLANG_TAXONOMIES } from '../../wordpress/polylang.ts';
import { tableOf } from '../../wordpress/table.ts';
import { dateFromUtc } from '../../wordpress/time.ts';
import { replaceLoneSurrogates } from '../items/clean.ts';
import { fieldsOf } from '../items/field-definitions.ts';
import { type AuthorItem, type Item, isPostItem, isTermItem, type PostItem, type SettingsItem, type TermItem } from '../items/items.ts';
import { slugIn } from '../items/term-names.ts';
import { removeForbiddenCharacters } from './characters.ts';

/** The site that a file is exported from. `home` has no trailing slash. */
export interface WxrSite {
  readonly home: string;
  readonly title: string;
  readonly description: string;
  readonly language: string;
  /** Time of the export. */
  readonly now: Date;
}

/**
 * Writes a WXR 1.2 file that WordPress's importer can read, in chunks. Control characters, which XML does not allow,
 * are left out. Carriage returns are written as character references, since parsers would convert them to line feeds.
 */
export async function* writeWxr(site: WxrSite, items: AsyncIterable<Item>): AsyncGenerator<string> {
  yield head(site);
  const groups = { posts: new Map<string, Map<string, number>>(), terms: new Map<string, Map<string, number>>() };
  for await (const item of items) {
    // The languages of terms come before the records, so that the importer knows them when it creates the terms.
    if (isPostItem(item)) yield* groupsOf(POLYLANG_TAXONOMIES.term.group, groups.terms);
    yield element(item, site);
    if (isPostItem(item) && item.translation_group !== undefined) joinGroup(groups.posts, item, Number(item.sourceId));
    // Polylang knows the language of a term only through its group, so that every term needs one.
    if (isTermItem(item) && item.id !== undefined) joinGroup(groups.terms, { translation_group: String(item.id), ...item }, item.id);
  }
  yield* groupsOf(POLYLANG_TAXONOMIES.term.group, groups.terms);
  yield* groupsOf(POLYLANG_TAXONOMIES.post.group, groups.posts);
  yield '</channel>\n</rss>\n';
}

type Groups = Map<string, Map<string, number>>;

/** Adds a record to its group. */
function joinGroup(groups: Groups, item: PostItem | TermItem, id: number): void {
  if (item.language === undefined) return;
  const name = groupName(item);
  groups.set(name, (groups.get(name) ?? new Map()).set(item.language, id));
}

function head({ home, title, description, language, now }: WxrSite): string {
  return `<?xml version="1.0" encoding="UTF-8" ?>
<rss version="2.0"
	xmlns:excerpt="http://wordpress.org/export/1.2/excerpt/"
	xmlns:content="http://purl.org/rss/1.0/modules/content/"
	xmlns:wfw="http://wellformedweb.org/CommentAPI/"
	xmlns:dc="http://purl.org/dc/elements/1.1/"
	xmlns:wp="http://wordpress.org/export/1.2/"
	xmlns:fasti="urn:x-fasti:export">
<channel>
	<title>${escapeText(title)}</title>
	<link>${escapeText(home)}</link>
	<description>${escapeText(description)}</description>
	<pubDate>${now.toUTCString().replace('GMT', '+0000')}</pubDate>
	<language>${escapeText(language)}</language>
	<wp:wxr_version>1.2</wp:wxr_version>
	<wp:base_site_url>${escapeText(home)}</wp:base_site_url>
	<wp:base_blog_url>${escapeText(home)}</wp:base_blog_url>
`;
}

function element(item: Item, site: WxrSite): string {
  if (isPostItem(item)) return post(item, site);
  if (isTermItem(item)) return item.kind === 'tag' ? tag(item) : term(item);
  return item.kind === 'author' ? author(item) : settings(item);
}

/** Writes the custom fields of the site, without which the metas of events mean nothing on another site. */
function settings(item: SettingsItem): string {
  const fields = fieldsOf(item);
  return fields.length === 0
    ? ''
    : `\t<fasti:fields>\n${fields.map((field) => `\t\t${fieldElement(field)}\n`).join('')}\t</fasti:fields>\n`;
}

const fieldElement = ({ meta, name, label, type, choices }: CustomField): string =>
  `<fasti:field>${[
    ...(
      [
        ['meta', meta],
        ['name', name],
        ['label', label],
        ['type', type],
      ] as const
    ).map(([key, value]) => node(`fasti:${key}`, value)),
    ...choices.map((choice) => node('fasti:choice', choice)),
  ].join('')}</fasti:field>`;

function author({ id, login, email, displayName, metas }: AuthorItem): string {
  const metasByKey = new Map(metas);
  return `\t<wp:author>${[
    bareNode('wp:author_id', String(id ?? 0)),
    node('wp:author_login', login),
    node('wp:author_email', email),
    node('wp:author_display_name', displayName),
    node('wp:author_first_name', metasByKey.get('first_name') ?? ''),
    node('wp:author_last_name', metasByKey.get('last_name') ?? ''),
  ].join('')}</wp:author>\n`;
}

function term({ id, kind, slug, name, parent, description, metas = [] }: TermItem): string {
  return `\t<wp:term>${[
    bareNode('wp:term_id', String(id ?? 0)),
    node('wp:term_taxonomy', termKind(kind).taxonomy),
    node('wp:term_slug', slug),
    node('wp:term_parent', slugIn(parent ?? '')),
    node('wp:term_name', name),
    node('wp:term_description', description),
    ...metaNodes('wp:termmeta', metas),
  ].join('')}</wp:term>\n`;
}

function tag({ id, slug, name, description, metas = [] }: TermItem): string {
  return `\t<wp:tag>${[
    bareNode('wp:term_id', String(id ?? 0)),
    node('wp:tag_slug', slug),
    node('wp:tag_name', name),
    node('wp:tag_description', description),
    ...metaNodes('wp:termmeta', metas),
  ].join('')}</wp:tag>\n`;
}

function post(item: PostItem, { home }: WxrSite): string {
  const { kind, sourceId, columns, author: login = '', parent = '0', metas, links, terms = [], url } = item;
  const type = kind === 'attachment' ? 'attachment' : postKind(kind).postType;
  const column = (name: keyof typeof columns): string => String(columns[name] ?? '');
  const pairs = [...metas, ...links.map((link) => [link.key, 'sourceId' in link ? link.sourceId : link.name] as const)];
  const lines = [
    `<title>${cdata(column('post_title'))}</title>`,
    `<link>${escapeText(`${home}/?p=${sourceId}`)}</link>`,
    `<pubDate>${rssDate(column('post_date_gmt'))}</pubDate>`,
    `<dc:creator>${cdata(login)}</dc:creator>`,
    `<guid isPermaLink="false">${escapeText(column('guid'))}</guid>`,
    '<description></description>',
    `<content:encoded>${cdata(column('post_content'))}</content:encoded>`,
    `<excerpt:encoded>${cdata(column('post_excerpt'))}</excerpt:encoded>`,
    bareNode('wp:post_id', sourceId),
    node('wp:post_date', column('post_date')),
    node('wp:post_date_gmt', column('post_date_gmt')),
    node('wp:post_modified', column('post_modified')),
    node('wp:post_modified_gmt', column('post_modified_gmt')),
    node('wp:comment_status', column('comment_status')),
    node('wp:ping_status', column('ping_status')),
    node('wp:post_name', column('post_name')),
    node('wp:status', column('post_status')),
    bareNode('wp:post_parent', parent),
    bareNode('wp:menu_order', column('menu_order') || '0'),
    node('wp:post_type', type),
    node('wp:post_password', column('post_password')),
    bareNode('wp:is_sticky', '0'),
    ...(url === undefined ? [] : [node('wp:attachment_url', url)]),
    ...terms.map(
      (one) =>
        `<category domain="${termKind(one.kind).taxonomy}" nicename="${escapeText(one.slug ?? one.sourceId)}">${cdata(one.name ?? '')}</category>`,
    ),
    ...(item.language === undefined
      ? []
      : [
          `<category domain="${POLYLANG_TAXONOMIES.post.language}" nicename="${escapeText(item.language)}">${cdata(item.language)}</category>`,
        ]),
    ...(item.translation_group === undefined
      ? []
      : [`<category domain="${POLYLANG_TAXONOMIES.post.group}" nicename="${groupName(item)}">${cdata(groupName(item))}</category>`]),
    ...metaNodes('wp:postmeta', pairs),
  ];
  return `\t<item>\n${lines.map((line) => `\t\t${line}\n`).join('')}\t</item>\n`;
}

const metaNodes = (name: 'wp:postmeta' | 'wp:termmeta', metas: readonly (readonly [key: string, value: string])[]): string[] =>
  metas.map(([key, value]) => `<${name}>${node('wp:meta_key', key)}${node('wp:meta_value', value)}</${name}>`);

/** Returns the name of a group in the form of Polylang's own importer. */
const groupName = ({ kind, translation_group: group = '' }: PostItem | TermItem): string => `pll_${kind}_${escapeText(group)}`;

/**
 * Writes groups of translations as Polylang stores them: a term whose description contains the ids by language. Each
 * group is written once.
 */
function* groupsOf(taxonomy: (typeof GROUP_TAXONOMIES)[number], groups: Groups): Generator<string> {
  for (const [name, ids] of groups) yield groupTerm(taxonomy, name, ids);
  groups.clear();
}

const groupTerm = (taxonomy: string, name: string, ids: ReadonlyMap<string, number>): string =>
  `\t<wp:term>${[
    bareNode('wp:term_id', '0'),
    node('wp:term_taxonomy', taxonomy),
    node('wp:term_slug', name),
    node('wp:term_parent', ''),
    node('wp:term_name', name),
    node('wp:term_description', toSerialized(ids)),
  ].join('')}</wp:term>\n`;

const node = (name: string, text: string): string => `<${name}>${cdata(text)}</${name}>`;

/** Returns an element that WordPress writes without CDATA: numbers and flags. */
const bareNode = (name: string, text: string): string => `<${name}>${escapeText(text)}</${name}>`;

const clean = (text: string): string => removeForbiddenCharacters(replaceLoneSurrogates(text));

const cdata = (text: string): string =>
  `<![CDATA[${clean(text).replaceAll(']]>', ']]]]><![CDATA[>').replaceAll('\r', ']]>&#13;<![CDATA[')}]]>`;

const ENTITIES: ReadonlyMap<string, string> = tableOf({
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
  '\n': '&#10;',
  '\t': '&#9;',
});
const escapeText = (text: string): string => clean(text).replace(/[&<>"\r\n\t]/g, (character) => ENTITIES.get(character) ?? character);

/** Formats a time as `Fri, 20 Nov 2026 08:50:13 +0000`; empty for a draft. */
function rssDate(utc: string): string {
  const date = dateFromUtc(utc);
  return utc === '' || Number.isNaN(date.getTime()) ? '' : date.toUTCString().replace('GMT', '+0000');
}

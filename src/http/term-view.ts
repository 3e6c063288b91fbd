import type { TermKind } from '../kinds/kind.ts';
import type { TermRecord } from '../kinds/shapes.ts';
import { isObject } from '../objects.ts';
import type { Caller } from '../records/caller.ts';
import type { Listing } from '../records/posts.ts';
import { readTermIfExists } from '../records/terms.ts';
import { mayManageTerms } from '../records/visibility.ts';
import type { Site } from '../site.ts';

/** A term as a context shows it, possibly without some of its members. */
export type TermView = Readonly<Record<string, unknown>> | readonly [];
/** The record of a term, with its parent if the request asks for it. */
type EmbeddingTerm = TermRecord & { readonly _embedded?: { readonly up: readonly object[] } };

/** Members of an embedded term in WordPress. */
const EMBEDDED_MEMBERS = ['id', 'name', 'slug', 'taxonomy', 'url'];

/**
 * Returns a term as WordPress shows it in a context (parameter `context`;
 * `WP_REST_Terms_Controller::prepare_item_for_response`): complete, reduced to the members of an embedded term, or, for
 * an unknown context, only its links.
 */
export function termInContext(record: EmbeddingTerm, context: unknown): TermView {
  if (context === undefined || context === '' || context === 'view' || context === 'edit') return record;
  const { _links, _embedded, urls, ...members } = record;
  const links = { ...(_links === undefined ? {} : { _links }), ...(_embedded === undefined ? {} : { _embedded }) };
  if (context !== 'embed') return _links === undefined ? [] : links;
  const { up: _, ...rest } = urls;
  return { ...Object.fromEntries(Object.entries(members).filter(([name]) => EMBEDDED_MEMBERS.includes(name))), urls: rest, ...links };
}

/**
 * Applies the context to each term of a list. For `context=edit`, callers who may not manage terms get an empty list.
 */
export function listingInContext(caller: Caller, kind: TermKind, listing: Listing<TermRecord>, context: unknown): Listing<TermView> {
  if (context === 'edit' && !mayManageTerms(caller, kind)) return { ...listing, records: [] };
  return { ...listing, records: listing.records.map((record) => termInContext(record, context)) };
}

/**
 * Adds the parent of a term if `_embed` asks for everything or names it (`rest_parse_embed_param`,
 * `WP_REST_Server::embed_links`) and it exists: plugins and imports leave terms whose parent is missing. Events, venues
 * and organizers have no embeddable links.
 */
export async function withEmbedded(site: Site, caller: Caller, kind: TermKind, record: TermRecord, embed: unknown): Promise<EmbeddingTerm> {
  const { parent } = record;
  if (!parent || !requestsEmbed('up', embed)) return record;
  const found = await readTermIfExists(site, caller, kind, parent);
  if (!found) return record;
  const { id, url: link, name, slug, taxonomy, _links } = found.record;
  return { ...record, _embedded: { up: [{ id, link, name, slug, taxonomy, _links }] } };
}

/**
 * Whether `_embed` asks for everything, or names this relation (`rest_parse_embed_param`, which takes `0` for empty,
 * and empty for everything).
 */
export function requestsEmbed(relation: string, embed: unknown): boolean {
  if (embed === undefined) return false;
  if (['0', '1', 'true'].includes(String(embed)) && !isObject(embed)) return true;
  const relations = isObject(embed)
    ? Object.values(embed).filter((item) => !isObject(item))
    : String(embed)
        .split(/[\s,]+/)
        .filter(Boolean);
  return relations.length === 0 || relations.includes(relation);
}

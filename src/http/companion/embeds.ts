import { loadPeople, visiblePeople } from '../../accounts/people.ts';
import { blogCategory, type CoreTaxonomy } from '../../kinds/core/term.ts';
import { coreUser } from '../../kinds/core/user.ts';
import { type Methods, methodsFor } from '../../kinds/core/view.ts';
import { termKind } from '../../kinds/index.ts';
import { type Caller, renderContext } from '../../records/caller.ts';
import { attachedPosts } from '../../records/core/attached-posts.ts';
import { embeddedBlogPosts } from '../../records/core/blog-posts.ts';
import type { CorePage, CoreRecord } from '../../records/core/lists.ts';
import { shownMedia } from '../../records/core/media.ts';
import { embeddedTerms } from '../../records/core/terms.ts';
import type { VersionedRecord } from '../../records/versions.ts';
import type { Site } from '../../site.ts';
import { lookUpOnce } from '../../storage/engine/look-up-once.ts';
import type { Reply } from '../route.ts';
import { requestsEmbed } from '../term-view.ts';
import { corePage, coreRecord, type HasPage } from './core-reply.ts';

const recordsOf = (versionedRecords: ReadonlyMap<number, VersionedRecord>): Map<number, CoreRecord> =>
  new Map([...versionedRecords].map(([id, { record }]) => [id, record]));

/** Replies with a page of a list whose records have what `_embed` asks for. */
export async function pageWithEmbeds(site: Site, caller: Caller, page: CorePage, embed: unknown): Promise<Reply> {
  return limitCaching(corePage({ ...page, records: await withEmbeds(site, caller, page.records, embed) }), embed);
}

/** Replies with a record that has what `_embed` asks for. */
export async function recordWithEmbeds(
  site: Site,
  caller: Caller,
  versionedRecord: VersionedRecord,
  { embed, hasPage }: HasPage & { readonly embed: unknown },
): Promise<Reply> {
  const [record = versionedRecord.record] = await withEmbeds(site, caller, [versionedRecord.record], embed);
  return limitCaching(coreRecord({ ...versionedRecord, record }, { hasPage }), embed);
}

/** Changes of users and blog posts change no version, so an answer that shows them is cached for a second at most. */
const limitCaching = (reply: Reply, embed: unknown): Reply =>
  requestsEmbed('author', embed) || requestsEmbed('wp:attached-to', embed) ? { ...reply, timeliness: 'always' } : reply;

/**
 * Adds to records what they link to, if `_embed` asks for it (`WP_REST_Server::embed_links`): authors, pictures, terms,
 * the parent of a category or a page, and the post that a file is attached to. Needs a few queries for all records of
 * an answer. Records that the caller may not see are left out.
 */
async function withEmbeds(site: Site, caller: Caller, records: readonly CoreRecord[], embed: unknown): Promise<readonly CoreRecord[]> {
  if (embed === undefined || records.length === 0) return records;
  const ids = (name: string, relation: string, subset = records) =>
    requestsEmbed(relation, embed) ? [...new Set(subset.flatMap((record) => numbersIn(record[name])))] : [];
  const [authors, images, terms, parentTerms, parentPages, postsOfFiles] = await Promise.all([
    authorsOf(site, caller, ids('author', 'author')),
    shownMedia(site, caller, ids('featured_media', 'wp:featuredmedia'), 'embed').then(recordsOf),
    byTaxonomy((taxonomy) => embeddedTerms(site, caller, taxonomy, ids(taxonomy.restBase, 'wp:term'))),
    byTaxonomy((taxonomy) =>
      embeddedTerms(
        site,
        caller,
        taxonomy,
        ids(
          'parent',
          'up',
          records.filter((record) => record.taxonomy === taxonomy.taxonomy),
        ),
      ),
    ),
    embeddedBlogPosts(
      site,
      caller,
      'page',
      ids(
        'parent',
        'up',
        records.filter((record) => record.taxonomy === undefined),
      ),
    ),
    attachedPosts(site, caller, ids('id', 'wp:attached-to', records.filter(isFile))),
  ]);
  const findRecords = (recordsById: ReadonlyMap<number, CoreRecord> | undefined, value: unknown): CoreRecord[] =>
    numbersIn(value).flatMap((id): CoreRecord[] => (recordsById?.has(id) ? [recordsById.get(id)!] : []));
  return records.map((record) => {
    const taxonomies = TAXONOMIES.filter(({ restBase }) => record[restBase] !== undefined);
    const embedded = {
      ...ifAny('author', findRecords(authors, record.author)),
      ...ifAny('wp:attached-to', isFile(record) ? findRecords(postsOfFiles, record.id) : []),
      ...ifAny('wp:featuredmedia', findRecords(images, record.featured_media)),
      ...ifAny(
        'wp:term',
        taxonomies.map(({ taxonomy, restBase }) => findRecords(terms.get(taxonomy), record[restBase])),
      ),
      // The parent of a term is a term, and the parent of a page is a page; their ids may coincide.
      ...ifAny('up', findRecords(record.taxonomy === undefined ? parentPages : parentTerms.get(String(record.taxonomy)), record.parent)),
    };
    return Object.keys(embedded).length === 0 ? record : { ...record, _embedded: embedded };
  });
}

const isFile = ({ type }: CoreRecord): boolean => type === 'attachment';

/** The taxonomies of the records, in the order of WordPress's own routes. */
const TAXONOMIES: readonly CoreTaxonomy[] = [blogCategory, termKind('tag'), termKind('category')];

/** Runs a query for each taxonomy; the results by name of the taxonomy. */
const byTaxonomy = async <T>(find: (taxonomy: CoreTaxonomy) => Promise<T>): Promise<ReadonlyMap<string, T>> =>
  new Map(await Promise.all(TAXONOMIES.map(async (taxonomy) => [taxonomy.taxonomy, await find(taxonomy)] as const)));

/** Returns a relation with the records it leads to, or with lists of them; empty if there are none. */
const ifAny = (relation: string, records: readonly (CoreRecord | readonly CoreRecord[])[]) =>
  records.flat().length === 0 ? {} : { [relation]: records };
const numbersIn = (value: unknown): number[] => [value].flat().filter((item): item is number => typeof item === 'number' && item > 0);

async function authorsOf(site: Site, caller: Caller, ids: readonly number[]): Promise<Map<number, CoreRecord>> {
  const visibleIds = [...(await visiblePeople(lookUpOnce(site.db), caller.viewer, ids))];
  const people = await loadPeople(site.db, caller.settings, visibleIds);
  const context = { ...renderContext(caller, { mayRead: () => false, isOpen: () => false }), view: 'embed' as const };
  return new Map([...people].map(([id, person]) => [id, coreUser(person, context, personMethods(caller, id))]));
}

/** Returns the methods that a caller may use on the route of a user, as in WordPress. */
export const personMethods = ({ viewer }: Caller, id: number): Methods =>
  methodsFor({ edits: viewer.can('edit_users') || (viewer.id > 0 && viewer.id === id), deletes: viewer.can('delete_users') });

import { featuredImageAlt } from '../kinds/image-record.ts';
import { postKind } from '../kinds/index.ts';
import type { LinkedKindName } from '../kinds/kind-names.ts';
import { type OrganizerRecord, organizer } from '../kinds/organizer.ts';
import { type VenueRecord, venue } from '../kinds/venue.ts';
import type { Site } from '../site.ts';
import { slugPathForQuery } from '../wordpress/slug.ts';
import type { Caller } from './caller.ts';
import { idInLanguage } from './content-lists.ts';
import { listedIds, type Rendered, readablePosts } from './posts.ts';

/** A venue or an organizer as its page shows it. */
export interface LinkedRecord {
  readonly record: VenueRecord | OrganizerRecord;
  /** Alternative text of its picture. */
  readonly imageText: string;
}

/**
 * Returns the venue or organizer with a slug, with its JSON-LD, if the caller may see it. Among translations with the
 * same slug it is the one in the requested language.
 */
export async function linkedBySlug(site: Site, caller: Caller, name: LinkedKindName, slug: string): Promise<LinkedRecord | undefined> {
  const storedSlug = slugPathForQuery(encodeURIComponent(slug)).at(-1) ?? '';
  const conditions = [{ by: 'slug', slugs: [storedSlug] }] as const;
  const order = { by: 'id', descending: false } as const;
  const kind = postKind(name);
  const ids = storedSlug === '' ? [] : await listedIds(site, caller, kind, { conditions, order, statuses: undefined });
  const id = await idInLanguage(site.db, caller, kind, ids);
  return id === undefined ? undefined : linkedById(site, caller, name, id);
}

/** Returns the venue or organizer with an id, with its JSON-LD, if the caller may see it. */
export async function linkedById(site: Site, caller: Caller, name: LinkedKindName, id: number): Promise<LinkedRecord | undefined> {
  const { records, bundle } = await READ[name](site, caller, id);
  return records[0] && { record: records[0], imageText: featuredImageAlt(id, bundle) };
}

type Read = (site: Site, caller: Caller, id: number) => Promise<Rendered<LinkedRecord['record']>>;

const AS_ON_PAGES = { withJsonLd: true, withinPost: true };

/** Read functions by kind, since the records have different shapes. */
const READ: Readonly<Record<LinkedKindName, Read>> = {
  venue: (site, caller, id) => readablePosts(site, caller, venue, [id], AS_ON_PAGES),
  organizer: (site, caller, id) => readablePosts(site, caller, organizer, [id], AS_ON_PAGES),
};

import { fail } from '../errors.ts';
import type { Bundle, PostKind, TermKind } from '../kinds/kind.ts';
import type { Site } from '../site.ts';
import { loadMetas } from '../storage/bundle.ts';
import { changedAt } from '../storage/changes.ts';
import type { Database } from '../storage/database.ts';
import { lockPost } from '../storage/posts.ts';
import { findTerm, loadTermsOf, lockTerm } from '../storage/terms.ts';
import { postVersion, termVersion, VERSION_DIGITS } from '../wordpress/record-version.ts';
import type { Term } from '../wordpress/rows.ts';
import { ZERO_DATE } from '../wordpress/time.ts';
import type { Caller } from './caller.ts';

/** A record as it is shown, with the version of the rows that it was made from; without one it is no more. */
export interface Shown<Record = { [member: string]: unknown }> {
  readonly record: Record;
  readonly version?: string;
}

type Keyed = Pick<Caller, 'settings'>;

/** The version of a record whose rows are loaded. */
export const loadedVersion = ({ settings }: Keyed, id: number, { posts, metas, terms }: Bundle): string =>
  postVersion(settings.versionKey, posts.get(id)!, metas.get(id), terms.get(id) ?? []);

/** The same for a category or tag. */
export const versionOfTerm = ({ settings }: Keyed, term: Term): string => termVersion(settings.versionKey, term);

/** The entity tag of a version, where nothing is said of a representation. */
export const versionTag = (version: string): string => `"${version}"`;

// ------------------------------------------------------------------------------------------------- conditions
/** What a record must be like for a write to take place (RFC 9110, 13.1). Tags are entity tags as headers write them; `*`: any. */
export interface Preconditions {
  readonly match?: '*' | readonly string[];
  readonly noneMatch?: '*' | readonly string[];
  /** Not changed after this moment, in milliseconds since 1970; the seconds count. */
  readonly unmodifiedSince?: number;
}

/** The entity tags of a list, each with its quotes; a tag may lack them, as shells take them off. */
export function tagsIn(list: string): '*' | string[] {
  if (list.trim() === '*') return '*';
  return (list.match(/(?:W\/)?"[^"]*"|[^\s,"]+/g) ?? []).map((tag) => (tag.endsWith('"') ? tag : `"${tag}"`));
}

/** A record as it stands. */
export interface Standing {
  readonly version: string;
  /** When it was changed last, UTC. */
  readonly modified: string;
}

/** Looks up how a record stands and keeps it from other writers until the end of the transaction; undefined: there is none of this id. */
export type LookUpStanding = (db: Database, caller: Keyed, id: number) => Promise<Standing | undefined>;

/** Of an event, venue, organizer or, with no `terms`, a file. */
export const standingOfPost =
  ({ postType, terms }: Pick<PostKind, 'postType' | 'terms'>): LookUpStanding =>
  async (db, { settings }, id) => {
    const row = await lockPost(db, id);
    if (row?.post_type !== postType) return undefined;
    const metas = (await loadMetas(db, [id])).get(id);
    const linked = terms.length > 0 ? ((await loadTermsOf(db, [id])).get(id) ?? []) : [];
    const modified = row.post_modified_gmt === ZERO_DATE ? await changedAt(db) : row.post_modified_gmt;
    return { version: postVersion(settings.versionKey, row, metas, linked), modified };
  };

/** Of a category or tag. Terms have no date of their own: any change counts as one of theirs. */
export const standingOfTerm =
  ({ taxonomy }: TermKind): LookUpStanding =>
  async (db, caller, id) => {
    await lockTerm(db, id);
    const term = await findTerm(db, taxonomy, id);
    return term && { version: versionOfTerm(caller, term), modified: await changedAt(db) };
  };

/**
 * Runs a write only if the record stands as the conditions want it, with no other write in between: the site that `work` gets writes into the transaction in
 * which this was looked up. Of a record that does not exist it is left to `work` to say so.
 *
 * @throws edit-conflict
 */
export function onlyIf<Result>(
  site: Site,
  caller: Keyed,
  lookUp: LookUpStanding,
  { id, conditions }: { readonly id: number; readonly conditions: Preconditions },
  work: (site: Site) => Promise<Result>,
): Promise<Result> {
  return site.db.transaction(async (db) => {
    const standing = await lookUp(db, caller, id);
    if (standing && !fulfils(standing, conditions)) fail('edit-conflict');
    return work({ ...site, db });
  });
}

/** In the order of RFC 9110, 13.2.2: a date counts only where there is no tag. */
function fulfils({ version, modified }: Standing, { match, noneMatch, unmodifiedSince }: Preconditions): boolean {
  const named = (tags: '*' | readonly string[]) => tags === '*' || tags.some((tag) => versionIn(tag) === version);
  if (match !== undefined && !named(match)) return false;
  if (match === undefined && unmodifiedSince !== undefined && Date.parse(`${modified.replace(' ', 'T')}Z`) > unmodifiedSince) return false;
  return noneMatch === undefined || !named(noneMatch);
}

const TAG = new RegExp(`^"([0-9a-f]{${VERSION_DIGITS}})(?:[^0-9a-f"][^"]*)?"$`);

/**
 * The version that an entity tag of ours names, whatever representation it was given for: `"VERSION"`, `"VERSION.DIGEST"`, and with what proxies that compress
 * put behind it. A weak tag names none, as it must not count here.
 */
const versionIn = (tag: string): string | undefined => TAG.exec(tag)?.[1];

import { isRecord } from '../../objects.ts';
import { utcFromDate } from '../../wordpress/time.ts';
import type { PostStage } from './record-losses.ts';
import { type CoreRecord, isHiddenByPassword } from './records.ts';
import type { JsonObject } from './site-client.ts';
import type { Walk } from './walk.ts';

/** A record as its own URL returns it, if that was requested. */
export interface DetailedRecord {
  /** Undefined if a password hides too much of it to be imported. */
  readonly raw: JsonObject | undefined;
  /** Whether its slug leads to another record. It then has a parent, which no route reveals. */
  readonly isChild: boolean;
}

/**
 * Completes a record with details that only its own URL returns: whether an event is cancelled, which matters until it
 * is over, and data that a password protects, if we know the password.
 */
export async function withDetails(
  { site, options }: Walk,
  stage: PostStage,
  raw: JsonObject,
  core: CoreRecord | undefined,
): Promise<DetailedRecord> {
  const isBlanked = isHiddenByPassword(raw);
  if (isBlanked && !core?.password) return { raw: undefined, isChild: false };
  const end = String(raw.utc_end_date ?? '');
  if (!isBlanked && (stage !== 'events' || end < utcFromDate(options.now))) return { raw, isChild: false };
  const query = isBlanked ? { password: core!.password! } : {};
  const [hasSlug, isPublic] = [typeof raw.slug === 'string' && raw.slug !== '', raw.status === 'publish'];
  const bySlug = hasSlug && isPublic && !isBlanked ? await site.get(`${stage}/by-slug/${String(raw.slug)}`, query) : undefined;
  const found = bySlug?.status === 200 && isRecord(bySlug.body) ? bySlug.body : undefined;
  const isIt = found?.id === raw.id;
  const { status, body } = isIt ? { status: 200, body: found } : await site.get(`${stage}/${String(raw.id)}`, query);
  // An error of the site says nothing.
  const isAnswered = bySlug !== undefined && bySlug.status < 500;
  const isChild = isAnswered && !isIt && !isOfSameEvent(found, raw);
  return { raw: status === 200 && isRecord(body) ? body : isBlanked ? undefined : raw, isChild };
}

/**
 * Whether the record that a slug leads to is another date of the same recurring event, since all of them have its slug
 * and its title. A child may share the slug with an event of another title.
 */
const isOfSameEvent = (found: JsonObject | undefined, { slug, title }: JsonObject): boolean =>
  found !== undefined && found.slug === slug && found.title === title;

import type { CorePage } from '../../records/core/lists.ts';
import type { VersionedRecord } from '../../records/versions.ts';
import { writtenReply } from '../reply.ts';
import type { Reply } from '../route.ts';

/**
 * Replies with a page of a list as on WordPress's own routes: only the records; the totals and the neighbours are
 * headers.
 */
export const corePage = ({ records, total, page, pages, timeliness, skip }: CorePage): Reply => ({
  status: 200,
  body: records,
  headers: { 'X-WP-Total': String(total), 'X-WP-TotalPages': String(pages) },
  timeliness,
  paging: { page, pages, offsetPaging: skip && { ...skip, total } },
});

/** Whether the record has a public page, as posts and files have, but terms have not. */
export interface HasPage {
  readonly hasPage: boolean;
}

/** Replies with a record, with the address of its page in a header. */
export const coreRecord = (versionedRecord: VersionedRecord<Readonly<Record<string, unknown>>>, { hasPage }: HasPage): Reply => ({
  ...writtenReply(versionedRecord),
  timeliness: 'never',
  ...(hasPage && typeof versionedRecord.record.link === 'string'
    ? { headers: { Link: `<${versionedRecord.record.link}>; rel="alternate"; type=text/html` } }
    : {}),
});

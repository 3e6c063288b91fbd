import type { CorePage } from '../../records/core/lists.ts';
import type { Shown } from '../../records/versions.ts';
import { written } from '../reply.ts';
import type { Reply } from '../route.ts';

/**
 * A page of a list as WordPress's own routes answer it: the records alone, the totals and the neighbours as headers.
 */
export const corePage = ({ records, total, page, pages, timeliness, skipped }: CorePage): Reply => ({
  status: 200,
  body: records,
  headers: { 'X-WP-Total': String(total), 'X-WP-TotalPages': String(pages) },
  timeliness,
  paging: { page, pages, skipped: skipped && { ...skipped, total } },
});

/** Whether visitors see a record on a page of its own, as posts and files, but not terms. */
export interface HasPage {
  readonly hasPage: boolean;
}

/** A record, with the address of its page for those who read headers. */
export const coreRecord = (shown: Shown<Readonly<Record<string, unknown>>>, { hasPage }: HasPage): Reply => ({
  ...written(shown),
  timeliness: 'never',
  ...(hasPage && typeof shown.record.link === 'string'
    ? { headers: { Link: `<${shown.record.link}>; rel="alternate"; type=text/html` } }
    : {}),
});

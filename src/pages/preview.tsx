import { fail } from '../errors.ts';
import { statusText } from '../forms/labels.ts';
import { event } from '../kinds/event.ts';
import { postKindOfType } from '../kinds/index.ts';
import type { LinkedKindName } from '../kinds/kind-names.ts';
import { isPreviewed } from '../kinds/post-record.ts';
import type { Caller } from '../records/caller.ts';
import { readEditable } from '../records/editing.ts';
import { linkedById } from '../records/linked-pages.ts';
import { i18nFor } from './i18n-for.ts';
import { type Page, type PageContent, type PageContext, toPage } from './pages.tsx';
import { eventPage, linkedContent } from './record-pages.ts';

/** The two roles of a user who previews a record. */
export interface PreviewCallers {
  /** The user, who may edit the record. */
  readonly editor: Caller;
  /** The same user without special permissions: the page around the record is shown as visitors will see it. */
  readonly visitor: Caller;
}

/** The record to be previewed, as named in the URL. */
export interface PreviewedRecord {
  readonly id: number;
  /** Its post type; undefined: events. */
  readonly type: string | undefined;
}

/**
 * Returns the page of a record as it will look when it is published, for a user who may edit it (WordPress
 * `is_preview`).
 *
 * @throws rest_no_route, rest_invalid_param if there is no record to preview; rest_forbidden
 */
export async function previewPage(context: PageContext, { editor, visitor }: PreviewCallers, { id, type }: PreviewedRecord): Promise<Page> {
  const { site } = context;
  const kind = postKindOfType(type ?? 'tribe_events') ?? fail('rest_no_route');
  const { id: recordId, row } = await readEditable(site, editor, kind, id);
  if (!isPreviewed(row.post_status)) fail('rest_no_route');
  const content =
    kind.name === 'event'
      ? await eventPage(context, editor, { of: 'event', id: recordId }, { password: row.post_password || undefined, asPublished: true })
      : await linkedPreview(context, editor, kind.name, recordId);
  const i18n = i18nFor(site, visitor);
  const notice = i18n.say('pages:preview', { status: statusText(i18n, row.post_status) });
  return toPage(context, visitor, { ...content, unlisted: true, body: <WithNotice notice={notice}>{content.body}</WithNotice> });
}

/**
 * Returns the page of a venue or an organizer with its public events only: the capabilities for events are removed from
 * the editor.
 */
async function linkedPreview(context: PageContext, editor: Caller, kind: LinkedKindName, id: number): Promise<PageContent> {
  const { viewer } = editor;
  const can = (capability: string) => !capability.endsWith(`_${event.capabilities}`) && viewer.can(capability);
  const reader = { ...editor, viewer: { ...viewer, can } };
  return linkedContent(context, reader, { kind, number: 1 }, await linkedById(context.site, reader, kind, id));
}

const WithNotice = ({ notice, children }: { readonly notice: string; readonly children: PageContent['body'] }) => (
  <>
    <p class="notice notice-quiet">{notice}</p>
    {children}
  </>
);

import type { JSX } from 'preact';
import { Link, withoutHost } from '../html/links.tsx';
import { isPreviewed, previewUrl } from '../kinds/post-record.ts';
import type { Editable } from '../records/editing.ts';
import { servesPages } from '../settings-reader.ts';
import { isLoginOfSite, type Visit } from './visit.ts';

/** Link to the preview of a record that is not published, if the signed-in user can see it there. */
export function PreviewLink(props: { readonly visit: Visit; readonly record: Editable; readonly title?: string }): JSX.Element | null {
  const {
    visit,
    title,
    record: { row, record, mayEdit },
  } = props;
  const { site, settings, i18n } = visit;
  const isShown = mayEdit && isPreviewed(row.post_status);
  if (!isShown || !isLoginOfSite(visit) || !(settings.shared || servesPages(site.config, settings))) return null;
  const address = previewUrl(row, visit.caller, typeof record.language === 'string' ? record.language : undefined);
  const text = i18n.say('desk:actions.preview');
  return (
    <Link href={withoutHost(address)} label={title === undefined ? undefined : `${text}: ${title}`}>
      {text}
    </Link>
  );
}

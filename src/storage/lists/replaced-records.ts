import type { InLanguage, LinkedRecords } from '../../kinds/condition.ts';
import type { Membership } from '../../wordpress/content-languages.ts';

/*
 * Records that events show a translation in place of. An event shows the published translation into its own language,
 * also if the record to which it links is hidden.
 */

/** A record that the caller does not see, and the members of its group. */
interface HiddenRecord {
  readonly id: number;
  readonly members: Membership['members'];
}

/**
 * Returns the records by whose links events of a list match: visible ones, and the hidden ones that events show a
 * translation in place of.
 */
export function withReplaced(
  eventsIn: InLanguage,
  visibleIds: readonly number[],
  hiddenRecords: readonly HiddenRecord[],
  isPublished: (id: number) => boolean,
): LinkedRecords {
  const replaced = languagesListed(eventsIn).flatMap((postsIn) => {
    const ids = hiddenRecords.flatMap(({ id, members }) => (isPublished(members.get(postsIn.code) ?? 0) ? [id] : []));
    return ids.length === 0 ? [] : [{ ids: [...new Set(ids)], postsIn }];
  });
  if (isOfOneLanguage(eventsIn)) return { ids: [...new Set([...visibleIds, ...replaced.flatMap(({ ids }) => ids)])] };
  const ids = [...new Set(visibleIds)];
  return replaced.length === 0 ? { ids } : { ids, replaced };
}

/** Returns the languages of the records that such a list may contain. */
export function languagesListed(listed: InLanguage): readonly InLanguage[] {
  const { languages, code } = listed;
  const codes = isOfOneLanguage(listed) ? [code] : new Set([code, languages.defaultCode]);
  return [...codes].map((one) => ({ languages, code: one, fill: 'nothing' }));
}

/** Whether such a list contains only records of its own language. */
export const isOfOneLanguage = ({ languages, code, fill }: InLanguage): boolean =>
  fill === 'nothing' || (fill === 'stand-ins' && code === languages.defaultCode);

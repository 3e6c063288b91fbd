import type { JSX } from 'preact';
import { parseNames } from '../forms/choice-controls.tsx';
import { type FormValue, NO_CONTROL_DATA } from '../forms/control.ts';
import { resolveLinks } from '../forms/control-data.ts';
import { links, MAX_NAMES, readLinkForm, withoutChoiceId } from '../forms/link-controls.tsx';
import { Link, mailUrl } from '../html/links.tsx';
import { postKind } from '../kinds/index.ts';
import type { Values } from '../kinds/param.ts';
import type { Suggestion } from '../kinds/suggestion.ts';
import type { Editable } from '../records/editing.ts';
import { mayCreate, readablePosts } from '../records/posts.ts';
import { decodeForEditing } from '../wordpress/content/entities.ts';
import { ksesTitle } from '../wordpress/content/kses.ts';
import { stripControlCharacters } from '../wordpress/content/plain-text.ts';
import { ANONYMOUS } from '../wordpress/viewer.ts';
import type { Visit } from './visit.ts';

/*
 * Data about an event suggested by a visitor, as shown to editors.
 */

interface SuggestedProps {
  readonly visit: Visit;
  readonly record: Editable;
  readonly suggestion: Suggestion;
}

/**
 * The details that the visitor sent in addition to the event itself. The venue is only shown if the calendar does not
 * have it yet; of several organizers some may already exist.
 */
export function SuggestionDetails({ visit, record, suggestion }: SuggestedProps): JSX.Element {
  const { say } = visit.i18n;
  const { name, email, note, organizer } = suggestion;
  const isPending = record.row.post_status === 'pending';
  const venue = namedLinks(record).find(([kind]) => kind === 'venue')?.[1] ?? '';
  const rows = [['note', note] as const, ['venue', venue] as const, ['organizer', isPending ? organizer : ''] as const].filter(
    ([, text]) => text !== '',
  );
  return (
    <section class="suggested" aria-label={say('desk:suggestion.about')}>
      <p>
        {say('desk:suggestion.about')} {say('desk:suggestion.by', { name })} (<Link href={mailUrl(email)}>{email}</Link>)
      </p>
      <dl>
        {rows.map(([key, text]) => (
          <div key={key}>
            <dt>{say(`desk:suggestion.${key}`)}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

const LINKED_KINDS = ['venue', 'organizer'] as const;

/**
 * Adds the names of the venue and of the organizers that the visitor sent and the calendar does not have yet to the
 * fields of a form, so that saving creates them.
 */
export function withSuggestedLinks(
  formValues: Readonly<Record<string, FormValue>>,
  record: Pick<Editable, 'suggestion' | 'row' | 'values'>,
): Readonly<Record<string, FormValue>> {
  const suggestedEntries = namedLinks(record).map(
    ([name, text]) => [name, { ...readLinkForm(formValues[name]), add: safeNames(text) }] as const,
  );
  return { ...formValues, ...Object.fromEntries(suggestedEntries) };
}

/** Returns the venue and the organizers that a visitor named for a pending event, if the event has none yet. */
function namedLinks({ suggestion, row, values }: Pick<Editable, 'suggestion' | 'row' | 'values'>) {
  if (!suggestion || row.post_status !== 'pending') return [];
  return LINKED_KINDS.flatMap((name) => {
    const linkedIds = values[name];
    return suggestion[name] === '' || (Array.isArray(linkedIds) && linkedIds.length > 0) ? [] : [[name, suggestion[name]] as const];
  });
}

/**
 * Returns the names that a visitor sent. A visitor only names records: an id at the end of a name would link whatever
 * record the editor may see, and tags would be stored as the editor's own.
 */
const safeNames = (text: string): string[] =>
  parseNames(stripControlCharacters(text))
    .map((name) => withoutChoiceId(decodeForEditing(ksesTitle(name))))
    .filter((name) => name !== '')
    .slice(0, MAX_NAMES);

/**
 * Returns the named venue and organizers as values to be written, for an event that is published without its form.
 * Those that the caller may not create are left out, and so are existing ones that are not published: nobody gets a
 * draft published by guessing its name.
 */
export async function suggestedLinks(visit: Visit, record: Editable): Promise<Values> {
  const data = { ...NO_CONTROL_DATA, say: visit.i18n.say };
  const formValues = withSuggestedLinks(
    Object.fromEntries(LINKED_KINDS.map((name) => [name, links.toFormValue(record.values[name], data)])),
    record,
  );
  const suggestedKinds = LINKED_KINDS.filter(
    (name) => readLinkForm(formValues[name]).add.length > 0 && mayCreate(visit.caller, postKind(name)),
  );
  const language = String(record.record.language ?? '');
  return Object.fromEntries(
    await Promise.all(
      suggestedKinds.map(async (name) => {
        const resolved = await resolveLinks(visit, name, formValues[name], language);
        return [name, await withoutHidden(visit, name, resolved)] as const;
      }),
    ),
  );
}

/** Returns the new records, and the ids of those existing ones that visitors may read. */
async function withoutHidden(
  { site, caller }: Visit,
  name: (typeof LINKED_KINDS)[number],
  resolved: readonly unknown[],
): Promise<unknown[]> {
  const ids = resolved.filter((link): link is number => typeof link === 'number');
  const { records } = await readablePosts(site, { ...caller, viewer: ANONYMOUS }, postKind(name), ids);
  const shownIds = new Set(records.map(({ id }) => Number(id)));
  return resolved.filter((link) => typeof link !== 'number' || shownIds.has(link));
}

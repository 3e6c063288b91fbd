import type { JSX } from 'preact';
import { namesIn } from '../forms/choice-controls.tsx';
import { NO_CONTROL_DATA, type Shown } from '../forms/control.ts';
import { resolvedLinks } from '../forms/control-data.ts';
import { linkFormIn, links } from '../forms/link-controls.tsx';
import { Link, mailUrl } from '../html/links.tsx';
import { postKind } from '../kinds/index.ts';
import type { Values } from '../kinds/param.ts';
import type { Suggestion } from '../kinds/suggestion.ts';
import type { Editable } from '../records/editing.ts';
import { mayCreate } from '../records/posts.ts';
import type { Visit } from './visit.ts';

/*
 * What editors see of an event that a visitor suggested.
 */

/** What the visitor said beside the event itself. */
export function Suggested({ visit, suggestion }: { readonly visit: Visit; readonly suggestion: Suggestion }): JSX.Element {
  const { say } = visit.i18n;
  const { name, email, note, venue, organizer } = suggestion;
  const rows = [
    ['note', note],
    ['venue', venue],
    ['organizer', organizer],
  ].filter(([, text]) => text !== '');
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

const LINKED = ['venue', 'organizer'] as const;

/**
 * The fields of a form with the names of a venue and of organizers that the visitor gave and the calendar does not have
 * yet, so that saving makes them.
 */
export function withSuggestedLinks(
  shown: Readonly<Record<string, Shown>>,
  { suggestion, row }: Pick<Editable, 'suggestion' | 'row'>,
): Readonly<Record<string, Shown>> {
  if (!suggestion || row.post_status !== 'pending') return shown;
  const named = LINKED.flatMap((name) => {
    const text = suggestion[name];
    const form = linkFormIn(shown[name]);
    return text === '' || form.keep.length > 0 ? [] : [[name, { ...form, add: namesIn(text) }] as const];
  });
  return { ...shown, ...Object.fromEntries(named) };
}

/**
 * The same as values to be written, for an event that is published without its form. A venue that the caller may not
 * make is left to others.
 */
export async function suggestedLinks(visit: Visit, record: Editable): Promise<Values> {
  const data = { ...NO_CONTROL_DATA, say: visit.i18n.say };
  const shown = withSuggestedLinks(Object.fromEntries(LINKED.map((name) => [name, links.show(record.values[name], data)])), record);
  const named = LINKED.filter((name) => linkFormIn(shown[name]).add.length > 0 && mayCreate(visit.caller, postKind(name)));
  const language = String(record.record.language ?? '');
  return Object.fromEntries(
    await Promise.all(named.map(async (name) => [name, await resolvedLinks(visit, name, shown[name], language)] as const)),
  );
}

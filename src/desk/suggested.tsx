import type { JSX } from 'preact';
import { namesIn } from '../forms/choice-controls.tsx';
import type { Shown } from '../forms/control.ts';
import { linkFormIn } from '../forms/link-controls.tsx';
import { Link } from '../html/links.tsx';
import type { Suggestion } from '../kinds/suggestion.ts';
import type { Editable } from '../records/editing.ts';
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
        {say('desk:suggestion.about')} {say('desk:suggestion.by', { name })} (<Link href={`mailto:${email}`}>{email}</Link>)
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

/**
 * The fields of a form with the names of a venue and of organizers that the visitor gave and the calendar does not have
 * yet, so that saving makes them.
 */
export function withSuggestedLinks(
  shown: Readonly<Record<string, Shown>>,
  { suggestion, row }: Pick<Editable, 'suggestion' | 'row'>,
): Readonly<Record<string, Shown>> {
  if (!suggestion || row.post_status !== 'pending') return shown;
  const named = (['venue', 'organizer'] as const).flatMap((name) => {
    const text = suggestion[name];
    const form = linkFormIn(shown[name]);
    return text === '' || form.keep.length > 0 ? [] : [[name, { ...form, add: namesIn(text) }] as const];
  });
  return { ...shown, ...Object.fromEntries(named) };
}

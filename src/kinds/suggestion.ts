import { type Metas, metaOf } from '../wordpress/rows.ts';

/** The meta of what a visitor said who suggested an event. No answer of the API shows it. */
export const SUGGESTION_META = '_fasti_suggestion';

/** What a visitor says beside the fields of the event. */
export interface Suggestion {
  readonly name: string;
  readonly email: string;
  readonly note: string;
  /** Names of a venue and of organizers that the calendar does not have yet. */
  readonly venue: string;
  readonly organizer: string;
}

export const SUGGESTION_PARTS = ['name', 'email', 'note', 'venue', 'organizer'] as const satisfies readonly (keyof Suggestion)[];

/** What a visitor said of an event; undefined: no visitor suggested it. */
export function suggestionIn(metas: Metas | undefined): Suggestion | undefined {
  const stored = metaOf(metas, SUGGESTION_META);
  if (stored === undefined || stored === '') return undefined;
  const said = parseDetails(stored);
  const text = (name: string) => (typeof said[name] === 'string' ? said[name] : '');
  return Object.fromEntries(SUGGESTION_PARTS.map((name) => [name, text(name)])) as unknown as Suggestion;
}

/** What the meta holds. */
export const storedSuggestion = (suggestion: Suggestion): string => JSON.stringify(suggestion);

function parseDetails(stored: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(stored);
    return value !== null && typeof value === 'object' ? { ...value } : {};
  } catch {
    return {};
  }
}

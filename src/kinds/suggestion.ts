import { objectOf } from '../objects.ts';
import { type StoredValue, storedText } from '../wordpress/php/serialized.ts';
import { type Metas, metaOf } from '../wordpress/rows.ts';

/** The meta with the details of a visitor who suggested an event. No answer of the API shows it. */
export const SUGGESTION_META = '_fasti_suggestion';

/** Details that a visitor sends in addition to the fields of the event. */
export interface Suggestion {
  readonly name: string;
  readonly email: string;
  readonly note: string;
  /** Names of a venue and of organizers that are not in the calendar yet. */
  readonly venue: string;
  readonly organizer: string;
}

export const SUGGESTION_PARTS = ['name', 'email', 'note', 'venue', 'organizer'] as const satisfies readonly (keyof Suggestion)[];

/** Returns the details that a visitor sent with an event; undefined if no visitor suggested it. */
export function suggestionIn(metas: Metas | undefined): Suggestion | undefined {
  const json = metaOf(metas, SUGGESTION_META);
  if (json === undefined || json === '') return undefined;
  const details = parseDetails(json);
  const text = (name: string) => (typeof details[name] === 'string' ? details[name] : '');
  return Object.fromEntries(SUGGESTION_PARTS.map((name) => [name, text(name)])) as unknown as Suggestion;
}

/** Returns the value of the meta. */
export const storedSuggestion = (suggestion: Suggestion): StoredValue => storedText(JSON.stringify(suggestion));

function parseDetails(json: string): Readonly<Record<string, unknown>> {
  try {
    return objectOf(JSON.parse(json));
  } catch {
    return {};
  }
}

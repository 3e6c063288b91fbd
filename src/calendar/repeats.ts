import { parseSerialized } from '../wordpress/serialized.ts';

/**
 * Whether an event takes place several times, by its `_EventRecurrence` as Events Calendar Pro stores it. An event that was saved without rules has one
 * with an empty list; a text that can't be read may have rules.
 */
export function repeats(recurrence: string | undefined): boolean {
  if (recurrence === undefined || recurrence === '') return false;
  const value = parseSerialized(recurrence);
  if (typeof value !== 'object' || value === null) return true;
  const rules: unknown = 'rules' in value ? value.rules : undefined;
  return typeof rules === 'object' && rules !== null && Object.keys(rules).length > 0;
}
